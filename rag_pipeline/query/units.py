"""What stands beside a number: currencies, percentages, measures and units of time, by all their names."""

import re
from typing import Final

from rag_pipeline.query.numbers import without_case

_CODES: Final = """
EUR USD GBP CNY RMB JPY CHF HKD SEK NOK DKK ISK PLN CZK CAD AUD NZD SGD INR TWD
""".split()  # noqa: SIM905
_CURRENCIES: Final = {
    "USD": "$ us$ dollar dollars 美元 美金",
    "EUR": "€ euro euros 欧元",
    "GBP": "£ pound pounds 英镑",
    # In business texts of this pair of languages the sign is the yuan; yen are named.
    "CNY": "¥ ￥ rmb yuan 元 块 块钱 人民币",
    "JPY": "yen 日元",
    "HKD": "港元 港币",
    "CHF": "franc francs",
}
_TIMES: Final = {
    "second": "second seconds sec secs 秒 秒钟",
    "minute": "minute minutes min mins 分钟",
    "hour": "hour hours hr hrs h 小时 个小时 钟头 个钟头",
    "business hour": "business·hour business·hours working·hour working·hours 工作小时 个工作小时",
    "day": "day days 天 日 自然日 个自然日 日历日 个日历日",
    "business day": "business·day business·days working·day working·days 工作日 个工作日",
    "trading day": "trading·day trading·days 交易日 个交易日",
    "week": "week weeks 周 星期 个星期 礼拜 个礼拜",
    "fortnight": "fortnight fortnights",
    "month": "month months 个月",
    "calendar month": "月",
    "year": "year years yr yrs 年",
    "decade": "decade decades",
}
_MEASURES: Final = {
    "mm": "mm millimetre millimetres millimeter millimeters 毫米",
    "cm": "cm centimetre centimetres centimeter centimeters 厘米",
    "m": "m metre metres meter meters 米",
    "km": "km kilometre kilometres kilometer kilometers 公里 千米",
    "g": "g gram grams 克",
    "kg": "kg kilogram kilograms 公斤 千克",
    "KB": "kb kilobyte kilobytes",
    "MB": "mb megabyte megabytes 兆",
    "GB": "gb gigabyte gigabytes",
    "TB": "tb terabyte terabytes",
    "ms": "ms millisecond milliseconds 毫秒",
    "V": "v volt volts 伏",
    "W": "w watt watts 瓦",
    "kW": "kw kilowatt kilowatts 千瓦",
    "kWh": "kwh kilowatt·hours 度电",
    "°C": "°c ℃ celsius 摄氏度",
    "°F": "°f ℉ fahrenheit 华氏度",
}
_PERCENT: Final = {"%": "% ％ percent pct per·cent"}


def _by_name(groups: dict[str, str]) -> dict[str, str]:
    return {name.replace("·", " "): unit for unit, names in groups.items() for name in names.split()}


def _one_of(names: dict[str, str]) -> str:
    """A pattern of the names, longest first; a Latin one must not go on."""
    longest_first = sorted(names, key=len, reverse=True)
    return "|".join(re.escape(name) + (r"(?![a-z])" if name.isascii() else "") for name in longest_first)


_CURRENCY_OF: Final = {code.lower(): code for code in _CODES} | _by_name(_CURRENCIES)
_UNIT_OF: Final = _CURRENCY_OF | _by_name(_PERCENT) | _by_name(_TIMES) | _by_name(_MEASURES)
CURRENCY_BEFORE: Final = rf"(?:(?<![a-z0-9])(?:{'|'.join(_CODES)}|us\$)|[$€£¥￥]|人民币)"
CURRENCY_AFTER: Final = rf"(?:{_one_of(_CURRENCY_OF)})"
PERCENT: Final = rf"(?:{_one_of(_by_name(_PERCENT))})"
UNIT_AFTER: Final = rf"(?:{_one_of(_UNIT_OF)})"
# 块 is a piece of anything where no amount stands before it.
_ANYWHERE: Final = re.compile(rf"(?<![a-z])(?!块(?!钱)){UNIT_AFTER}", re.IGNORECASE)


def unit_of(name: str) -> str | None:
    """The unit that a name stands for, one word for all its names."""
    return _UNIT_OF.get(" ".join(without_case(name).split()))


def units_named(text: str) -> frozenset[str]:
    """The units that a text names anywhere."""
    return frozenset(unit for match in _ANYWHERE.finditer(text) if (unit := unit_of(match[0])))
