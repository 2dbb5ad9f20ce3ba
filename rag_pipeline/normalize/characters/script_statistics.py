"""Whether the characters of a script are used as in its languages: what is decoded wrongly uses rare ones.

Only what holds in every language of a script is judged, and only where there is enough of it.
"""

import re
from typing import Final

from rag_pipeline.normalize.characters.plausibility import COMMON_HAN, COMMON_HANGUL

_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_HANGUL: Final = re.compile(r"[\uac00-\ud7a3]")
_CYRILLIC_OR_GREEK_WORD: Final = re.compile(r"[\u0370-\u052f]{3,}")
_ENOUGH: Final = 100
# Half to three quarters of any text are among the common ones, of arbitrary characters less than a tenth.
_LEAST_COMMON: Final = 0.12
# KOI8-R read as Windows-1251 and the other way round turn capitals into small letters.
_MOST_INVERTED: Final = 0.5
_SOME: Final = 3


def odd_script(text: str) -> str | None:
    """Which script's characters are used as no language uses them, as the end of a sentence; or None."""
    for name, pattern, common in (("Chinese", _HAN, COMMON_HAN), ("Korean", _HANGUL, COMMON_HANGUL)):
        found = pattern.findall(text)
        if len(found) >= _ENOUGH and sum(char in common for char in found) < _LEAST_COMMON * len(found):
            return f"nearly all of its {name} characters are rare ones"
    mixed = [word for word in _CYRILLIC_OR_GREEK_WORD.findall(text) if word.lower() != word != word.upper()]
    inverted = sum(word[0].islower() and word[1:].isupper() for word in mixed)
    if inverted >= _SOME and inverted > _MOST_INVERTED * len(mixed):
        return "its words begin with small letters and go on in capitals"
    return None
