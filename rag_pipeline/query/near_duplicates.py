"""Which passages say the same in nearly the same words, so that one of them is enough."""

import re

_SAME = 0.9
_SHINGLE = 3
_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+")

# Words that make two passages say different things however alike they are otherwise: those are a conflict,
# and both are needed. What holds a digit is one as well.
_WORDS = """
no not never none nor without cannot except unless only allowed forbidden may must optional required
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand half double current
former old new draft deprecated"""
_TELLING = frozenset(_WORDS.split()).union("不无未没非勿禁仅只可须必一二两三四五六七八九十百千万半旧新")


def nearly_the_same(one: str, other: str) -> bool:
    """Whether two texts share nine tenths of their word triples and differ in no number, negation or such."""
    if one == other:
        return True
    first, second = _TOKEN.findall(one.lower()), _TOKEN.findall(other.lower())
    if any(token in _TELLING or any(map(str.isdigit, token)) for token in set(first) ^ set(second)):
        return False
    shingles, others = _shingles(first), _shingles(second)
    return len(shingles & others) >= _SAME * len(shingles | others)


def _shingles(tokens: list[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[at : at + _SHINGLE]) for at in range(max(1, len(tokens) - _SHINGLE + 1))}
