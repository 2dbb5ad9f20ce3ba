"""What stands beside a number: currencies, percentages and units of time, by all their names."""

import re
from typing import Final

_CURRENCIES: Final = {
    "usd": "$ us$ usd dollar dollars 美元 美金",
    "eur": "€ eur euro euros 欧元",
    "gbp": "£ gbp pound pounds 英镑",
    "cny": "¥ cny rmb yuan 元 人民币",
    "jpy": "jpy yen 日元",
    "chf": "chf francs",
}
_OTHERS: Final = {
    "%": "% percent pct",
    "second": "second seconds sec secs 秒",
    "minute": "minute minutes min mins 分钟",
    "hour": "hour hours hr hrs h 小时",
    "day": "day days 天 日",
    "business day": "business·day business·days working·day working·days 工作日 个工作日",
    "week": "week weeks 周 星期 个星期",
    "month": "month months 个月",
    "calendar month": "月",
    "year": "year years 年",
}


def _by_name(groups: dict[str, str]) -> dict[str, str]:
    return {name.replace("·", " "): unit for unit, names in groups.items() for name in names.split()}


def _one_of(names: dict[str, str]) -> str:
    """A pattern of the names, longest first; a Latin one must not go on."""
    longest_first = sorted(names, key=len, reverse=True)
    return "|".join(re.escape(name) + (r"(?![a-z])" if name.isascii() else "") for name in longest_first)


_CURRENCY_OF: Final = _by_name(_CURRENCIES)
_UNIT_OF: Final = _CURRENCY_OF | _by_name(_OTHERS)
CURRENCY_BEFORE: Final = r"(?<![a-z])(?:us\$|[$€£¥]|usd|eur|gbp|cny|rmb|jpy|chf|人民币)"
UNIT_AFTER: Final = _one_of(_UNIT_OF)
_ANYWHERE: Final = re.compile(rf"(?<![a-z])(?:{UNIT_AFTER})", re.IGNORECASE)


def unit_of(name: str) -> str | None:
    """The unit that a name stands for, one word for all its names."""
    return _UNIT_OF.get(" ".join(name.lower().split()))


def units_named(text: str) -> frozenset[str]:
    """The units that a text names anywhere."""
    return frozenset(unit for match in _ANYWHERE.finditer(text) if (unit := unit_of(match[0])))
