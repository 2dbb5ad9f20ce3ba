"""Telling a legacy encoding from the bytes alone, by how ordinary the decoded text looks.

charset-normalizer is good at long texts, but takes a sentence of Big5 or KOI8-R for Shift-JIS. Short texts
are common here (a support note, a subtitle), so its guess is one candidate among the usual encodings, and
the candidate with the most ordinary characters wins.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from charset_normalizer import from_bytes

_CANDIDATES: Final = (
    "cp1252", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949",
    "cp1251", "koi8_r", "cp1250", "cp1253", "cp1256",
)  # fmt: skip
# A guess needs no more than this; a longer text would only take longer, and listing guesses for every file.
_WINDOW: Final = 8_192
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
# The commonest Chinese characters, simplified and traditional, and those that Japanese shares; rare
# characters are what a wrong multi-byte encoding produces.
_COMMON_HAN: Final = frozenset(
    "的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年"
    "过過发發后後作里用道行所然家种種事成方多经經么去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理"
    "心她本前开開但因只从從想实實日军者意无無力它与與长長把机機十民第公此已工使情明性知全三又关關点點正业業外将將两高间"
    "由问問很最重并並物手应應战向头文体體政美相见見被利什二等产產或新己制身果加西斯月话話合回特代内內信表化老给給世位次"
    "度门門任常先海通教儿原东東声提立及比员員解水名真论論处處走义義各入几口认認条條平系气氣题題活尔更别打女变變四神总總"
    "何电電数數安少报報才结結反受目太量再感建务務做接必场場件计計管期市直德资資命山金指克许許统統区區保至队形社便空决治"
    "展马科司五基眼书非则則听白却界达光放强即像难且权思王象完设設式色路记記南品住告类求据程北边死张该交规規万取拉格望觉"
    "客户戶購购買买申请請退款顧顾返金購入後以内策天務服"
)


def guess_encoding(data: bytes) -> str | None:
    """The most plausible encoding of a text that is not UTF-8, as a Python codec name; None if none fits."""
    telling = _BEYOND_ASCII.search(data)
    start = telling.start() // 4 * 4 if telling else 0  # whole characters of UTF-16 and UTF-32
    sample = data[start : start + _WINDOW]
    best = from_bytes(sample).best()
    candidates = dict.fromkeys((*_CANDIDATES, *((best.encoding,) if best else ())))
    scored = [
        (plausibility(text), -order, encoding)
        for order, encoding in enumerate(candidates)
        if (text := _decoded(sample, encoding)) is not None
    ]
    return max(scored)[2] if scored else None


def plausibility(text: str) -> float:
    """How ordinary the characters beyond ASCII are: near 1 for real text, below 0.4 for nonsense."""
    weights = list(_weights(text))
    return sum(weights) / len(weights) if weights else 0.0


def _decoded(sample: bytes, encoding: str) -> str | None:
    # The window may have cut the last character in two.
    for cut in range(4 if len(sample) == _WINDOW else 1):
        try:
            return sample[: len(sample) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _weights(text: str) -> Iterator[float]:
    for before, here, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if here >= "\x80":
            yield _weight(here, beside_latin=_is_latin(before) or _is_latin(after))


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _weight(char: str, *, beside_latin: bool) -> float:
    if "\u3041" <= char <= "\u30ff" or "\u3001" <= char <= "\u3011" or "\uff01" <= char <= "\uff1f":
        return 1.0
    if "\uac00" <= char <= "\ud7a3":
        return 0.8
    if "\u4e00" <= char <= "\u9fff":
        return 1.0 if char in _COMMON_HAN else 0.35
    category = unicodedata.category(char)
    if "\u00c0" <= char <= "\u024f":
        return 0.9 if beside_latin else 0.4
    if category[0] == "L" and not "\uff66" <= char <= "\uff9f" and char < "\U00020000":
        if beside_latin:
            return -0.5
        return {"Ll": 0.7, "Lu": 0.2}.get(category, 0.65)
    if char in "“”‘’–—…€«»°§©®":
        return 0.5
    return -0.5
