"""What is durably known of each source, which the sensor compares with what the source holds."""

from collections.abc import Iterator

import pytest

from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.ledger.source_states import SourceState, SourceStates


@pytest.fixture
def states(ledger_url: str) -> Iterator[SourceStates]:
    ledger = Ledger(ledger_url, max_attempts=3)
    yield ledger.source_states
    ledger.close()


def test_of_a_source_that_was_never_listed_nothing_is_known(states: SourceStates) -> None:
    assert states.of("handbook") == SourceState("handbook")
    assert states.all() == {}


def test_a_source_counts_as_indexed_only_once_a_run_has_settled_it(states: SourceStates) -> None:
    states.begin("handbook")
    states.listed("handbook", "look-1", {"a.md": "hash"})
    begun = states.of("handbook")
    assert (begun.signature, begun.listed_signature, begun.attempts) == (None, "look-1", 1)
    assert begun.attempted_at is not None
    states.settle("handbook")
    settled = states.of("handbook")
    assert (settled.signature, settled.in_doubt, settled.attempts) == ("look-1", {"a.md": "hash"}, 0)
    assert settled.indexed_at is not None
    assert settled.indexed_at.utcoffset() is not None
    assert states.all() == {"handbook": settled}


def test_runs_that_do_not_settle_count_until_the_source_looks_different(states: SourceStates) -> None:
    for attempts in (1, 2, 3):
        states.begin("handbook")
        states.listed("handbook", "look-1", {})
        assert states.of("handbook").attempts == attempts
    states.begin("handbook")
    states.listed("handbook", "look-2", {})
    assert states.of("handbook").attempts == 1


def test_an_attempt_counts_even_if_the_source_could_not_be_listed(states: SourceStates) -> None:
    states.begin("handbook")
    states.begin("handbook")
    assert states.of("handbook").attempts == 2


def test_a_dropped_source_is_as_one_that_never_was(states: SourceStates) -> None:
    for source_id in ("handbook", "runbooks"):
        states.begin(source_id)
        states.listed(source_id, "look-1", {})
        states.settle(source_id)
    states.drop("handbook")
    assert states.of("handbook") == SourceState("handbook")
    assert states.all().keys() == {"runbooks"}


def test_with_another_live_generation_no_source_counts_as_indexed(states: SourceStates) -> None:
    for source_id in ("handbook", "runbooks"):
        states.begin(source_id)
        states.listed(source_id, "look-1", {})
        states.settle(source_id)
    states.forget_indexed()
    assert [one.signature for one in states.all().values()] == [None, None]
