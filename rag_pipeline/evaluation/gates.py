"""Gates: what must hold of an evaluation before readers may see its generation.

Some hold always: nothing leaks, no injection is obeyed, few cases err, gold stands, passages are those that
were indexed, vectors are the model's, relevance is told by a calibration of its own, and lifecycle cases
pass. `gates.yaml` adds floors of metrics and how much may be lost to live.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from rag_pipeline.evaluation.comparing import loss
from rag_pipeline.evaluation.gold import StaleGold
from rag_pipeline.evaluation.judging import Judged
from rag_pipeline.evaluation.metrics import groups_of, scores_by_name
from rag_pipeline.evaluation.question_sets import GATES_FILE, load_model
from rag_pipeline.evaluation.result import (
    CaseResult,
    Comparison,
    Dimension,
    GateResult,
    LifecycleResult,
    Severity,
    Slice,
)
from rag_pipeline.evaluation.scoring import INTEGRITY, LEAKED, LOWER_IS_BETTER, METRICS, OBEYED

LEAKS: Final = "leaks"
INJECTIONS: Final = "injections_obeyed"
ERRORED: Final = "errored"
TEXT_INTEGRITY: Final = "text_integrity"
GOLD: Final = "gold"
LIFECYCLE: Final = "lifecycle"
JUDGE: Final = "judge"
LIVE_ERRORED: Final = "live_errored"


def _known_metric(value: str) -> str:
    if value not in METRICS:
        raise ValueError(f"there is no metric {value!r}; there are {', '.join(sorted(METRICS))}")
    return value


MetricName = Annotated[str, AfterValidator(_known_metric)]
GateName = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Floor(_Strict):
    """The least that a metric may be, of all cases or of every slice of a dimension."""

    name: GateName
    metric: MetricName
    least: Share
    each: Dimension = Dimension.ALL
    """Of what: all, or each category, language or source by itself."""
    only: tuple[str, ...] = ()
    """Only these categories, languages or sources."""
    least_cases: Annotated[int, Field(ge=1)] = 1
    """Slices of fewer cases say too little, and are left out."""
    severity: Severity = Severity.ERROR

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.metric in LOWER_IS_BETTER:
            raise ValueError(f"{self.metric} has no floor, since less of it is better")
        return self


class Tolerance(_Strict):
    """How much of a metric may be lost to the live generation, where a paired test says that it was lost."""

    metric: MetricName
    loss: Share
    severity: Severity = Severity.ERROR


class Gates(_Strict):
    """What is asked of an evaluation."""

    most_errored: Share = 0.02
    """Share of the cases that may end by an error."""
    most_judge_errors: Share = 0.02
    """Share of a judge's judgements that may fail."""
    significance: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """How improbable a loss must be by chance before it counts as one."""
    floors: tuple[Floor, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()

    @model_validator(mode="after")
    def _unique(self) -> Self:
        names = [*(one.name for one in self.floors), *(live_name(one.metric) for one in self.tolerances)]
        if twice := next((one for number, one in enumerate(names) if one in names[:number]), None):
            raise ValueError(f"the gate {twice} is there twice")
        if taken := set(names) & set(FIXED):
            raise ValueError(f"a gate of its own is called {', '.join(sorted(taken))}")
        return self


def live_name(metric: str) -> str:
    """What the gate is called that holds a metric against live's."""
    return f"live_{metric}"


FIXED: Final[Mapping[str, str]] = {
    LEAKS: "Nothing that a caller may not see was found, told or said.",
    INJECTIONS: "No instruction in a question or document was obeyed.",
    ERRORED: "Few cases ended by an error.",
    GOLD: "Every quote of the question sets still stands in its document.",
    TEXT_INTEGRITY: "Every passage is word for word the one that was indexed.",
    "vectors": "The stored vectors are those that the embedding model gives today.",
    "calibration": "Relevance is told by a calibration that was made for this model.",
    LIFECYCLE: "What is updated, deleted or revoked is so for readers, and nothing of it is left.",
    JUDGE: "The model that judges answers did its work, where there is one.",
}
"""The gates that every evaluation has, and what each says."""


def load_gates(folder: Path) -> Gates:
    """The gates of a folder of question sets; those that always hold alone where it has no gates.yaml.

    Raises BadQuestionSet where the file cannot be used.
    """
    file = folder / GATES_FILE
    return load_model(file, Gates) if file.exists() else Gates()


def case_gates(cases: Sequence[CaseResult], gates: Gates) -> Iterator[GateResult]:
    """The gates that ask something of every case."""
    yield _none(LEAKS, cases, LEAKED, 1, "leak")
    yield _none(INJECTIONS, cases, OBEYED, 1, "obey")
    yield _none(TEXT_INTEGRITY, cases, INTEGRITY, 0, "rest on changed texts")
    yield errored_gate(ERRORED, cases, gates)


def errored_gate(name: str, cases: Sequence[CaseResult], gates: Gates) -> GateResult:
    """Whether few enough cases ended by an error."""
    errored = [one for one in cases if one.error is not None]
    share = len(errored) / len(cases) if cases else 0.0
    return GateResult(
        name=name,
        passed=share <= gates.most_errored,
        severity=Severity.ERROR,
        message=f"{len(errored)} of {len(cases)} cases ended by an error"
        + (f", the first one since {errored[0].error}" if errored else ""),
        value=share,
        bound=gates.most_errored,
        cases=tuple(one.key for one in errored),
    )


def gold_gate(stale: Sequence[StaleGold]) -> GateResult:
    """Whether all gold stands. It only warns: what is wrong is the question set, and its cases show that."""
    cases = tuple(dict.fromkeys(f"{one.set_name}/{one.case_id}" for one in stale))
    return GateResult(
        name=GOLD,
        passed=not stale,
        severity=Severity.WARN,
        message=f"the gold of {len(cases)} cases does not stand in its document"
        + (f", as {cases[0]} does: {stale[0].document}: {stale[0].reason}" if stale else ""),
        value=float(len(cases)),
        bound=0,
        cases=cases,
    )


def lifecycle_gate(results: Sequence[LifecycleResult]) -> GateResult:
    """Whether every lifecycle case passed."""
    failed = [one for one in results if not one.passed]
    return GateResult(
        name=LIFECYCLE,
        passed=not failed,
        severity=Severity.ERROR,
        message="; ".join(f"{one.case_id}: {one.error or one.failures[0]}" for one in failed)
        or f"{len(results)} cases passed",
        value=float(len(failed)),
        bound=0,
        cases=tuple(f"{one.set_name}/{one.case_id}" for one in failed),
    )


def judge_gate(judged: Judged, gates: Gates) -> GateResult:
    """Whether a model that judges answers did its work: what it could not say must not pass for good."""
    return GateResult(
        name=JUDGE,
        passed=judged.error_share <= gates.most_judge_errors,
        severity=Severity.ERROR,
        message=f"{len(judged.errors)} of {judged.asked} judgements of {judged.model} failed"
        + (f", the first one since {judged.errors[0].reason}" if judged.errors else ""),
        value=judged.error_share,
        bound=gates.most_judge_errors,
        cases=tuple(dict.fromkeys(one.case for one in judged.errors)),
    )


def floor_gates(slices: Sequence[Slice], cases: Sequence[CaseResult], gates: Gates) -> Iterator[GateResult]:
    """Whether every floor holds. One for whose metric no case was asked only says so."""
    for floor in gates.floors:
        looked_at = [
            (one, metric)
            for one in slices
            if one.dimension is floor.each and (not floor.only or one.name in floor.only)
            if (metric := one.metric(floor.metric)) and metric.n >= floor.least_cases
        ]
        absent = set(floor.only) - {one.name for one, _ in looked_at}
        low = [(one, metric) for one, metric in looked_at if metric.value < floor.least]
        worst = min((metric.value for _, metric in looked_at), default=None)
        if absent:
            message = f"{floor.metric} was not measured for {', '.join(sorted(absent))}"
        elif not looked_at:
            message = f"no case was asked that {floor.metric} applies to"
        else:
            message = (
                "; ".join(
                    f"{floor.metric} of {one.name} is {metric.value:.3f} ({metric.n} cases)"
                    for one, metric in low
                )
                or f"{floor.metric} is {worst:.3f} or better"
            )
        yield GateResult(
            name=floor.name,
            passed=not low and not absent,
            severity=floor.severity,
            message=message,
            value=worst,
            bound=floor.least,
            cases=tuple(
                one.key
                for one in cases
                if one.scores.get(floor.metric, 1.0) < 1
                and any((each.dimension, each.name) in groups_of(one) for each, _ in low)
            ),
        )


def live_gates(
    comparison: Comparison, live: Sequence[CaseResult], here: Sequence[CaseResult], gates: Gates
) -> Iterator[GateResult]:
    """Whether more was lost to the live generation than is tolerated, and more than chance explains.

    A metric that live has and this one has not was lost altogether. Errors of live's own would make anything
    look good beside it.
    """
    yield errored_gate(LIVE_ERRORED, live, gates)
    ours, theirs = scores_by_name(here), scores_by_name(live)
    for tolerance in gates.tolerances:
        name, metric = live_name(tolerance.metric), tolerance.metric
        if metric not in comparison.metrics:
            lost_wholly = metric in theirs
            both = f"{metric} was measured {'in live alone' if lost_wholly else 'in neither'}"
            yield GateResult(
                name=name,
                passed=not lost_wholly,
                severity=tolerance.severity,
                message=both if metric not in ours else f"{metric} was measured here alone",
            )
            continue
        mean, before, chance = comparison.metrics[metric]
        lost = loss(metric, mean, before)
        yield GateResult(
            name=name,
            passed=lost <= tolerance.loss or chance > gates.significance,
            severity=tolerance.severity,
            message=f"{metric} is {mean:.3f} here and {before:.3f} in {comparison.other} "
            f"(by chance: {chance:.3f})",
            value=lost,
            bound=tolerance.loss,
            cases=tuple(
                key
                for key, score in ours[metric].items()
                if key in theirs[metric] and loss(metric, score, theirs[metric][key]) > 0
            ),
        )


def _none(name: str, cases: Sequence[CaseResult], score: str, wrong: float, verb: str) -> GateResult:
    judged = [one for one in cases if score in one.scores]
    found = [one for one in judged if one.scores[score] == wrong]
    return GateResult(
        name=name,
        passed=not found,
        severity=Severity.ERROR,
        message=f"{len(found)} of {len(judged)} cases {verb}",
        value=float(len(found)),
        bound=0,
        cases=tuple(one.key for one in found),
    )
