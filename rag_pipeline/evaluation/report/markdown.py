"""An evaluation as Markdown, for Dagster's metadata: short, since the page tells all."""

import base64
import re
from collections.abc import Iterable, Sequence

from rag_pipeline.evaluation.report import phrases
from rag_pipeline.evaluation.report.plots import pass_picture
from rag_pipeline.evaluation.result import Comparison, Dimension, Evaluation, GateResult, Slice

_CASES_TOLD = 10
_LONGEST = 300
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~:&-])")


def markdown_summary(evaluation: Evaluation) -> str:
    """The verdict, the gates, what passed by category, failed lifecycle cases, and what changed."""
    parts = [
        f"**{phrases.verdict(evaluation)}** Generation {_plain(evaluation.generation)}, "
        f"{phrases.counted(len(evaluation.cases), 'case')} in {phrases.seconds(evaluation.seconds)}.",
        _gates(evaluation.gates),
        _categories([evaluation.overall, *_by_category(evaluation)]),
        *(
            f"Lifecycle case {_plain(one.case_id)} failed: {_plain(one.error or '; '.join(one.failures))}"
            for one in evaluation.lifecycle
            if not one.passed
        ),
        *(_changes(one) for one in evaluation.comparisons),
    ]
    return "\n\n".join(part for part in parts if part)


def category_plot(evaluation: Evaluation) -> str:
    """The pass rates of categories as a picture in Markdown; nothing if there are none.

    Dagster's UI lets data: addresses of images through, and a browser runs nothing inside of an image.
    """
    slices = _by_category(evaluation)
    if not slices:
        return ""
    picture = base64.b64encode(pass_picture(slices).encode()).decode()
    return f"![Share of cases that passed, by category](data:image/svg+xml;base64,{picture})"


def _by_category(evaluation: Evaluation) -> list[Slice]:
    return [one for one in evaluation.slices if one.dimension is Dimension.CATEGORY]


def _gates(gates: Sequence[GateResult]) -> str:
    if not gates:
        return ""
    rows = [
        (
            phrases.gate_state(one),
            _plain(phrases.words(one.name)),
            phrases.number(one.value),
            phrases.number(one.bound),
            " ".join([_plain(one.message), *([_cases(one.cases)] if one.cases else [])]),
        )
        for one in phrases.broken_first(gates)
    ]
    return _table(("gate", "", "value", "bound", "what was found"), rows, right=(2, 3))


def _categories(slices: Sequence[Slice]) -> str:
    rows = [
        (
            _plain(phrases.words(one.name)),
            str(one.n),
            str(one.passed),
            str(one.n - one.passed - one.errored),
            str(one.errored),
            str(one.refused),
        )
        for one in slices
    ]
    return _table(
        ("category", "cases", "passed", "failed", "errored", "refused"), rows, right=(1, 2, 3, 4, 5)
    )


def _changes(comparison: Comparison) -> str:
    told = [f"Against {_plain(comparison.other)}, {phrases.counted(comparison.n, 'case')} in common:"]
    for word, cases in (("worse", comparison.worse), ("better", comparison.better)):
        told.append(f"{len(cases)} {word}{f' ({_cases(cases)})' if cases else ''}")
    return f"{told[0]} {', '.join(told[1:])}."


def _cases(names: Sequence[str]) -> str:
    more = len(names) - _CASES_TOLD
    told = ", ".join(_plain(one) for one in names[:_CASES_TOLD])
    return f"{told} and {more} more" if more > 0 else told


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int]) -> str:
    rule = ["--:" if column in right else ":--" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _plain(text: str) -> str:
    """A text on one line, not too long, of which Markdown makes nothing: no markup, no link, no table."""
    line = " ".join(text.split())
    return _SPECIAL.sub(r"\\\1", line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …")
