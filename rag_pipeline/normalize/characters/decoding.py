"""Bytes to text: byte order mark, UTF-8, a declaration that fits, then a guess that is checked."""

import codecs
import re
from dataclasses import dataclass, replace
from typing import Final

from rag_pipeline.normalize.characters.charset_guess import guess_encoding
from rag_pipeline.normalize.characters.mojibake import repaired
from rag_pipeline.normalize.characters.plausibility import plausibility

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED: Final = re.compile(
    rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:\-]{2,40})""", re.IGNORECASE
)
# Browsers read these names as their supersets, and so do the people who write them.
_SUPERSETS: Final = {
    "gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254",
    "big5": "big5hkscs", "shift_jis": "cp932", "euc_jp": "euc_jis_2004", "euc_kr": "cp949",
    "tis-620": "cp874",
}  # fmt: skip
_DECLARATION_WINDOW: Final = 2048
_SAMPLE: Final = 4096
_ESCAPED_JAPANESE: Final = re.compile(rb"\x1b\$[@B]")
_WIDE: Final = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# Every other byte of an alphabet's UTF-16 is one; in Chinese only those of spaces and digits are.
_FEW_CONTROLS: Final = 0.0
_MANY_CONTROLS: Final = 0.25
# Text of any script reaches this when read rightly; bytes read as UTF-16 wrongly stay near 0.4.
_WIDE_READABLE: Final = 0.6
_IDEOGRAPHS_READABLE: Final = 0.75
_FEW_CHARACTERS: Final = 4
_MANY_CHARACTERS: Final = 8


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the encoding it was in (a Python codec name), and what a reader should know about that.

    `decision` says which encoding was chosen, and why.
    """

    text: str
    encoding: str
    decision: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, *, declared: bool = False) -> Decoded:
    """Decode a text file's bytes. `declared` honours a charset named at the file's beginning (HTML, XML).

    Text that was UTF-8, read as Windows-1252 and saved again is repaired where that is certain, with a
    warning. Never fails: bytes that fit no encoding become U+FFFD, with a warning, and the gates decide.
    """
    decoded = _decoded(data, _declared_encoding(data) if declared else None)
    original = repaired(decoded.text)
    if original is None:
        return decoded
    warning = "the text was UTF-8 that somebody had read as Windows-1252; it was turned back"
    return replace(decoded, text=original, warnings=(*decoded.warnings, warning))


def _decoded(data: bytes, named: str | None) -> Decoded:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _lenient(data, encoding, "by its byte order mark")
    text = _strict(data, "utf-8")
    if wide := _wide_with_controls(data, few=_FEW_CONTROLS if text is None else _MANY_CONTROLS):
        return _lenient(data, wide, "by its zero and control bytes")
    if _ESCAPED_JAPANESE.search(data[:_SAMPLE]) and (japanese := _strict(data, "iso2022_jp_2")):
        return Decoded(japanese, "iso2022_jp_2", "charset: iso2022_jp_2, by its escape sequences")
    if text is not None and not _named_fits_better(data, named, text):
        return Decoded(text, "utf-8", "charset: utf-8", _disagreement(named, "utf-8", text, data))
    if wide := _wide_without_controls(data):
        return _lenient(data, wide, "since its characters make sense so")
    return _guessed(data, named)


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _lenient(data: bytes, encoding: str, reason: str) -> Decoded:
    """The text, with a warning where some bytes (a cut-off last character) do not belong to it."""
    decision = f"charset: {encoding}, {reason}"
    text = _strict(data, encoding)
    if text is not None:
        return Decoded(text, encoding, decision)
    note = f"some bytes are not valid {encoding}, which the text is in {reason}"
    return Decoded(data.decode(encoding, "replace"), encoding, decision, (note,))


def _wide_with_controls(data: bytes, *, few: float) -> str | None:
    """UTF-16 or UTF-32 without a mark, which bytes give away that no text in another encoding holds.

    `few` is the share of such bytes that a text of single bytes may have.
    """
    sample = data[:_SAMPLE]
    if len(sample) < 2 * _FEW_CHARACTERS or len(_CONTROLS.findall(sample)) <= few * len(sample):
        return None
    readable = {encoding: _readability(sample, encoding) for encoding in _WIDE}
    best = max(readable, key=lambda encoding: readable[encoding])
    return best if readable[best] >= _WIDE_READABLE else None


def _wide_without_controls(data: bytes) -> str | None:
    """UTF-16 of Chinese, Japanese or Korean without a space or digit: other bytes become rare characters."""
    if len(data) < 2 * _MANY_CHARACTERS:
        return None
    readable = {encoding: _readability(data[:_SAMPLE], encoding) for encoding in ("utf-16-le", "utf-16-be")}
    best = max(readable, key=lambda encoding: readable[encoding])
    return best if readable[best] >= _IDEOGRAPHS_READABLE else None


def _readability(sample: bytes, encoding: str) -> float:
    """How readable a sample's characters are in a wide encoding, 0 to 1; 0 where they are not all valid."""
    unit = 4 if encoding.startswith("utf-32") else 2
    text = _strict(sample[: len(sample) - len(sample) % unit], encoding)
    if not text:
        return 0.0
    ascii_share = sum("\x20" <= char <= "\x7e" or char in "\t\r\n" for char in text) / len(text)
    beyond_share = sum(char >= "\x80" for char in text) / len(text)
    return ascii_share + beyond_share * max(plausibility(text), 0.0)


def _declared_encoding(data: bytes) -> str | None:
    match = _DECLARED.search(data[:_DECLARATION_WINDOW])
    if match is None:
        return None
    try:
        name = codecs.lookup(match.group(1).decode("ascii")).name
    except LookupError:
        return None
    if name.startswith(("utf-16", "utf-32", "utf-7")):
        return "utf-8"  # could not be read in it if it were true
    return _SUPERSETS.get(name, name)


def _named_fits_better(data: bytes, named: str | None, text: str) -> bool:
    """Whether bytes that happen to be UTF-8 are meant as they are declared: two Chinese characters may be."""
    if named in (None, "utf-8") or text.isascii():
        return False
    other = _strict(data, named or "")
    return other is not None and plausibility(other) > plausibility(text)


def _disagreement(named: str | None, encoding: str, text: str, data: bytes) -> tuple[str, ...]:
    if named in (None, encoding) or (text.isascii() and _strict(data, named or "") == text):
        return ()
    return (f"the text is not in the encoding it declares ({named}) but in {encoding}",)


def _guessed(data: bytes, named: str | None) -> Decoded:
    guess = guess_encoding(data, declared=named)
    encoding = guess.encoding if guess else "cp1252"
    declared = encoding == named
    decision = f"charset: {encoding}, {'as declared' if declared else 'guessed'}"
    text = _strict(data, encoding)
    warnings = () if named is None or declared else _disagreement(named, encoding, "", data)
    if text is None:
        note = f"some bytes are not valid in any likely encoding; the text was read as {encoding}"
        return Decoded(data.decode(encoding, "replace"), encoding, decision, (*warnings, note))
    if guess and not guess.sure:
        note = f"the encoding was guessed from little text ({encoding}); declare it, or save it in UTF-8"
        warnings = (*warnings, note)
    return Decoded(text, encoding, decision, warnings)
