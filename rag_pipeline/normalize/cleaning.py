"""Removing what no reader sees: control characters, zero-width and direction marks, soft hyphens.

Text is brought to NFC, which changes no meaning. NFKC would: it turns ² into 2 and ① into 1, and a citation
must show what the document says.
"""

import re
import unicodedata
from typing import NamedTuple

_NEWLINES = re.compile(r"\r\n?|[\x0b\x85\u2028]")
_PARAGRAPH_SEPARATOR = re.compile("\u2029")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb\ufffe\uffff]")
# Overrides, embeddings and isolates make the shown order differ from the stored one. The plain marks (LRM,
# RLM, ALM) do not, but are invisible and would keep a search from matching.
_DIRECTION = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile(r"[\u00ad\u200b\u200e\u200f\u061c\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
# Joiners shape Arabic and Indic letters and hold emoji together; between other characters they only hide
# words.
_JOINER_IN_WORD = re.compile(r"(?<=[\x00-\u058f])[\u200c\u200d](?=[\x00-\u058f])")


class Cleaned(NamedTuple):
    """Text without its invisible characters, and what a reader should know about them."""

    text: str
    warnings: tuple[str, ...]


def clean(text: str) -> Cleaned:
    """Normalize newlines to `\\n`, form feeds to paragraph breaks; drop invisible characters; compose to NFC.

    Idempotent. Warns of removed control characters and of direction overrides, which can make a text read
    differently from what is stored.
    """
    text = _PARAGRAPH_SEPARATOR.sub("\n\n", _NEWLINES.sub("\n", text)).replace("\f", "\n\n")
    text, controls = _CONTROLS.subn("", text)
    text, directions = _DIRECTION.subn("", text)
    text = _JOINER_IN_WORD.sub("", _INVISIBLE.sub("", text))
    warnings = []
    if controls:
        warnings.append(f"{controls} control characters were removed")
    if directions:
        warnings.append(
            f"{directions} direction override characters were removed; the text may look different"
        )
    return Cleaned(unicodedata.normalize("NFC", text), tuple(warnings))
