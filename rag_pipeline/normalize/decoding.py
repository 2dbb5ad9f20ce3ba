"""Bytes to text: byte order mark, declaration, UTF-8, then a guess that is checked and reported."""

import codecs
import re
from dataclasses import dataclass

from rag_pipeline.normalize.charset_guess import guess_encoding

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:\-]{2,40})""", re.IGNORECASE)
# Browsers read these names as their supersets, and so do the people who write them.
_SUPERSETS = {
    "gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "utf-8",
    "shift_jis": "cp932", "euc_kr": "cp949",
}  # fmt: skip
_DECLARATION_WINDOW = 2048


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the encoding it was in (a Python codec name), and what a reader should know about that."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, *, declared: bool = False) -> Decoded:
    """Decode a text file's bytes. `declared` honours a charset named at the file's beginning (HTML, XML).

    Never fails: bytes that fit no encoding become U+FFFD, with a warning, and the gates decide.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data, encoding) or Decoded(
                data.decode(encoding, "replace"),
                encoding,
                ("some bytes are not valid in the marked encoding",),
            )
    wide = _wide_without_mark(data)
    if wide and (decoded := _strict(data, wide)):
        return decoded
    named = _declared_encoding(data) if declared else None
    if named and (decoded := _strict(data, named)):
        return decoded
    warnings = (f"the text is not in the encoding it declares ({named})",) if named else ()
    if decoded := _strict(data, "utf-8"):
        return Decoded(decoded.text, "utf-8", warnings)
    return _guessed(data, warnings)


def _strict(data: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(data.decode(encoding), encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _wide_without_mark(data: bytes) -> str | None:
    """UTF-16 without a mark shows by zero bytes on one side of every pair."""
    sample = data[:_DECLARATION_WINDOW]
    if len(data) % 2 or len(sample) < 4:
        return None
    even, odd = sample[0::2], sample[1::2]
    if odd.count(0) > len(odd) * 0.3 and even.count(0) < len(even) * 0.05:
        return "utf-16-le"
    if even.count(0) > len(even) * 0.3 and odd.count(0) < len(odd) * 0.05:
        return "utf-16-be"
    return None


def _declared_encoding(data: bytes) -> str | None:
    match = _DECLARED.search(data[:_DECLARATION_WINDOW])
    if match is None:
        return None
    try:
        name = codecs.lookup(match.group(1).decode("ascii")).name
    except LookupError:
        return None
    return _SUPERSETS.get(name, name)


def _guessed(data: bytes, warnings: tuple[str, ...]) -> Decoded:
    guess = guess_encoding(data)
    if guess and (decoded := _strict(data, guess)):
        return Decoded(decoded.text, guess, (*warnings, f"the encoding was guessed: {guess}"))
    encoding = guess or "utf-8"
    note = f"some bytes are not valid in any likely encoding; the text was read as {encoding}"
    return Decoded(data.decode(encoding, "replace"), encoding, (*warnings, note))
