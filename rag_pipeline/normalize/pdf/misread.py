"""Reading anew what a PDF's fonts say are Western letters though its bytes are Chinese, Japanese or Korean.

Old programs wrote two-byte text with one-byte fonts: the page shows Chinese, its text layer `Ä¿Â¼` for 目录.
"""

from collections.abc import Sequence
from typing import Final

from rag_pipeline.normalize.characters.plausibility import plausibility
from rag_pipeline.normalize.layout.words import Word

_ENCODINGS: Final = ("gb18030", "big5", "shift_jis", "euc_kr")
# No Western language has this share of letters beyond ASCII; of fewer characters nothing can be told.
_MOST_BEYOND: Final = 0.4
_ENOUGH: Final = 20
# What a right reading scores at least; see `plausibility`.
_PLAUSIBLE: Final = 0.6
_BYTES: Final = {ord(bytes((code,)).decode("cp1252", "replace")): code for code in range(0x80, 0xA0)} | {
    code: code for code in range(0x100)
}


def read_anew(words: Sequence[Word]) -> tuple[list[Word], str] | None:
    """The words of a page in the encoding that makes sense of them, and its name; None if they are right.

    All words have to turn out as text; a page on which one does not is left as it is.
    """
    text = "".join(word.text for word in words)
    beyond = sum("\x80" <= char <= "\xff" for char in text)
    if beyond < max(_ENOUGH, _MOST_BEYOND * len(text)) or any(ord(char) not in _BYTES for char in text):
        return None
    stored = [bytes(_BYTES[ord(char)] for char in word.text) for word in words]
    readings = []
    for encoding in _ENCODINGS:
        try:
            texts = [data.decode(encoding) for data in stored]
        except UnicodeDecodeError:
            continue
        readings.append((plausibility("\n".join(texts)), encoding, texts))
    score, encoding, texts = max(readings, default=(0.0, "", []))
    if score < _PLAUSIBLE:
        return None
    return [word._replace(text=text) for word, text in zip(words, texts, strict=True)], encoding
