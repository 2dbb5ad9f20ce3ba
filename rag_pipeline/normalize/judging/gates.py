"""Deciding whether what was read is fit to be found and cited. Pure functions over the normalized text."""

import unicodedata
from itertools import pairwise
from typing import Final

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.characters.script_statistics import odd_script
from rag_pipeline.normalize.document import NormalizedDocument

# A book of 2,000 pages has about 6 million characters; more is a data dump that belongs in another store.
MAX_CHARACTERS: Final = 20_000_000
# Office files shrink text up to fiftyfold, a PDF that shows one form on every page a little more.
_MAX_EXPANSION: Final = 200
_MAY_BE_LONG: Final = 1_000_000
_SAMPLE: Final = 200_000
_MAX_REPLACED: Final = 0.02
_MAX_UNREADABLE: Final = 0.15
_MAX_MOJIBAKE: Final = 0.04
# No Latin script comes near this; Chinese, Korean or Cyrillic bytes read as Latin-1 exceed it.
_MAX_ACCENTED: Final = 0.4
# Below this, one odd character would decide.
_ENOUGH: Final = 40
# The first and second character of UTF-8 that was read as Windows-1252 (é is Ã©, the quote ’ is â€™).
_MOJIBAKE_FIRST: Final = frozenset("ÂÃÐÑØÙâãäåæçèéï")
_MOJIBAKE_SECOND: Final = frozenset(
    "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ" + "".join(chr(code) for code in range(0x80, 0xC0))
)


def check(document: NormalizedDocument, size: int) -> None:
    """Raise DocumentError if the document is empty, garbled, or far too long in itself or for its `size`.

    `size` is the number of bytes that it was read from.
    """
    if not any(char.isalnum() for char in document.markdown):
        raise DocumentError(
            FailureCategory.EMPTY,
            "No text was found. If it is a scan, allow OCR (`parsing.ocr: auto`); else it is empty.",
        )
    if len(document.markdown) > MAX_CHARACTERS:
        raise DocumentError(
            FailureCategory.OVER_LIMIT,
            f"The text has {len(document.markdown):,} characters; {MAX_CHARACTERS:,} are allowed. Split it.",
        )
    if len(document.markdown) > max(_MAX_EXPANSION * size, _MAY_BE_LONG):
        raise DocumentError(
            FailureCategory.OVER_LIMIT,
            f"{size:,} bytes became {len(document.markdown):,} characters, over {_MAX_EXPANSION} times more: "
            "the file was made to overload its readers, or its program failed. Export it anew.",
        )
    if reason := garbled(document.markdown):
        raise DocumentError(
            FailureCategory.GARBLED,
            f"The text is not readable: {reason}. Save it in UTF-8, or export it anew with embedded fonts.",
        )


def garbled(text: str) -> str | None:
    """Why a text is not readable, or None. Judges characters only, so every script, code and tables pass.

    The signs: replacement characters, a large share of private-use, unassigned or control characters, what
    bytes of another encoding look like when they are read as Latin-1 or Windows-1252, and characters of a
    script used as none of its languages uses them.
    """
    sample = text[:_SAMPLE]
    visible = [char for char in sample if not char.isspace()]
    if not visible:
        return None
    replaced = sum(char == "\ufffd" for char in visible) / len(visible)
    if replaced > _MAX_REPLACED and (len(visible) >= _ENOUGH or replaced > _MAX_UNREADABLE):
        return f"{replaced:.0%} of its characters could not be decoded"
    unreadable = sum(_unreadable(char) for char in visible) / len(visible)
    if unreadable > _MAX_UNREADABLE and (len(visible) >= _ENOUGH or unreadable > 0.5):
        return f"{unreadable:.0%} of its characters have no meaning (private use, unassigned or control)"
    accented = sum("\u00a1" <= char <= "\u00ff" for char in visible) / len(visible)
    if accented > _MAX_ACCENTED and len(visible) >= _ENOUGH:
        return "it looks like Chinese, Korean or Cyrillic read as Western European"
    pairs = sum(first in _MOJIBAKE_FIRST and second in _MOJIBAKE_SECOND for first, second in pairwise(sample))
    if len(visible) >= _ENOUGH and 2 * pairs / len(visible) > _MAX_MOJIBAKE:
        return "it was decoded with the wrong character set"
    return odd_script(sample)


def _unreadable(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in ("Co", "Cn", "Cc", "Cs")
