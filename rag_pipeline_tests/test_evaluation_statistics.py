"""Means, intervals and comparisons: what is chance and what is not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rag_pipeline.evaluation.case import Category
from rag_pipeline.evaluation.comparing import compare, loss
from rag_pipeline.evaluation.gates import Gates, Tolerance, floor_gates, live_gates
from rag_pipeline.evaluation.metrics import slices_of
from rag_pipeline.evaluation.result import CaseResult, Dimension, Metric

METRIC = "correctness"


def case(number: int, score: float, *, language: str = "en", metric: str = METRIC) -> CaseResult:
    passed = float(score == 1)
    return CaseResult(
        case_id=f"c{number}", set_name="s", category=Category.ANSWERABLE, language=language, sources=(),
        question="?", groups=(), expected=(), required=(), milliseconds=10.0 + number,
        scores={metric: score, "passed": passed}, failures=() if passed else ("wrong",),
    )  # fmt: skip


def cases(scores: list[float], metric: str = METRIC) -> list[CaseResult]:
    return [case(number, score, metric=metric) for number, score in enumerate(scores)]


def measured(scores: list[float]) -> Metric:
    found = slices_of(cases(scores))[0].metric(METRIC)
    assert found
    return found


def test_the_interval_of_a_share_is_about_what_theory_says() -> None:
    found = measured([1.0] * 160 + [0.0] * 40)
    half = 1.96 * (0.8 * 0.2 / 200) ** 0.5
    assert found.value == pytest.approx(0.8)
    assert found.low == pytest.approx(0.8 - half, abs=0.02)
    assert found.high == pytest.approx(0.8 + half, abs=0.02)


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    random = np.random.default_rng(3)
    held = [
        one.low <= 0.7 <= one.high
        for _ in range(30)
        for one in [measured([float(x) for x in random.random(80) < 0.7])]
    ]
    assert np.mean(held) >= 0.8


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(max_examples=30)
def test_an_interval_holds_its_mean_and_stays_within_the_scores(scores: list[float]) -> None:
    found = measured(scores)
    assert min(scores) - 1e-9 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= max(scores) + 1e-9
    assert found.n == len(scores)


def test_a_metric_counts_only_the_cases_that_it_applies_to() -> None:
    found = slices_of([*cases([1.0, 0.0]), case(9, 1.0, metric="other")])[0]
    metric = found.metric(METRIC)
    assert metric
    assert (metric.n, metric.value) == (2, 0.5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=25)
def test_what_is_the_same_is_no_loss(scores: list[float]) -> None:
    found = compare(cases(scores), cases(scores), "itself")
    assert found.worse == found.better == ()
    assert found.metrics[METRIC][2] == 1.0


def test_a_loss_on_many_cases_is_no_chance_and_on_one_it_may_be() -> None:
    before = cases([1.0] * 40)
    many = compare(cases([1.0] * 30 + [0.0] * 10), before, "before")
    one = compare(cases([1.0] * 39 + [0.0]), before, "before")
    assert many.metrics[METRIC][2] < 0.01
    assert one.metrics[METRIC][2] > 0.2
    assert len(many.worse) == 10
    assert one.worse == ("s/c39",)


def test_gains_and_losses_that_even_out_are_no_loss() -> None:
    found = compare(cases([1.0, 0.0] * 20), cases([0.0, 1.0] * 20), "before")
    assert found.metrics[METRIC][2] == 1.0
    assert len(found.better) == len(found.worse) == 20


def test_more_leaks_are_worse() -> None:
    assert loss("leaked", 0.1, 0.0) == pytest.approx(0.1)
    found = compare(cases([1.0] * 8, "leaked"), cases([0.0] * 8, "leaked"), "before")
    assert found.metrics["leaked"][2] < 0.05


@pytest.mark.parametrize(
    ("lost", "tolerated", "passed"),
    [(10, 0.02, False), (10, 0.5, True), (1, 0.02, True), (0, 0.0, True)],
)
def test_a_loss_counts_where_it_is_more_than_tolerated_and_than_chance(
    lost: int, tolerated: float, passed: bool
) -> None:
    gates = Gates(tolerances=(Tolerance(metric=METRIC, loss=tolerated),))
    here, live = cases([1.0] * (40 - lost) + [0.0] * lost), cases([1.0] * 40)
    errored, gate = live_gates(compare(here, live, "live"), live, here, gates)
    assert errored.passed
    assert gate.passed is passed
    assert gate.name == f"live_{METRIC}"


def test_a_floor_of_every_language_finds_the_one_that_is_low() -> None:
    results = [*cases([1.0] * 9), case(10, 0.0, language="zh"), case(11, 1.0, language="zh")]
    floor = {"name": "languages", "metric": METRIC, "least": 0.9, "each": Dimension.LANGUAGE}
    [gate] = floor_gates(slices_of(results), results, Gates.model_validate({"floors": [floor]}))
    assert not gate.passed
    assert "of zh is 0.500 (2 cases)" in gate.message
    assert gate.cases == ("s/c10",)
    few = {**floor, "least_cases": 3}
    [gate] = floor_gates(slices_of(results), results, Gates.model_validate({"floors": [few]}))
    assert gate.passed


def test_a_floor_that_no_case_bears_on_says_so_and_one_of_a_named_slice_is_broken() -> None:
    floors = [
        {"name": "nothing", "metric": "conflict_handling", "least": 0.1},
        {"name": "absent", "metric": METRIC, "least": 0.1, "each": "language", "only": ["zh"]},
    ]
    results = cases([1.0, 1.0])
    found = list(floor_gates(slices_of(results), results, Gates.model_validate({"floors": floors})))
    assert [one.passed for one in found] == [True, False]
    assert "no case was asked that conflict_handling applies to" in found[0].message
    assert "was not measured for zh" in found[1].message


def test_a_metric_that_live_alone_has_was_lost() -> None:
    gates = Gates(tolerances=(Tolerance(metric=METRIC, loss=0.5),))
    here, live = cases([1.0] * 4, metric="mrr"), cases([1.0] * 4)
    _, gate = live_gates(compare(here, live, "live"), live, here, gates)
    assert not gate.passed
    _, gate = live_gates(compare(here, here, "live"), here, here, gates)
    assert gate.passed, "no case bears on it"


def test_a_live_generation_that_errs_proves_nothing() -> None:
    broken = [one.model_copy(update={"error": "down", "scores": {"passed": 0.0}}) for one in cases([1.0] * 4)]
    [gate] = live_gates(compare(broken, broken, "live"), broken, broken, Gates())
    assert not gate.passed
    assert gate.name == "live_errored"


@pytest.mark.parametrize(
    "gates",
    [
        {"floors": [{"name": "a", "metric": "recal", "least": 0.1}]},
        {"tolerances": [{"metric": "recal", "loss": 0.1}]},
        {"floors": [{"name": "a", "metric": "leaked", "least": 0.1}]},
        {"floors": [{"name": "leaks", "metric": "recall", "least": 0.1}]},
        {"floors": [{"name": "live_recall", "metric": "recall", "least": 0.1}],
         "tolerances": [{"metric": "recall", "loss": 0.1}]},
        {"tolerances": [{"metric": "recall", "loss": 0.1}, {"metric": "recall", "loss": 0.2}]},
    ],
)  # fmt: skip
def test_gates_that_cannot_mean_anything_are_refused(gates: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Gates.model_validate(gates)
