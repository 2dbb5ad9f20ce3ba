"""A calibration in the ledger decides what passes, in the place of the model's default."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.index.store import StoreLocation
from rag_pipeline.ledger.calibrations import StoredCalibration
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.fitted import FittedCalibrations
from rag_pipeline.query.relevance.signals import ScriptPair
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline_tests.knowledge_base import scope_of
from rag_pipeline_tests.shelf import Book, Shelf, open_shelf

QUESTION = "hardware return window"


@pytest.fixture
def shelf(store_location: StoreLocation, ledger: Ledger, alias: str) -> Iterator[Shelf]:
    with open_shelf(store_location, ledger, alias) as opened:
        opened.put([Book("s/returns", ["The return window for hardware is thirty days."])])
        yield opened


def calibration_of(fitted_for: str, *, intercept: float) -> Calibration:
    """Every chunk gets the same relevance, whatever its signals."""
    weights = Weights(intercept=intercept, dense=0.0, coverage=0.0)
    return Calibration(fitted_for=fitted_for, weights=dict.fromkeys(ScriptPair, weights))


def fingerprint_of(shelf: Shelf) -> str:
    live = shelf.ledger.generations.live(shelf.alias)
    assert live is not None
    return live.fingerprint


def put(shelf: Shelf, calibration: dict[str, Any]) -> None:
    shelf.ledger.calibrations.record(
        StoredCalibration(fingerprint_of(shelf), calibration, 40, datetime.now(UTC))
    )


def relevances(shelf: Shelf, options: RetrievalOptions | None = None) -> list[float]:
    (result,) = shelf.ask([QUESTION], scope_of(), options or RetrievalOptions())
    return [chunk.relevance for chunk in result.chunks]


def test_the_stored_calibration_decides_what_passes_until_it_is_removed(shelf: Shelf) -> None:
    default = relevances(shelf)
    assert default
    put(shelf, calibration_of(fingerprint_of(shelf), intercept=-3).model_dump(mode="json"))
    assert relevances(shelf) == []
    put(shelf, calibration_of(fingerprint_of(shelf), intercept=0).model_dump(mode="json"))
    assert relevances(shelf) == [0.5]
    assert shelf.ledger.calibrations.forget(fingerprint_of(shelf))
    assert relevances(shelf) == default


def test_a_calibration_that_the_caller_gives_counts_before_the_stored_one(shelf: Shelf) -> None:
    put(shelf, calibration_of(fingerprint_of(shelf), intercept=-3).model_dump(mode="json"))
    given = RetrievalOptions(calibration=calibration_of("whatever", intercept=0))
    assert relevances(shelf, given) == [0.5]


def test_a_calibration_of_other_vectors_ends_the_request_and_says_what_to_do(shelf: Shelf) -> None:
    put(shelf, calibration_of("other", intercept=3).model_dump(mode="json"))
    with pytest.raises(ConfigurationError, match=r"was fitted for other, .* eval calibrate"):
        relevances(shelf)


@pytest.mark.parametrize(
    "damage",
    [{"weights": {}}, {"threshold": 1.5}, {"threshold": float("nan")}, {"version": "two"}, {"more": 1}],
)
def test_a_damaged_calibration_ends_the_request(ledger: Ledger, damage: dict[str, Any]) -> None:
    sound = calibration_of("f", intercept=0).model_dump(mode="json")
    stored = StoredCalibration("f", sound, 40, datetime.now(UTC))
    ledger.calibrations.record(stored)
    assert FittedCalibrations().of("f", ledger.calibrations)
    ledger.calibrations.record(replace(stored, calibration=sound | damage))
    with pytest.raises(ConfigurationError, match="cannot be used"):
        FittedCalibrations().of("f", ledger.calibrations)


def test_what_is_stored_is_read_once_and_followed_after_a_while(ledger: Ledger) -> None:
    kept, followed = Baselines().calibrations, FittedCalibrations(kept_seconds=0)
    assert kept.of("f", ledger.calibrations) is followed.of("f", ledger.calibrations) is None
    calibration = calibration_of("f", intercept=0)
    stored = StoredCalibration("f", calibration.model_dump(mode="json"), 40, datetime.now(UTC))
    ledger.calibrations.record(stored)
    assert kept.of("f", ledger.calibrations) is None
    assert followed.of("f", ledger.calibrations) == calibration
    kept.forget()
    assert kept.of("f", ledger.calibrations) == calibration
