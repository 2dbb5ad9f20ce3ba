"""What the command line shows of an evaluation: its gates, its categories, and the cases that are wrong."""

from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from rag_pipeline.console import console, shown
from rag_pipeline.evaluation.calibrating.fitted import Fitted
from rag_pipeline.evaluation.calibrating.proportions import Rate
from rag_pipeline.evaluation.report import phrases
from rag_pipeline.evaluation.result import CaseResult, Comparison, Dimension, Evaluation, LifecycleResult

_CASES_SHOWN = 50
_STATE_STYLES = {"broken": "red", "warns": "yellow", "holds": "green", "errored": "red", "failed": "red"}


def show_evaluation(evaluation: Evaluation) -> None:
    """All of it that a person needs to know what to do next; the last line says whether the gates hold."""
    _show_categories(evaluation)
    _show_failed([*evaluation.lifecycle, *phrases.worst_first(evaluation.cases)])
    for comparison in evaluation.comparisons:
        _show_changes(comparison)
    _show_gates(evaluation)
    color = "green" if evaluation.passed else "red"
    console.print(
        f"[{color}]{phrases.verdict(evaluation)}[/{color}] {shown(evaluation.generation)}, "
        f"{phrases.counted(len(evaluation.cases), 'case')} in {phrases.seconds(evaluation.seconds)}"
    )


def _show_categories(evaluation: Evaluation) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("category", no_wrap=True)
    for name in ("cases", "passed", "failed", "errored", "refused"):
        table.add_column(name, justify="right", no_wrap=True)
    categories = [one for one in evaluation.slices if one.dimension is Dimension.CATEGORY]
    for one in [*categories, evaluation.overall]:
        failed = one.n - one.passed - one.errored
        table.add_row(
            shown(phrases.words(one.name)),
            f"{one.n:,}",
            f"{one.passed:,}",
            *(f"[red]{count:,}[/red]" if count else "0" for count in (failed, one.errored)),
            f"{one.refused:,}",
        )
    console.print(table)


def _show_failed(cases: Sequence[CaseResult | LifecycleResult]) -> None:
    failed = [one for one in cases if not one.passed]
    for one in failed[:_CASES_SHOWN]:
        console.print(
            f"[bold]{shown(f'{one.set_name}/{one.case_id}')}[/bold] {_state(phrases.case_state(one))}"
        )
        asked = one.question if isinstance(one, CaseResult) else f"{one.action} {one.document}"
        console.print(f"  {shown(asked)}")
        for reason in (*((one.error,) if one.error is not None else ()), *one.failures):
            console.print(f"  - {shown(reason)}")
    if len(failed) > _CASES_SHOWN:
        console.print(f"And {len(failed) - _CASES_SHOWN:,} more; --html and --json tell all.")


def _show_changes(comparison: Comparison) -> None:
    console.print(
        f"Against {shown(comparison.other)}, {phrases.counted(comparison.n, 'case')} in common: "
        f"{len(comparison.worse)} worse, {len(comparison.better)} better"
    )
    for color, word, names in (("red", "worse", comparison.worse), ("green", "better", comparison.better)):
        for name in names[:_CASES_SHOWN]:
            console.print(f"  [{color}]{word}[/{color}] {shown(name)}")
        if len(names) > _CASES_SHOWN:
            console.print(f"  and {len(names) - _CASES_SHOWN:,} more")


def _show_gates(evaluation: Evaluation) -> None:
    if not evaluation.gates:
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("gate", no_wrap=True)
    table.add_column("")
    for name in ("value", "bound"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what was found", overflow="fold")
    for one in phrases.broken_first(evaluation.gates):
        table.add_row(
            _state(phrases.gate_state(one)),
            shown(phrases.words(one.name)),
            escape(phrases.number(one.value)),
            escape(phrases.number(one.bound)),
            shown(one.message),
        )
    console.print(table)


def _state(word: str) -> str:
    return f"[{_STATE_STYLES[word]}]{word}[/{_STATE_STYLES[word]}]"


def show_fitted(fitted: Fitted) -> None:
    """What a fit promises on cases that were not fitted, beside the default, and what is to be doubted."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    for name in ("answerable refused", "unanswerable refused"):
        table.add_column(name, justify="right")
    for name, refusals in (("fitted", fitted.refusals), ("default", fitted.default_refusals)):
        table.add_row(name, _rate(refusals.false), _rate(refusals.due))
    console.print(table)
    console.print(
        f"{fitted.answerable} answerable and {fitted.unanswerable} unanswerable cases, wanted at most "
        f"{fitted.wanted_false_refusals:.3f} answerable refused"
    )
    for warning in fitted.warnings:
        console.print(f"[yellow]{shown(warning)}[/yellow]")


def _rate(rate: Rate | None) -> str:
    return f"{rate.value:.3f} ({rate.low:.3f}-{rate.high:.3f})" if rate else "-"
