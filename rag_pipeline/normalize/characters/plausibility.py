"""How ordinary the characters of a text are: what tells real text from bytes read in the wrong encoding."""

import unicodedata
from collections.abc import Iterator
from typing import Final

# The commonest Chinese characters, simplified and traditional, and Japanese ones; rare characters are what a
# wrong multi-byte encoding produces.
COMMON_HAN: Final = frozenset(
    "的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年"
    "过過发發后後作里用道行所然家种種事成方多经經么去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理"
    "心她本前开開但因只从從想实實日军者意无無力它与與长長把机機十民第公此已工使情明性知全三又关關点點正业業外将將两高间"
    "由问問很最重并並物手应應战向头文体體政美相见見被利什二等产產或新己制身果加西斯月话話合回特代内內信表化老给給世位次"
    "度门門任常先海通教儿原东東声提立及比员員解水名真论論处處走义義各入几口认認条條平系气氣题題活尔更别打女变變四神总總"
    "何电電数數安少报報才結结反受目太量再感建务務做接必场場件计計管期市直德资資命山金指克许許统统區区保至队形社便空决治"
    "展马科司五基眼书非则則听白却界达光放强即像难且权思王象完设設式色路记記南品住告类求据程北边死张该交规規万取拉格望觉"
    "客户戶購购買买申请請退款顧顾返金購入後以内策天務服说明書读確认注意源切始守续續调查窗质機械株価田京阪鈴木村川島店円"
    "税製置順護章節示更追除登録画选択処結場必要法情報管理契約料払付担当課番号曜週午台雄市張李劉陳楊黃趙吳周徐孫朱胡郭林"
    "羅鄭梁謝宋唐韓馮鄧曹彭曾蕭刘陈杨黄赵吴孙罗郑谢韩冯邓萧绪附"
)
COMMON_HANGUL: Final = frozenset(
    "이다에의는로하을가고지서한은기으년대사시를리도인스일아어자주정보제전부수장만나들해라있그여것게상구공원성유과비신조동무요"
    "계문국화실오세마위선우중민관경소진용안연물모습니까할"
)
_SIGNS: Final = frozenset("“”‘’„‚–—…€£¥«»‹›°§©®™±µ·•¿¡½¼¾²³№×")
_TONES: Final = frozenset("\u0300\u0301\u0303\u0309\u0323")  # Windows-1258 writes Vietnamese tones as these
_NONSENSE: Final = -0.5


def plausibility(text: str) -> float:
    """How ordinary the characters beyond ASCII are: near 1 for real text, below 0.4 for nonsense."""
    weights = list(_weights(text))
    return sum(weights) / len(weights) if weights else 0.0


def _weights(text: str) -> Iterator[float]:
    for before, here, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if here >= "\x80":
            yield _weight(before, here, after)


def _weight(before: str, char: str, after: str) -> float:
    if "\u3041" <= char <= "\u30ff" or "\u3001" <= char <= "\u3011" or "\uff01" <= char <= "\uff5e":
        return 1.0
    if "\uac00" <= char <= "\ud7a3":
        return 1.0 if char in COMMON_HANGUL else 0.65
    if "\u4e00" <= char <= "\u9fff":
        return 1.0 if char in COMMON_HAN else 0.35
    if "\uff66" <= char <= "\uff9f":  # half-width katakana stand in words, or not at all
        return 0.55 if "\uff66" <= before <= "\uff9f" or "\uff66" <= after <= "\uff9f" else 0.0
    if char in _SIGNS:
        return 0.5
    return _letter_weight(before, char, after)


def _letter_weight(before: str, char: str, after: str) -> float:
    category = unicodedata.category(char)
    beside_latin = _is_latin(before) or _is_latin(after)
    if "\u00c0" <= char <= "\u024f":
        return 0.9 if beside_latin else 0.4
    if category[0] == "M":
        on_letter = before.isalpha() or unicodedata.category(before)[0] == "M"
        if char in _TONES:
            return 0.9 if on_letter and before < "\u0250" else _NONSENSE
        return 0.65 if on_letter and before >= "\x80" else _NONSENSE
    if category[0] != "L" or char >= "\U00020000" or beside_latin:
        return _NONSENSE
    if not before.isalpha() and not after.isalpha() and not unicodedata.combining(after):
        return 0.1  # a word of one letter
    if category == "Lu":
        return 0.6 if not before.isalpha() or before.isupper() else 0.0
    return 0.7


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()
