"""Telling a legacy encoding from the bytes alone.

chardet's models of letters in their languages judge a paragraph rightly nearly always, but a few words often
not: a Thai letter for a pound sign, rare Chinese characters for Japanese ones. So its candidates, limited to
the encodings that people used, are weighed together with how ordinary the characters of their text are.
"""

import math
import re
from typing import Final, NamedTuple

from rag_pipeline.normalize.characters.plausibility import plausibility

# Each is the superset of its family as Python decodes it. Old Macintosh, mainframe and most DOS encodings are
# left out: in short texts they would win more often by chance than by right.
_CANDIDATES: Final = (
    "cp1252", "gb18030", "big5hkscs", "cp932", "euc_jis_2004", "cp949", "cp1250", "iso8859-2", "cp1251",
    "koi8-r", "koi8-u", "cp866", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874",
)  # fmt: skip
# Legacy bytes with the ASCII around them: in a long English text, two Chinese words would not count.
_TELLING: Final = re.compile(
    rb"[\x00-\x7f]{0,32}[\x80-\xff](?:[\x00-\x7f]{0,64}[\x80-\xff])*[\x00-\x7f]{0,32}"
)
# A guess needs no more than this; a longer text would only take longer, and listing guesses for every file.
_WINDOW: Final = 8_192
# Between the plausibility of nonsense (0.3) and of text (0.8) this lies above most of chardet's differences.
_PLAUSIBILITY_WEIGHT: Final = 4.0
# Far more texts are in it than in its rivals, and where no letter tells them apart, this does.
_COMMONEST: Final = ("cp1252", math.log(1.15))
# What a declaration counts for: a rival must look eight times as likely to overrule it, but only twice where
# Western European is declared, as many programs do whatever they write.
_DECLARED_BONUS: Final = math.log(8)
_CARELESS_BONUS: Final = math.log(2)
# A rival with another text makes a guess unsure if it is nearly as likely, in a short text half as likely.
_NEARLY: Final = math.log(1.1)
_HALF: Final = math.log(2)
_SHORT: Final = 120


class Guess(NamedTuple):
    """The likeliest encoding, as a Python codec name, and whether no other one is nearly as likely."""

    encoding: str
    sure: bool


def guess_encoding(data: bytes, *, declared: str | None = None) -> Guess | None:
    """The most plausible encoding of a text that is not UTF-8; None if none fits.

    `declared` is the codec that the document names: where it fits the bytes, it wins unless another one is
    far more likely.
    """
    sample = _telling_sample(data)
    scored = sorted(_scores(sample, declared), reverse=True)
    if not scored:
        return None
    best, encoding, text = scored[0]
    margin = _HALF if len(sample) < _SHORT else _NEARLY
    sure = all(score < best - margin or other == text for score, _, other in scored[1:])
    return Guess(encoding, sure or encoding == declared)


def _telling_sample(data: bytes) -> bytes:
    parts, size = [], 0
    for match in _TELLING.finditer(data):
        parts.append(match.group()[: _WINDOW - size])
        size += len(parts[-1])
        if size >= _WINDOW:
            break
    return b"\n".join(parts)


def _scores(sample: bytes, declared: str | None) -> list[tuple[float, str, str]]:
    import chardet

    names = dict.fromkeys(_CANDIDATES)
    found = chardet.detect_all(
        sample, compat_names=False, include_encodings=list(names), ignore_threshold=True
    )
    likelihoods = {str(one["encoding"]): float(one["confidence"]) for one in found}
    if declared and declared not in likelihoods:
        likelihoods[declared] = max(likelihoods.values(), default=1.0)  # its characters decide
    scored = []
    for encoding, likelihood in likelihoods.items():
        text = _decoded(sample, encoding)
        if text is None:
            continue
        score = math.log(likelihood + 1e-6) + _PLAUSIBILITY_WEIGHT * plausibility(text)
        if encoding == _COMMONEST[0]:
            score += _COMMONEST[1]
        if encoding == declared:
            score += _CARELESS_BONUS if encoding == _COMMONEST[0] else _DECLARED_BONUS
        scored.append((score, encoding, text))
    return scored


def _decoded(sample: bytes, encoding: str) -> str | None:
    # The window may have cut the last character in two.
    for cut in range(4 if len(sample) >= _WINDOW else 1):
        try:
            return sample[: len(sample) - cut].decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return None
