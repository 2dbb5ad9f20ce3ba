"""Cutting text that no sentence, line or row divides: between words, else between characters."""

import unicodedata
from collections.abc import Callable

from rag_pipeline.errors import DocumentError, FailureCategory

_JOINER = "\u200d"
_CLAUSE_ENDS = frozenset("，、：")


def cut_to_fit(text: str, fits: Callable[[str], bool], *, guess: int) -> list[str]:
    """The text in consecutive parts that each fit, about as long as possible; put together they are `text`.

    Parts end after white space or a CJK comma where their later half has one, else where a reader sees a
    character end, and inside a character only where it is longer than the window. No part is only white
    space, unless `text` is. `fits` must not mind white space around its argument. `guess` is the length in
    characters to try first. A part takes a handful of calls of `fits`, whatever the text's length.

    Raises DocumentError where not even one code point fits.
    """
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = _end_of_part(text, start, fits, guess)
        parts.append(text[start:end])
        guess = max(1, end - start)
        start = end
    return parts


def is_character_border(text: str, position: int, since: int = 0) -> bool:
    """Whether a reader sees one character end and another begin at `position` of `text`.

    `since` is an earlier border. A close approximation of Unicode's extended grapheme clusters by what the
    standard library knows.
    """
    before, after = text[position - 1], text[position]
    if before == "\r" and after == "\n":
        return False
    if _JOINER in (before, after) or _extends(after) or _follows_jamo(before, after):
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, position, since) % 2 == 0
    return True


def _end_of_part(text: str, start: int, fits: Callable[[str], bool], guess: int) -> int:
    start = _past_white_space(text, start)
    if start == len(text):
        return start
    length = _fitting_length(text, start, fits, guess)
    while length:
        end = _past_white_space(text, _border(text, start, start + length))
        if fits(text[start:end]):
            return end
        # Tokenizers are not quite monotone: a shorter text can take a token more.
        length -= max(1, length // 8)
    raise DocumentError(
        FailureCategory.CHUNKING_FAILED,
        f"character U+{ord(text[start]):04X} alone takes more tokens than a chunk may hold; "
        "raise the chunking window (max_tokens) or remove the character from the document",
    )


def _fitting_length(text: str, start: int, fits: Callable[[str], bool], guess: int) -> int:
    """The length of a fitting start of `text[start:]` about a sixteenth short of the longest; 0: none."""
    left = len(text) - start
    fitting, too_long = 0, left + 1
    length = min(max(1, guess), left)
    while too_long - fitting > max(1, fitting // 16):
        if fits(text[start : start + length]):
            fitting = length
            grown = length + length // 4 + 1
            length = min(left, grown) if too_long > left else (fitting + too_long) // 2
        else:
            too_long = length
            length = (fitting + too_long) // 2
    return fitting


def _border(text: str, start: int, end: int) -> int:
    """The best place to cut `text[start:end]`, at or before `end`."""
    if end == len(text) or text[end].isspace():
        return end
    for position in range(end, start + (end - start) // 2, -1):
        if text[position - 1].isspace() or text[position - 1] in _CLAUSE_ENDS:
            return position
    for position in range(end, start, -1):
        if is_character_border(text, position, start):
            return position
    return end


def _past_white_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _extends(character: str) -> bool:
    """Combining marks, variation selectors, emoji skin tones and tag characters."""
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or character == "\u200c"
    )


def _follows_jamo(before: str, after: str) -> bool:
    """Whether Hangul letters go on to form one syllable."""
    if "\u1100" <= before <= "\u115f":
        return "\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3"
    return "\u1160" <= after <= "\u11ff" and (
        "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    )


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, position: int, since: int) -> int:
    count = 0
    while position - count > since and _is_flag_letter(text[position - 1 - count]):
        count += 1
    return count
