"""The words and numbers that the page, the console and Dagster tell an evaluation with."""

import math
from collections.abc import Iterable

from rag_pipeline.evaluation.result import CaseResult, Evaluation, GateResult, LifecycleResult, Severity
from rag_pipeline.evaluation.scoring import LOWER_IS_BETTER

_LATENCY = "latency"
_UNIT = "_ms"
_SECOND = 1_000


def verdict(evaluation: Evaluation) -> str:
    """Whether the gates hold, as one sentence."""
    gates = evaluation.gates
    broken = [one for one in gates if not one.passed]
    stopping = [one for one in broken if one.severity is Severity.ERROR]
    if not gates:
        cases = evaluation.cases
        return f"No gate was asked. {sum(one.passed for one in cases):,} of {len(cases):,} cases passed."
    if stopping:
        if len(gates) == 1:
            return "Failed: the one gate is broken."
        return (
            f"Failed: {len(stopping)} of {len(gates)} gates {'is' if len(stopping) == 1 else 'are'} broken."
        )
    if broken:
        holding = f"{len(gates) - len(broken)} of {len(gates)} gates hold"
        return f"Passed with {counted(len(broken), 'warning')}: {holding}."
    return "Passed: the one gate holds." if len(gates) == 1 else f"Passed: all {len(gates)} gates hold."


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def gate_state(gate: GateResult) -> str:
    """One word for how a gate stands."""
    if gate.passed:
        return "holds"
    return "broken" if gate.severity is Severity.ERROR else "warns"


def broken_first(gates: Iterable[GateResult]) -> list[GateResult]:
    """Gates in the order in which a person wants to read them."""
    order = {"broken": 0, "warns": 1, "holds": 2}
    return sorted(gates, key=lambda one: order[gate_state(one)])


def case_state(case: CaseResult | LifecycleResult) -> str:
    """One word for how a case ended."""
    if case.error is not None:
        return "errored"
    return "passed" if case.passed else "failed"


def worst_first(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """Cases that errored, then those that failed, then the others, each in the order of their sets."""
    order = {"errored": 0, "failed": 1, "passed": 2}
    return sorted(cases, key=lambda one: order[case_state(one)])


def words(name: str) -> str:
    """A metric's, gate's or outcome's name as words, without a unit that its values carry."""
    return name.removesuffix(_UNIT).replace("_", " ")


def metric_value(name: str, value: float) -> str:
    """A metric with three decimals; those whose name begins with latency as a time."""
    return milliseconds(value) if is_latency(name) else f"{value:.3f}"


def change(name: str, here: float, there: float) -> str:
    """A metric's difference with its sign; none is told as such."""
    shown = metric_value(name, abs(here - there))
    if shown == metric_value(name, 0):
        return "none"
    return f"{'−' if here < there else '+'}{shown}"


def is_loss(name: str, here: float, there: float) -> bool:
    """Whether a metric is worse here than there."""
    less_is_better = name in LOWER_IS_BETTER or is_latency(name)
    return here > there if less_is_better else here < there


def is_imperfect(name: str, score: float) -> bool:
    """Whether a case's score is not the best that there is."""
    return score > 0 if name in LOWER_IS_BETTER else score < 1


def is_latency(name: str) -> bool:
    """Whether a metric is a time in milliseconds, not a share of 0 to 1."""
    return name.startswith(_LATENCY)


def number(value: float | None) -> str:
    """A gate's value or bound: whole numbers as such, others with three decimals; nothing for none."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3f}"


def milliseconds(value: float) -> str:
    """A time that a person can read."""
    if value >= _SECOND:
        return f"{value / _SECOND:,.2f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def seconds(value: float) -> str:
    """How long an evaluation took."""
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes else f"{value:.1f} s"


def quantile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
