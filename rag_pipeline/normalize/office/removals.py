"""What is left out of Office documents, and what of it a reader should be told."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from rag_pipeline.normalize.document import Removed

HIDDEN: Final = "hidden in the program that wrote it"
HIDDEN_SLIDE: Final = "hidden slide"
HIDDEN_TEXT: Final = "hidden text"
UNREADABLE: Final = "white or tiny text"
UNSHOWN: Final = "hidden by its number format"
REVISION: Final = "deleted text of a tracked change"
COMMENT: Final = "comment"
PAGE_NUMBER: Final = "page number"
SLIDE_FOOTER: Final = "footer of a slide"

# What every reader would leave out, too, or what the manifest asks to leave out.
_UNREMARKABLE: Final = frozenset({REVISION, COMMENT, PAGE_NUMBER, SLIDE_FOOTER, UNSHOWN})


def notices(removed: Iterable[Removed]) -> tuple[str, ...]:
    """Warnings of the passages that were left out although the file holds them, one for each reason."""
    counts = Counter(passage.reason for passage in removed if passage.reason not in _UNREMARKABLE)
    return tuple(
        f"left out: {reason}" if count == 1 else f"left out: {reason} ({count} passages)"
        for reason, count in counts.items()
    )
