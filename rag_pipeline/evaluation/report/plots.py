"""Plots as SVG: bars of pass rates with their intervals, and the distribution of latencies.

Positions are percentages, so that a plot is as wide as its place without its text being stretched; colours
are the page's, by class.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rag_pipeline.evaluation.calibrating.proportions import wilson_interval
from rag_pipeline.evaluation.report.phrases import (
    is_latency,
    is_loss,
    milliseconds,
    quantile,
    words,
)
from rag_pipeline.evaluation.result import CaseResult, Slice

_EDGES = tuple(float(step * 10**power) for power in range(5) for step in (1, 2, 5))
"""Where a latency's bar ends and the next begins, in milliseconds: 1, 2, 5, 10 up to 50,000."""

_ERROR = "error"
_PLOT_HEIGHT = 120
_PLOT_TOP = 18
_WIDEST_BAR = 20.0
_FULL_CHANGE = 0.1

# A picture that stands alone brings its colours along, and its ground, since it may be shown on any.
_STANDALONE_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#18222c}.ground{fill:#fff}.bar{fill:#1c6b8c}"
    ".short{fill:#d98a66}.whisker{stroke:#18222c;stroke-width:1.5}"
)
_ROW, _LABELS, _BARS, _WIDTH = 26, 130, 300, 560


def pass_bar(part: Slice) -> Markup:
    """The share of a slice's cases that passed, with its 95 % interval as a whisker."""
    low, high = wilson_interval(part.passed, part.n)
    rate = part.passed / part.n if part.n else 0.0
    return Markup(
        '<svg class="bar-plot" width="100%" height="16" role="img" aria-label="{label}">'
        '<rect class="bar short" width="100%" height="9"/>'
        '<rect class="bar" width="{rate:.2f}%" height="9"/>'
        '<line class="whisker" x1="{low:.2f}%" x2="{high:.2f}%" y1="13" y2="13"/>'
        '<line class="whisker" x1="{low:.2f}%" x2="{low:.2f}%" y1="10" y2="16"/>'
        '<line class="whisker" x1="{high:.2f}%" x2="{high:.2f}%" y1="10" y2="16"/></svg>'
    ).format(
        label=f"{part.passed} of {part.n} passed, 95 % interval {low:.0%} to {high:.0%}",
        rate=rate * 100,
        low=low * 100,
        high=high * 100,
    )


def pass_picture(slices: Sequence[Slice]) -> Markup:
    """The pass rates of slices as one picture that stands alone."""
    height = _ROW * len(slices) + 16
    parts = [
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><style>{style}</style>'
            '<rect class="ground" width="100%" height="100%"/>'
        ).format(width=_WIDTH, height=height, style=_STANDALONE_STYLE)
    ]
    for row, part in enumerate(slices):
        low, high = wilson_interval(part.passed, part.n)
        parts.append(
            Markup(
                '<g transform="translate(0 {top})"><text x="8" y="17">{name}</text>'
                '<rect class="bar short" x="{left}" y="5" width="{bars}" height="11"/>'
                '<rect class="bar" x="{left}" y="5" width="{rate:.1f}" height="11"/>'
                '<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="20" y2="20"/>'
                '<text x="{right}" y="17">{passed} of {n}</text></g>'
            ).format(
                top=_ROW * row + 8,
                name=words(part.name),
                left=_LABELS,
                bars=_BARS,
                rate=_BARS * part.passed / part.n if part.n else 0.0,
                low=_LABELS + _BARS * low,
                high=_LABELS + _BARS * high,
                right=_LABELS + _BARS + 12,
                passed=part.passed,
                n=part.n,
            )
        )
    return Markup("").join([*parts, Markup("</svg>")])


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many cases that expected something were given an outcome, and whether that was right."""

    given: str
    count: int
    right: bool


def outcome_matrix(cases: Sequence[CaseResult]) -> tuple[list[str], list[tuple[str, list[OutcomeCount]]]]:
    """What was given, and for each expectation a row of counts in that order. An error is an outcome here."""
    counts = Counter((one.expected, _given(one)) for one in cases)
    given = sorted({name for _, name in counts}, key=lambda name: (name == _ERROR, name))
    rows = [
        (
            " or ".join(words(one) for one in expected),
            [OutcomeCount(name, counts[expected, name], name in expected) for name in given],
        )
        for expected in sorted({one for one, _ in counts})
    ]
    return given, rows


def _given(case: CaseResult) -> str:
    return _ERROR if case.outcome is None else case.outcome.value


def change_bar(name: str, here: float, there: float) -> Markup:
    """By how much a metric changed: to the right from the middle what was won, to the left what was lost.

    A tenth fills a side. Nothing for latencies, which have no such scale.
    """
    if is_latency(name):
        return Markup("")
    length = min(abs(here - there) / _FULL_CHANGE, 1.0) * 50
    lost = is_loss(name, here, there)
    return Markup(
        '<svg class="change-bar" width="100%" height="14" aria-hidden="true">'
        '<rect class="bar{short}" x="{left:.2f}%" y="2" width="{length:.2f}%" height="10"/>'
        '<line class="axis" x1="50%" x2="50%" y1="-4" y2="18"/></svg>'
    ).format(short=" short" if lost else "", left=50 - length if lost else 50, length=length)


def latency_plot(times: Sequence[float]) -> Markup:
    """How many of some times, at least one, are how long; each bar stands for about twice the last one's."""
    counts = Counter(bisect_right(_EDGES, one) for one in times)
    first, last = min(counts), max(counts)
    step = min(100 / (last - first + 1), _WIDEST_BAR)
    highest = max(counts.values())
    bottom = _PLOT_TOP + _PLOT_HEIGHT
    parts: list[Markup] = []
    for number in range(first, last + 1):
        count = counts.get(number, 0)
        height = _PLOT_HEIGHT * count / highest
        left = step * (number - first)
        parts.append(
            Markup(
                '<rect class="bar" x="{left:.2f}%" y="{top:.1f}" width="{width:.2f}%" height="{height:.1f}"/>'
                '<text class="muted" x="{middle:.2f}%" y="{label}">{edge}</text>'
            ).format(
                left=left + step * 0.06,
                top=bottom - height,
                width=step * 0.88,
                height=height,
                middle=left + step / 2,
                label=bottom + 16,
                edge=_upper_edge(number),
            )
        )
        if count:
            parts.append(
                Markup('<text x="{middle:.2f}%" y="{y:.1f}">{count:,}</text>').format(
                    middle=left + step / 2, y=bottom - height - 5, count=count
                )
            )
    label = f"Half of the cases took at most {milliseconds(quantile(times, 0.5))}"
    return Markup(
        '<svg class="histogram" width="100%" height="{height}" role="img" aria-label="{label}">{parts}'
        '<line class="axis" x1="0" x2="100%" y1="{bottom}" y2="{bottom}"/></svg>'
    ).format(height=bottom + 22, label=label, parts=Markup("").join(parts), bottom=bottom)


def _upper_edge(number: int) -> str:
    if number == len(_EDGES):
        return f"≥ {_EDGES[-1] / 1000:.0f} s"
    edge = _EDGES[number]
    return f"< {edge / 1000:.0f} s" if edge >= 1000 else f"< {edge:.0f}"
