"""Numbers as a spreadsheet shows them: number formats of Office Open XML (ECMA-376 part 1, 18.8.31).

Colours, fill characters and column widths change how a value looks, not what it says, and are left out. The
separators of a country belong to the reader's own computer, so English ones are written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from rag_pipeline.normalize.office.date_format import date_shown

CellValue = bool | int | float | str | date | datetime | time | timedelta | None

# The digits that a spreadsheet keeps; more would show how binary fractions are stored (0.30000000000000004).
_DIGITS: Final = 15
# Numbers from here on are written with an exponent where no format says how.
_MOST_GENERAL_DIGITS: Final = 21
# Wide enough for every number that a cell can hold (1.8e308) with the decimals of the longest format.
_WIDE: Final = Context(prec=600)
_MOST_DECIMALS: Final = 30
_TOKEN: Final = re.compile(
    r'"(?P<literal>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?P<condition>[<>=]{1,2}[^\]]*)\]|\[[^\]]*\]"
    r"|E(?P<exponent>[+-]0+)|(?P<digit>[0#?])|(?P<mark>[.,%/@])|(?P<general>General)|(?P<plain>.)",
    re.IGNORECASE | re.DOTALL,
)
# openpyxl's text of the built-in format 44 (accounting with two decimals) lacks the borders of its sections.
_REPAIRED: Final = {
    r'_("$"* #,##0.00_)_("$"* \(#,##0.00\)_("$"* "-"??_)_(@_)': (
        r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)'
    )
}
_SECTION: Final = re.compile(r'(?:"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?|[^;])*', re.DOTALL)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9.]+)")


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of a format: `kind` is a group's name in `_TOKEN`."""

    kind: str
    text: str


Section = tuple[_Token, ...]


def shown(value: CellValue, number_format: str) -> str:
    """A cell's value as its cell shows it; an empty text where the format hides the value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (date, time, timedelta)):
        return date_shown(value, number_format)
    sections = _sections(_REPAIRED.get(number_format, number_format))
    if isinstance(value, str):
        return _text(value, sections)
    section, negative = _section_for(value, sections)
    return ("-" if negative else "") + _number(abs(value), section)


@lru_cache(maxsize=1024)
def _sections(number_format: str) -> tuple[Section, ...]:
    sections: list[Section] = []
    at = 0
    while at <= len(number_format) and len(sections) < 4:
        match = _SECTION.match(number_format, at)
        at = match.end() + 1 if match else at + 1
        sections.append(tuple(_tokens(match[0])) if match else ())
    return tuple(sections)


def _tokens(section: str) -> list[_Token]:
    return [
        _Token(match.lastgroup, match[match.lastgroup])
        for match in _TOKEN.finditer(section)
        if match.lastgroup is not None
    ]


def _text(value: str, sections: Sequence[Section]) -> str:
    """Text is shown as it is unless a fourth section, or the only one with an @, says otherwise."""
    section = next((s for s in (*sections[3:], *sections[:1]) if _Token("mark", "@") in s), None)
    if section is None:
        return "" if len(sections) == 4 and not sections[3] else value
    return "".join(
        value if token == _Token("mark", "@") else token.text
        for token in section
        if token.kind != "condition"
    )


def _section_for(value: float, sections: Sequence[Section]) -> tuple[Section, bool]:
    """The section that formats a number, and whether a minus sign is still to be written."""
    numeric = sections[:3]
    if any(token.kind == "condition" for section in numeric for token in section):
        chosen = next((section for section in numeric if _applies(value, section)), numeric[-1])
        return chosen, value < 0
    if len(numeric) == 1 or value > 0:
        return numeric[0], value < 0
    if value < 0:
        return numeric[1], False
    return (numeric[2] if len(numeric) == 3 else numeric[0]), False


def _applies(value: float, section: Section) -> bool:
    condition = next((token.text for token in section if token.kind == "condition"), None)
    match = _CONDITION.match(condition) if condition else None
    if match is None:
        return True
    limit = float(match[2])
    return {
        "<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit,
        "=": value == limit, "<>": value != limit,
    }[match[1]]  # fmt: skip


def _number(value: float, section: Section) -> str:
    tokens = [token for token in section if token.kind != "condition"]
    if any(token.kind == "general" or token == _Token("mark", "@") for token in tokens):
        return "".join(
            _general(value) if token.kind == "general" or token.text == "@" else token.text
            for token in tokens
        )
    if not any(token.kind == "digit" for token in tokens):
        return "".join(token.text for token in tokens)
    exact = Decimal(f"{value:.{_DIGITS}g}") if isinstance(value, float) else Decimal(value)
    exact *= 100 ** sum(token == _Token("mark", "%") for token in tokens)
    if _Token("mark", "/") in tokens:
        return _fraction(exact, tokens)
    exponent = next((at for at, token in enumerate(tokens) if token.kind == "exponent"), None)
    if exponent is not None:
        return _scientific(exact, tokens, exponent)
    return _decimal(exact, tokens)


def _general(value: float) -> str:
    text = f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
    if "e" in text:
        exact = Decimal(text)
        return f"{exact:f}" if 0 <= exact.adjusted() < _MOST_GENERAL_DIGITS else text.upper()
    return text


def _decimal(value: Decimal, tokens: Sequence[_Token]) -> str:
    """A number over the digits of its format, from the point outwards, with what is written between them."""
    slots = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    point = next((at for at, token in enumerate(tokens) if token == _Token("mark", ".")), len(tokens))
    whole_slots = [at for at in slots if at < point]
    part_slots = [at for at in slots if at > point][:_MOST_DECIMALS]
    commas = [at for at, token in enumerate(tokens) if token == _Token("mark", ",")]
    last = whole_slots[-1] if whole_slots else slots[-1]
    grouped = any(slots[0] < at < last for at in commas)
    value /= 1000 ** sum(last < at < point or slots[-1] < at for at in commas)
    step = Decimal(1).scaleb(-len(part_slots))
    whole, _, part = f"{value.quantize(step, ROUND_HALF_UP, _WIDE):f}".partition(".")
    texts = dict(
        zip(whole_slots, _whole(whole, [tokens[at].text for at in whole_slots], grouped), strict=True)
    )
    if whole_slots == [] and whole.strip("0"):
        texts[point] = f"{whole}."  # ".00" shows 1.5 as 1.50
    texts |= dict(zip(part_slots, _part(part, [tokens[at].text for at in part_slots]), strict=True))
    return "".join(
        texts.get(at, "" if token.kind == "digit" or token == _Token("mark", ",") else token.text)
        for at, token in enumerate(tokens)
    )


def _whole(digits: str, slots: list[str], grouped: bool) -> list[str]:
    """The digits before the point for each slot; the first takes all that are left."""
    least = len(slots) - slots.index("0") if "0" in slots else 0
    digits = digits.lstrip("0").rjust(least, "0")
    texts = []
    for taken in range(len(slots)):
        last = taken == len(slots) - 1
        own = digits[: len(digits) - taken] if last else digits[len(digits) - taken - 1 : len(digits) - taken]
        if len(digits) <= taken:
            own = ""
        texts.append(_with_commas(own, taken) if grouped else own)
    return texts[::-1]


def _with_commas(digits: str, behind: int) -> str:
    """Digits with `behind` more of them to the right, each group of three ended by a comma."""
    shown = ""
    for number, digit in enumerate(reversed(digits), start=behind):
        comma = "," if number and number % 3 == 0 else ""
        shown = f"{digit}{comma}{shown}"
    return shown


def _part(digits: str, slots: list[str]) -> list[str]:
    """The digits behind the point; those that a format does not insist on end before trailing zeros."""
    kept = max(
        (number for number, (d, s) in enumerate(zip(digits, slots, strict=True)) if d != "0" or s == "0"),
        default=-1,
    )
    return [digit if number <= kept else "" for number, digit in enumerate(digits)]


def _scientific(value: Decimal, tokens: Sequence[_Token], at: int) -> str:
    """Mantissa and exponent; the exponent is a multiple of the digits before the point, as engineers do."""
    mantissa = list(tokens[:at])
    point = next((n for n, token in enumerate(mantissa) if token == _Token("mark", ".")), len(mantissa))
    width = max(sum(token.kind == "digit" for token in mantissa[:point]), 1)
    exponent = value.adjusted() // width * width if value else 0
    sign, zeros = tokens[at].text[0], len(tokens[at].text) - 1
    written = "-" if exponent < 0 else "+" if sign == "+" else ""
    rest = "".join(token.text for token in tokens[at + 1 :])
    return f"{_decimal(value.scaleb(-exponent), mantissa)}E{written}{abs(exponent):0{zeros}d}{rest}"


def _fraction(value: Decimal, tokens: Sequence[_Token]) -> str:
    """A whole number and a fraction whose denominator has as many digits as the format or is the format's."""
    bar = tokens.index(_Token("mark", "/"))
    fixed = "".join(
        token.text for token in tokens[bar + 1 :] if token.kind == "plain" and token.text.isdigit()
    )
    width = sum(token.kind == "digit" for token in tokens[bar + 1 :])
    if fixed:
        denominator = int(fixed + "0" * width)
        fraction = Fraction(round(Fraction(value) * denominator), denominator)
    else:
        fraction = Fraction(value).limit_denominator(10 ** min(max(width, 1), 6) - 1)
    whole, rest = divmod(fraction.numerator, fraction.denominator)
    if not rest:
        return str(whole)
    return f"{whole} {rest}/{fraction.denominator}" if whole else f"{rest}/{fraction.denominator}"
