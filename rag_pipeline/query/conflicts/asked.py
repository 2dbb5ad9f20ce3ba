"""What a question asks about, and values of which kinds would answer it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.terms import Term, numbered, term_parts, terms
from rag_pipeline.query.scripts import asks_in_chinese, written_in_han

_CLASSIFIERS = "[个名位人台件次份张条只辆间]"
_CHINESE_TIMES = "个?(?:工作日|自然日|天|日|小时|分钟|周|星期|月|年)"
_CUES: Final[Sequence[tuple[re.Pattern[str], frozenset[ValueKind]]]] = [
    (re.compile(pattern, re.IGNORECASE), frozenset(kinds))
    for pattern, kinds in [
        (r"\b(?:version|firmware|release)s?\b|版本|固件", {ValueKind.VERSION}),
        (r"\b(?:(?:what|which|by what|on what)[ ](?:date|day))\b|日期|哪一?天|几月几日", {ValueKind.DATE}),
        (r"\bwhen\b|\bdeadline\b|什么时候|何时", {ValueKind.DATE, ValueKind.DURATION}),
        (
            r"\bhow[ ](?:long|soon|fast|quickly|often|far in advance)\b"
            r"|\b(?:time[ ]?limit|period|time frame)\b"
            r"|\b(?:many|what)[ ](?:[a-z]{1,20}[ ]){0,2}(?:seconds|minutes|hours|days|weeks|months|years)\b"
            rf"|within what time|多久|多长|多少{_CHINESE_TIMES}|几{_CHINESE_TIMES}|期限|时限",
            {ValueKind.DURATION},
        ),
        (
            r"\bwhat[ ](?:share|percentage|proportion)\b|\bpercent|\b(?:discount|commission|interest)\b"
            r"|百分之几|百分比|比例|折扣|佣金|利率|几折",
            {ValueKind.PERCENTAGE, ValueKind.MONEY},
        ),
        (
            r"\bhow[ ]much\b|\b(?:price|costs?|fees?|fines?|charges?|amount|salary|deposit|voucher"
            r"|postage|rent|bonus|budget|allowance)\b|多少钱|多少元|价格|费用|金额|罚款|手续费|报销上限"
            r"|限额|运费|租金|押金|补贴|补助|工资|奖金|预算",
            {ValueKind.MONEY, ValueKind.PERCENTAGE},
        ),
        (rf"\bhow[ ]many\b|多少{_CLASSIFIERS}|几{_CLASSIFIERS}", {ValueKind.COUNT}),
    ]
]
"""What asks for which kinds. The first that fits counts: how many days asks for a duration, not a count."""

_PLACE: Final = re.compile(r"\b(?:in|to|from|for|at|of)[ ](?:the[ ])?([A-Z][\w-]*)")
_ATTRIBUTE: Final = re.compile(
    r"\b(?:what|how (?:long|high|big|large|much))(?:'s| is| are) the "
    r"([A-Za-z][A-Za-z -]{1,40}?) (?:for|of|on|in|to|at|when|per)\b",
    re.IGNORECASE,
)
_YES_OR_NO: Final = re.compile(
    r"^\s*(?:(?:and|so|but)[ ])?(?:is|are|may|can|could|am|do|does|will|must)\b"
    r"|\ballowed to\b|[吗么][?？ ]{0,3}$|能否|能不能|可否|可不可以|是否|允不允许",
    re.IGNORECASE,
)
_NO_VALUE: Final = re.compile(
    r"^\s*(?:who|whom|whose|where|why)\b|^[^多几]*(?:谁|为什么|哪里)[^多几]*$", re.IGNORECASE
)
_NO_VALUE_UNLESS_CUED: Final = re.compile(r"^\s*how (?:do|does|can|should|to)\b|如何|怎么", re.IGNORECASE)
_AMOUNTS: Final = frozenset(ValueKind) - {ValueKind.PERMISSION}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, taken apart.

    `topics` are what it is about, `names` whom or what in particular. Of the names `places` are those that a
    whole document may be for ("delivered to Norway"), unlike one of several in a text ("the Grow plan").
    `attribute` is what is asked of it, where the question says so: the fine for parking.
    """

    kinds: frozenset[ValueKind]
    topics: tuple[Term, ...]
    names: tuple[Term, ...]
    places: tuple[Term, ...]
    attribute: Term | None
    ordered: tuple[Term, ...]
    numbered: Mapping[str, frozenset[str]]
    chinese: bool

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all its terms."""
        return frozenset(term.key for term in self.ordered)


def ask_about(question: str) -> Asked:
    """Take a question apart."""
    ordered = tuple(terms(question))
    distinct = tuple({term.key: term for term in ordered}.values())
    names = tuple(term for term in distinct if term.is_name)
    placed = term_parts(" ".join(_PLACE.findall(question)))
    return Asked(
        kinds=_kinds(question),
        # A Chinese run that is in no list may be a name or not: it is both.
        topics=tuple(term for term in distinct if not term.is_name or written_in_han(term.key)),
        names=names,
        places=tuple(term for term in names if term.key in placed or written_in_han(term.key)),
        attribute=_attribute(question),
        ordered=ordered,
        numbered=numbered(question),
        chinese=asks_in_chinese(question),
    )


def _attribute(question: str) -> Term | None:
    asked = _ATTRIBUTE.search(question)
    words = terms(asked[1]) if asked else ()
    return words[-1] if words else None


def _kinds(question: str) -> frozenset[ValueKind]:
    """The kinds that would answer it. Who, where, why and how ask for none; without a cue all may be."""
    if _NO_VALUE.search(question):
        return frozenset()
    for pattern, kinds in _CUES:
        if pattern.search(question):
            return kinds
    if _YES_OR_NO.search(question):
        return frozenset({ValueKind.PERMISSION})
    return frozenset() if _NO_VALUE_UNLESS_CUED.search(question) else _AMOUNTS
