"""Text that says the same again and again: it crowds out other hits, and search poisoning looks like it."""

import zlib
from collections import Counter
from typing import Final

from rag_pipeline.normalize.document import BlockKind, NormalizedDocument

# A shorter block repeats for good reasons: "Not applicable.", a table's header, a signature.
_LONG_BLOCK: Final = 100
# Manuals repeat a paragraph under every heading; only where repetitions are much of the text are they noted.
_OFTEN: Final = 5
_MUCH: Final = 0.2
_ENOUGH_TEXT: Final = 2_000
_SAMPLE: Final = 200_000
# Prose shrinks to 30 to 50 % of its bytes, tables of figures to 10 or 20, repeated sentences to a few.
_LEAST_SHARE: Final = 0.03
_TEXT_KINDS: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE})


def repetition_warnings(document: NormalizedDocument) -> tuple[str, ...]:
    """What a reader should know about repetitions. The text is left as it is: a quote shows what was said."""
    return (*_repeated_blocks(document), *_monotonous(document.markdown))


def _repeated_blocks(document: NormalizedDocument) -> tuple[str, ...]:
    markdown = document.markdown
    counts = Counter(
        " ".join(markdown[block.start : block.end].split())
        for block in document.blocks
        if block.kind in _TEXT_KINDS and block.end - block.start >= _LONG_BLOCK
    )
    repeated = [(count, text) for text, count in counts.items() if count >= _OFTEN]
    if sum(count * len(text) for count, text in repeated) < _MUCH * len(markdown) or not repeated:
        return ()
    count, text = max(repeated)
    return (f"the same paragraph stands {count} times in the text (“{text[:60]}…”)",)


def _monotonous(text: str) -> tuple[str, ...]:
    data = text[:_SAMPLE].encode()
    if len(data) < _ENOUGH_TEXT:
        return ()
    share = len(zlib.compress(data)) / len(data)
    if share >= _LEAST_SHARE:
        return ()
    return (
        f"the text hardly varies: it shrinks to {share:.1%} of its size, as if one sentence were repeated",
    )
