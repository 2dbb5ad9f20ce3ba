"""Numbers written as words, English and Chinese."""

import re

_TO_NINETEEN = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_FROM_TWENTY = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_TO_NINETEEN.split())}
_TENS = {word: 10 * value for value, word in enumerate(_FROM_TWENTY.split(), 2)}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ENGLISH_WORD = "|".join(sorted((*_SMALL, *_TENS, "hundred", *_LARGE), key=len, reverse=True))
ENGLISH_NUMBER = rf"\b(?:{_ENGLISH_WORD})(?:(?:[\s-]+|\s+and\s+)(?:{_ENGLISH_WORD}))*\b"

_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_PLACES = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE_NUMBER = f"[{''.join((*_DIGITS, *_PLACES, *_MYRIADS))}]+"

# Words behind digits that multiply them; 千 not where it belongs to a unit, as in 千克.
SCALE_VALUES = {"hundred": 100, **_LARGE, "k": 10**3, "bn": 10**9, "百": 100, "千": 1_000, **_MYRIADS}
SCALE = r"(?:hundred|thousand|million|billion|trillion|bn|k)(?![a-z])|百|千(?![克米瓦帕赫卡])|[万萬亿億]"


def english_value(words: str) -> int:
    """The value of "two hundred and fifty" or "twenty-one"."""
    total = part = 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _LARGE:
            total, part = total + max(part, 1) * _LARGE[word], 0
        elif word == "hundred":
            part = max(part, 1) * 100
        else:
            part += _SMALL.get(word, 0) or _TENS.get(word, 0)
    return total + part


def chinese_value(characters: str) -> int:
    """The value of 二百五十, 两万 or of digits in a row: 二〇二四."""
    if all(character in _DIGITS for character in characters):
        return int("".join(str(_DIGITS[character]) for character in characters))
    total = part = digit = 0
    for character in characters:
        if character in _MYRIADS:
            total, part, digit = (total + max(part + digit, 1)) * _MYRIADS[character], 0, 0
        elif character in _PLACES:
            part, digit = part + (digit or 1) * _PLACES[character], 0
        else:
            digit = _DIGITS[character]
    return total + part + digit
