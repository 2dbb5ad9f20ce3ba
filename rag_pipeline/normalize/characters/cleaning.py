"""Removing what no reader sees: control characters, zero-width and direction marks, soft hyphens.

Text is brought to NFC, and the ligatures that fonts put into PDFs (ﬁ) are written as letters: both change no
meaning. NFKC would: it turns ² into 2 and ① into 1, and a citation must show what the document says.
Full-width forms stay too; `embedding.text` folds them where text is searched.

Every pattern begins with a set of characters, which lets `re` skip ordinary text quickly.
"""

import re
import unicodedata
from typing import Final, NamedTuple

_NEWLINES: Final = re.compile(r"\r\n?|[\x0b\x85\u2028]")
_PARAGRAPH_SEPARATOR: Final = re.compile("\u2029")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb\ufffe\uffff]")
# Overrides, embeddings and isolates make the shown order differ from the stored one. The plain marks (LRM,
# RLM, ALM) do not, but are invisible and would keep a search from matching.
_DIRECTION: Final = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b\u200e\u200f\u061c\u2060-\u2064\ufeff]")
# Tags spell the region of a flag behind its emoji, variation selectors choose the form of an ideograph.
# Elsewhere they are a way to write what only machines read.
_SMUGGLED: Final = re.compile(
    r"[\U000e0000-\U000e007f](?<![\U0001f3f4\U000e0020-\U000e007f].)[\U000e0000-\U000e007f]*"
    r"|[\U000e0100-\U000e01ef](?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff].)[\U000e0100-\U000e01ef]*"
)
# Joiners shape Arabic and Indic letters and hold emoji together; between other characters they only hide
# words.
_JOINER_IN_WORD: Final = re.compile(r"[\u200c\u200d](?<=[\x00-\u058f].)(?=[\x00-\u058f])")
_LIGATURE: Final = re.compile("[ﬀ-ﬆ]")
_LETTERS: Final = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}


def _combining(first: int, last: int) -> str:
    return "".join(chr(code) for code in range(first, last) if unicodedata.combining(chr(code)))


_MARKS: Final = _combining(0x300, 0x10000)
_RARE_MARKS: Final = _combining(0x10000, 0x1F000)
_RARE_SCRIPT: Final = re.compile("[\U00010000-\U0001efff]")
# Vietnamese puts two marks on a letter, Hebrew and Thai three, scholars' transcriptions four.
_HEAPED_MARKS: Final = re.compile(f"[{_MARKS}][{_MARKS}]{{5}}")
# Unicode's limit for streams (UAX 15): beyond, composing takes time that grows with the square.
_ENDLESS_MARKS: Final = re.compile(f"([{_MARKS}{_RARE_MARKS}]{{30}})[{_MARKS}{_RARE_MARKS}]+")


class Cleaned(NamedTuple):
    """Text without its invisible characters, and what a reader should know about them."""

    text: str
    warnings: tuple[str, ...]


def clean(text: str) -> Cleaned:
    """Normalize newlines to `\\n`, form feeds to paragraph breaks; drop invisible characters; compose to NFC.

    Idempotent. Warns of removed control characters, of characters that make a text read differently from
    what is stored or hide text in it, and of letters under heaps of marks.
    """
    text = _PARAGRAPH_SEPARATOR.sub("\n\n", _NEWLINES.sub("\n", text)).replace("\f", "\n\n")
    text, controls = _CONTROLS.subn("", text)
    if text.isascii():
        return Cleaned(text, _warnings(controls=controls))
    text, directions = _DIRECTION.subn("", text)
    text, smuggled = _SMUGGLED.subn("", text)
    text = _JOINER_IN_WORD.sub("", _INVISIBLE.sub("", text))
    text = _LIGATURE.sub(lambda match: _LETTERS[match.group()], text)
    heaps = bool(_HEAPED_MARKS.search(text))
    if heaps or _RARE_SCRIPT.search(text):
        text = _ENDLESS_MARKS.sub(r"\1", text)
    return Cleaned(
        unicodedata.normalize("NFC", text),
        _warnings(controls=controls, directions=directions, smuggled=smuggled, heaps=heaps),
    )


def _warnings(
    *, controls: int = 0, directions: int = 0, smuggled: int = 0, heaps: bool = False
) -> tuple[str, ...]:
    found = (
        (controls, "control characters were removed"),
        (directions, "direction override characters were removed; the text may look different"),
        (smuggled, "invisible characters that can spell hidden text were removed"),
        (heaps, "letters carry heaps of combining marks, so that words may be neither read nor found"),
    )
    return tuple(warning for present, warning in found if present)
