"""Which script a text is written in, as far as answers and scores depend on it: Han characters or others."""

import re
from typing import Final

HAN: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The Han characters, for use in a class of a pattern."""

_HAN = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")

# A Chinese text about software is full of Latin names and commands, an English one hardly ever of Han.
_HAN_TEXT = 0.15


def asks_in_chinese(question: str) -> bool:
    """Whether a question holds Han characters; the names in it may be Latin."""
    return _HAN.search(question) is not None


def written_in_han(text: str) -> bool:
    """Whether a good part of a text's letters are Han characters."""
    if text.isascii():
        return False
    return len(_HAN.findall(text)) >= _HAN_TEXT * max(1, len(_LETTER.findall(text)))
