"""Curves of a calibration as SVG, for pages in light or dark colours: of numbers and fixed words only."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rag_pipeline.evaluation.calibrating.fitted import CurvePoint
from rag_pipeline.evaluation.calibrating.proportions import Bin

_WIDTH: Final = 420
_HEIGHT: Final = 320
_LEFT: Final = 56
_TOP: Final = 16
_SIDE: Final = 248
"""Of the square in which both axes run from 0 to 1."""

# Each has enough contrast on white and on black; the dashes tell them apart without colours.
_BLUE: Final = ("#2f7de1", "")
_ORANGE: Final = ("#c9720c", "7 4")
_GREEN: Final = ("#1f9d55", "2 3")


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    style: tuple[str, str]
    value: Callable[[CurvePoint], float | None]


_LINES: Final = (
    _Line("recall", _BLUE, lambda point: point.recall),
    _Line("precision", _ORANGE, lambda point: point.precision),
    _Line("refused", _GREEN, lambda point: point.refused),
)


def threshold_curve(points: Sequence[CurvePoint], threshold: float) -> str:
    """Recall, precision and due refusals over the threshold, with the chosen one marked."""
    title = "Recall, precision and due refusals over the threshold"
    parts = [*_axes("threshold", "share of cases"), *_mark(threshold, "chosen")]
    for number, line in enumerate(_LINES):
        color, dashes = line.style
        path = " ".join(
            f"{_x(point.threshold):.1f},{_y(value):.1f}"
            for point in points
            if (value := line.value(point)) is not None
        )
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        stroke = f'fill="none" stroke="{color}" stroke-width="2"{dashed}'
        parts.append(f'<polyline points="{path}" {stroke}/>')
        height = _TOP + 12 + 20 * number
        at = _LEFT + _SIDE + 14
        parts.append(f'<line x1="{at}" x2="{at + 24}" y1="{height}" y2="{height}" {stroke}/>')
        parts.append(_text(at + 30, height + 4, line.name))
    return _svg(title, parts)


def reliability_diagram(bins: Sequence[Bin], threshold: float) -> str:
    """The share of right chunks over the probability that was predicted, with the threshold marked.

    Each dot is a bin, the larger the more chunks there are in it; a perfect fit lies on the diagonal.
    """
    most = max((one.n for one in bins), default=1)
    parts = [
        *_axes("predicted probability", "share that is right"),
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="currentColor" '
        'stroke-opacity="0.5" stroke-dasharray="4 4"/>',
        *_mark(threshold, "threshold"),
    ]
    path = " ".join(f"{_x(one.predicted):.1f},{_y(one.observed):.1f}" for one in bins)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{_BLUE[0]}" stroke-width="1.5"/>')
    for one in bins:
        radius = 3 + 5 * (one.n / most) ** 0.5
        told = f"{one.n} chunks: predicted {one.predicted:.2f}, right {one.observed:.2f}"
        parts.append(
            f'<circle cx="{_x(one.predicted):.1f}" cy="{_y(one.observed):.1f}" r="{radius:.1f}" '
            f'fill="{_BLUE[0]}"><title>{told}</title></circle>'
        )
    return _svg("Reliability: how often chunks are right, by their predicted probability", parts)


def _axes(across: str, up: str) -> Iterator[str]:
    yield (
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.4"/>'
    )
    for step in range(6):
        value = step / 5
        if 0 < step < 5:
            yield (
                f'<path d="M{_x(value):.1f} {_TOP}V{_TOP + _SIDE}M{_LEFT} {_y(value):.1f}H{_LEFT + _SIDE}" '
                'stroke="currentColor" stroke-opacity="0.12"/>'
            )
        yield _text(_x(value), _TOP + _SIDE + 17, f"{value:.1f}", anchor="middle")
        yield _text(_LEFT - 8, _y(value) + 4, f"{value:.1f}", anchor="end")
    yield _text(_LEFT + _SIDE / 2, _TOP + _SIDE + 38, across, anchor="middle")
    middle = _TOP + _SIDE / 2
    yield (
        f'<text transform="translate(16 {middle:.1f}) rotate(-90)" text-anchor="middle" '
        f'fill="currentColor">{up}</text>'
    )


def _mark(threshold: float, name: str) -> Iterator[str]:
    at = _x(threshold)
    yield (
        f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_TOP + _SIDE}" stroke="currentColor" '
        'stroke-opacity="0.7"/>'
    )
    left = threshold > 0.5
    yield _text(at + (-5 if left else 5), _TOP + _SIDE - 8, name, anchor="end" if left else "start")


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{text}</text>'


def _svg(title: str, parts: Sequence[str]) -> str:
    inside = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{title}" font-family="system-ui, sans-serif" font-size="12"><title>{title}</title>'
        f"{inside}</svg>"
    )


def _x(value: float) -> float:
    return _LEFT + _SIDE * value


def _y(value: float) -> float:
    return _TOP + _SIDE * (1 - value)
