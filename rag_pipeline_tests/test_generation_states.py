"""The states of generations: who may become what, one live, one winner, and what goes with a dropped one."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from rag_pipeline.errors import GenerationConflict
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.generations import Generation, Generations, GenerationState
from rag_pipeline.ledger.ledger import Ledger

ALIAS = "knowledge"


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger(ledger_url, max_attempts=3)
    yield opened
    opened.close()


@pytest.fixture
def generations(ledger: Ledger) -> Generations:
    return ledger.generations


def added(generations: Generations, name: str, *, alias: str = ALIAS) -> None:
    generations.add(Generation(name, alias, f"fingerprint of {name}", {"model": {"dimensions": 3}}))


def made_ready(generations: Generations, name: str, *, alias: str = ALIAS) -> None:
    added(generations, name, alias=alias)
    generations.ready(name)


def states(generations: Generations) -> dict[str, str]:
    return {one.name: one.state.value for one in generations.of_alias(ALIAS)}


def test_a_generation_comes_back_as_it_was_added(generations: Generations) -> None:
    first = Generation("first", ALIAS, "0123", {"model": {"dimensions": 3}})
    second = Generation("second", ALIAS, "4567", {}, created_at=first.created_at + timedelta(seconds=1))
    generations.add(second)
    generations.add(first)
    added(generations, "another's", alias="another")
    assert generations.of_alias(ALIAS) == [first, second], "oldest first"
    assert generations.building(ALIAS) == second
    assert generations.live(ALIAS) is None


def test_a_generation_is_built_promoted_and_followed(generations: Generations) -> None:
    made_ready(generations, "first")
    generations.promote(ALIAS, "first", None)
    made_ready(generations, "second")
    assert states(generations) == {"first": "live", "second": "ready"}
    before = datetime.now(UTC)
    generations.promote(ALIAS, "second", "first")
    assert states(generations) == {"first": "previous", "second": "live"}
    live = generations.live(ALIAS)
    assert live is not None
    assert live.live
    assert live.name == "second"
    assert live.promoted_at is not None
    assert live.promoted_at >= before


def test_a_previous_generation_can_be_live_again(generations: Generations) -> None:
    for name, live in (("first", None), ("second", "first")):
        made_ready(generations, name)
        generations.promote(ALIAS, name, live)
    generations.promote(ALIAS, "first", "second")
    assert states(generations) == {"first": "live", "second": "previous"}


def test_a_generation_says_what_blocks_it_or_why_it_failed(generations: Generations) -> None:
    added(generations, "first")
    generations.blocked("first", "handbook: 3 of 10 documents failed")
    [blocked] = generations.of_alias(ALIAS)
    assert (blocked.state, blocked.reason) == (
        GenerationState.BUILDING,
        "handbook: 3 of 10 documents failed",
    )
    generations.ready("first")
    [ready] = generations.of_alias(ALIAS)
    assert ready.ready_at is not None
    assert ready.reason is None
    generations.fail("first", "a collection was lost")
    [failed] = generations.of_alias(ALIAS)
    assert (failed.state, failed.reason) == (GenerationState.FAILED, "a collection was lost")
    generations.resume("first")
    [resumed] = generations.of_alias(ALIAS)
    assert (resumed.state, resumed.reason, resumed.ready_at) == (GenerationState.BUILDING, None, None)


@pytest.mark.parametrize("state", ["building", "failed", "live", "missing", "another's"])
def test_only_what_is_ready_or_previous_is_promoted(generations: Generations, state: str) -> None:
    made_ready(generations, "live")
    generations.promote(ALIAS, "live", None)
    added(generations, "building")
    added(generations, "failed")
    generations.fail("failed", "no reason")
    made_ready(generations, "another's", alias="another")
    before = states(generations)
    with pytest.raises(GenerationConflict, match=state):
        generations.promote(ALIAS, state, "live")
    assert states(generations) == before


@pytest.mark.parametrize("expected", [None, "second", "missing"])
def test_nothing_is_promoted_over_another_live_one_than_expected(
    generations: Generations, expected: str | None
) -> None:
    made_ready(generations, "first")
    generations.promote(ALIAS, "first", None)
    made_ready(generations, "second")
    with pytest.raises(GenerationConflict, match=r"is first and not .* promote again"):
        generations.promote(ALIAS, "second", expected)
    assert states(generations) == {"first": "live", "second": "ready"}


def test_nothing_is_promoted_in_the_place_of_a_live_one_that_is_gone(generations: Generations) -> None:
    made_ready(generations, "first")
    with pytest.raises(GenerationConflict, match="is none and not lost"):
        generations.promote(ALIAS, "first", "lost")


def test_a_promotion_that_another_process_recorded_already_is_no_conflict(generations: Generations) -> None:
    for name in ("first", "second"):
        made_ready(generations, name)
    generations.promote(ALIAS, "first", None)
    for _ in range(2):
        generations.promote(ALIAS, "second", "first")
    assert states(generations) == {"first": "previous", "second": "live"}


def test_of_two_promotions_at_once_one_wins(generations: Generations) -> None:
    made_ready(generations, "old")
    generations.promote(ALIAS, "old", None)
    names = ["a", "b", "c"]
    for name in names:
        made_ready(generations, name)
    start = threading.Barrier(len(names))
    won: list[str] = []
    refused: list[str] = []

    def promote(name: str) -> None:
        start.wait()
        try:
            generations.promote(ALIAS, name, "old")
            won.append(name)
        except GenerationConflict:
            refused.append(name)

    threads = [threading.Thread(target=promote, args=(name,)) for name in names]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    [winner] = won
    assert sorted([winner, *refused]) == names
    assert states(generations) == {
        "old": "previous",
        **{name: "live" if name == winner else "ready" for name in names},
    }


def test_a_generation_is_not_added_twice_nor_beside_a_live_one(generations: Generations) -> None:
    made_ready(generations, "first")
    generations.promote(ALIAS, "first", None)
    with pytest.raises(GenerationConflict):
        added(generations, "first")
    with pytest.raises(GenerationConflict):
        generations.add(Generation("second", ALIAS, "4567", {}, state=GenerationState.LIVE))
    assert states(generations) == {"first": "live"}


def test_what_was_live_neither_fails_nor_is_built_again(generations: Generations) -> None:
    for name, live in (("first", None), ("second", "first")):
        made_ready(generations, name)
        generations.promote(ALIAS, name, live)
    for name, state in (("first", "previous"), ("second", "live")):
        with pytest.raises(GenerationConflict, match=f"{name} cannot become failed: it is {state}"):
            generations.fail(name, "no reason")
        with pytest.raises(GenerationConflict, match="building"):
            generations.resume(name)
        with pytest.raises(GenerationConflict, match="ready"):
            generations.ready(name)
    with pytest.raises(GenerationConflict, match="there is none of that name"):
        generations.ready("missing")


def test_a_dropped_generation_takes_what_was_recorded_for_it_along(ledger: Ledger) -> None:
    made_ready(ledger.generations, "first")
    ledger.generations.promote(ALIAS, "first", None)
    added(ledger.generations, "second")
    for name in ("first", "second"):
        document = IndexedDocument(
            document_id="handbook/a.md",
            source_id="handbook",
            content_hash="hash",
            normalized_key="normalized",
            chunks_key="chunks",
            facts={"access_groups": ["support"]},
            chunk_count=1,
            failed_chunks=(),
        )
        ledger.documents.record(name, [document])
        ledger.documents.bury(name, "handbook", ["handbook/b.md"])
        ledger.reconciliations.record(name, "handbook", reconciled=True, report={}, seconds=1.0)
        ledger.waivers.record(name, "handbook", waived_by="someone", reason="3 of 10 failed")
    ledger.generations.drop("second")
    ledger.generations.drop("second")
    assert states(ledger.generations) == {"first": "live"}
    for name, kept in (("first", 1), ("second", 0)):
        assert len(ledger.documents.of_source(name, "handbook")) == kept
        assert len(ledger.documents.pending_tombstones(name, "handbook")) == kept
        assert len(ledger.reconciliations.of_generation(name)) == kept
        assert len(ledger.waivers.of_generation(name)) == kept
    with pytest.raises(GenerationConflict, match="first is live, so it stays"):
        ledger.generations.drop("first")
    assert len(ledger.documents.of_source("first", "handbook")) == 1


def test_a_waiver_names_who_waived_what(ledger: Ledger) -> None:
    ledger.waivers.record("first", "handbook", waived_by="a person", reason="1 of 10 failed")
    later = ledger.waivers.record("first", "handbook", waived_by="another", reason="3 of 10 failed")
    assert ledger.waivers.of_generation("first") == {"handbook": later}
    assert (later.waived_by, later.reason) == ("another", "3 of 10 failed")
    assert ledger.waivers.of_generation("second") == {}
