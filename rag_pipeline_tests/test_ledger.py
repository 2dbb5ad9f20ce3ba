"""The SQL record: dead letters, vectors, documents with their tombstones, and opening it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import ConfigurationError, DocumentError, FailureCategory, LedgerError
from rag_pipeline.ledger.dead_letters import Failure, letter_id
from rag_pipeline.ledger.documents import CurrentVersion, IndexedDocument
from rag_pipeline.ledger.ledger import Ledger

GENERATION = "knowledge__0123abcd_1"

# More rows, and more ids, than go into one statement.
MANY = 15_000


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger(ledger_url, max_attempts=3)
    yield opened
    opened.close()


def failure(
    document_id: str = "handbook/a.md",
    *,
    key: str = "key-1",
    transient: bool = True,
    chunk: int | None = None,
    tried: bool = True,
) -> Failure:
    error = DocumentError(FailureCategory.TIMEOUT, "It took longer than 60 s.", transient=transient)
    return Failure(document_id, key, error, chunk_index=chunk, tried=tried)


def document(document_id: str, **facts: object) -> IndexedDocument:
    fields: dict[str, object] = {
        "document_id": document_id,
        "source_id": "handbook",
        "content_hash": "hash-1",
        "normalized_key": "normalized-1",
        "chunks_key": "chunks-1",
        "facts": {"access_groups": ["support"]},
        "readers": ("support",),
        "chunk_count": 3,
        "failed_chunks": (),
    }
    return IndexedDocument(**(fields | facts))  # type: ignore[arg-type]


def test_a_transient_failure_is_tried_until_its_attempts_are_used_up(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    for attempt in (1, 2, 3):
        assert letters.exhausted("handbook", "normalize") == {}
        letters.record("handbook", "normalize", [failure()])
        assert [one.attempts for one in letters.listed()] == [attempt]
    exhausted = letters.exhausted("handbook", "normalize")
    assert exhausted.keys() == {("handbook/a.md", "key-1", None)}
    error = exhausted["handbook/a.md", "key-1", None]
    assert (error.category, error.message) == (FailureCategory.TIMEOUT, "It took longer than 60 s.")


def test_a_permanent_failure_is_not_tried_again(ledger: Ledger) -> None:
    ledger.dead_letters.record("handbook", "normalize", [failure(transient=False)])
    assert ledger.dead_letters.exhausted("handbook", "normalize").keys() == {("handbook/a.md", "key-1", None)}


def test_a_failure_that_is_only_met_again_is_no_attempt(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure(transient=False)])
    [before] = letters.listed()
    letters.record("handbook", "normalize", [failure(transient=False, tried=False)])
    assert letters.listed() == [before]


def test_changed_content_starts_anew(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure()])
    letters.record("handbook", "normalize", [failure()])
    letters.record("handbook", "normalize", [failure(key="key-2")])
    [letter] = letters.listed()
    assert (letter.attempts, letter.input_key) == (1, "key-2")


def test_the_time_of_the_first_failure_stays(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure()])
    [before] = letters.listed()
    letters.record("handbook", "normalize", [failure()])
    [after] = letters.listed()
    assert after.first_failed_at == before.first_failed_at
    assert after.last_failed_at > before.last_failed_at
    assert after.last_failed_at.utcoffset() is not None


def test_what_no_longer_fails_is_forgotten_in_its_own_stage_and_source_only(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure("handbook/a.md"), failure("handbook/b.md")])
    letters.record("handbook", "embed", [failure("handbook/a.md", chunk=2)])
    letters.record("runbooks", "normalize", [failure("runbooks/a.md")])
    letters.record("handbook", "normalize", [failure("handbook/b.md")])
    assert {(one.stage, one.document_id) for one in letters.listed()} == {
        ("embed", "handbook/a.md"),
        ("normalize", "handbook/b.md"),
        ("normalize", "runbooks/a.md"),
    }
    assert letters.counted() == {"handbook": 2, "runbooks": 1}
    assert {one.source_id for one in letters.listed(["runbooks"])} == {"runbooks"}


def test_a_failed_chunk_rests_by_its_index_and_does_not_stop_its_document(ledger: Ledger) -> None:
    ledger.dead_letters.record("handbook", "embed", [failure(transient=False, chunk=2)])
    assert ledger.dead_letters.exhausted("handbook", "embed").keys() == {("handbook/a.md", "key-1", 2)}
    assert [one.chunk_index for one in ledger.dead_letters.listed()] == [2]


def test_a_person_can_ask_for_one_letter_or_all_to_be_tried_again(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure("handbook/a.md", transient=False)])
    letters.record("runbooks", "normalize", [failure("runbooks/a.md", transient=False)])
    assert letters.ask_retry([letter_id("handbook/a.md", "normalize", None)]) == ["handbook"]
    assert letters.exhausted("handbook", "normalize") == {}
    assert letters.exhausted("runbooks", "normalize")
    assert letters.ask_retry() == ["handbook", "runbooks"]
    assert letters.exhausted("runbooks", "normalize") == {}
    assert letters.ask_retry(["unknown"]) == []
    letters.record("handbook", "normalize", [failure("handbook/a.md", transient=False)])
    assert letters.exhausted("handbook", "normalize"), "it failed again, so it rests again"


def test_a_transient_failure_is_due_again_later_each_time_and_then_no_more(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    waits = []
    for _ in range(2):
        letters.record("handbook", "normalize", [failure()])
        [letter] = letters.listed()
        assert letter.due_at is not None
        assert letters.due(letter.due_at) == ["handbook"]
        assert letters.due(letter.due_at - timedelta(seconds=1)) == []
        waits.append(letter.due_at - letter.last_failed_at)
    assert timedelta(0) < waits[0] < waits[1]
    letters.record("handbook", "normalize", [failure()])
    assert [one.due_at for one in letters.listed()] == [None], "its attempts are used up"


def test_only_what_may_pass_by_itself_is_ever_due(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure(transient=False)])
    letters.record("runbooks", "normalize", [failure("runbooks/a.md"), failure("runbooks/b.md")])
    assert letters.due(datetime.max.replace(tzinfo=UTC)) == ["runbooks"]


def test_a_failure_that_is_only_met_again_is_due_when_it_was(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure()])
    [before] = letters.listed()
    letters.record("handbook", "normalize", [failure(tried=False)])
    assert letters.listed() == [before]


def test_what_a_person_wants_tried_again_is_due_at_once(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure(transient=False)])
    letters.ask_retry()
    assert letters.due(datetime.now(UTC)) == ["handbook"]


def test_the_failures_of_a_document_that_is_gone_are_forgotten_in_every_stage(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", [failure("handbook/a.md"), failure("handbook/b.md")])
    letters.record("handbook", "embed", [failure("handbook/a.md", chunk=2)])
    letters.drop_document("handbook/a.md")
    assert [one.document_id for one in letters.listed()] == ["handbook/b.md"]


def test_many_dead_letters_come_and_go(ledger: Ledger) -> None:
    letters = ledger.dead_letters
    letters.record("handbook", "normalize", (failure(f"handbook/{n}") for n in range(MANY)))
    assert letters.counted() == {"handbook": MANY}
    letters.record("handbook", "normalize", [])
    assert letters.listed() == []


def test_vectors_come_back_exactly_and_by_model(ledger: Ledger) -> None:
    vector = np.array([0.1, -2.5, 3e-38, 1.0], dtype=np.float32)
    ledger.vectors.put("model-a", {"text-1": vector})
    found = ledger.vectors.get("model-a", ["text-1", "text-2"])
    assert found.keys() == {"text-1"}
    assert found["text-1"].dtype == np.float32
    np.testing.assert_array_equal(found["text-1"], vector)
    assert ledger.vectors.get("model-b", ["text-1"]) == {}


def test_storing_a_vector_again_replaces_it(ledger: Ledger) -> None:
    ledger.vectors.put("model", {"text": np.zeros(2, dtype=np.float32)})
    ledger.vectors.put("model", {"text": np.ones(2, dtype=np.float32)})
    np.testing.assert_array_equal(ledger.vectors.get("model", ["text"])["text"], np.ones(2))


def test_many_vectors_come_back(ledger: Ledger) -> None:
    vectors = {f"text-{n}": np.full(2, n, dtype=np.float32) for n in range(MANY)}
    ledger.vectors.put("model", vectors)
    found = ledger.vectors.get("model", [*vectors, "unknown"])
    assert found.keys() == vectors.keys()
    assert all(found[name][0] == vector[0] for name, vector in vectors.items())


def test_a_recorded_document_comes_back_as_it_was(ledger: Ledger) -> None:
    recorded = document("handbook/值班.md", failed_chunks=(1,))
    ledger.documents.record(GENERATION, [recorded, document("runbooks/a.md", source_id="runbooks")])
    assert ledger.documents.of_source(GENERATION, "handbook") == {recorded.document_id: recorded}
    assert recorded.stored_indexes == [0, 2]
    assert ledger.documents.of_source("another_generation", "handbook") == {}


def test_a_new_version_takes_the_place_of_the_old_one(ledger: Ledger) -> None:
    ledger.documents.record(GENERATION, [document("handbook/a.md"), document("handbook/b.md")])
    ledger.documents.record(GENERATION, [document("handbook/a.md", content_hash="hash-2")])
    current = ledger.documents.current_versions(
        GENERATION, ["handbook/a.md", "handbook/b.md", "handbook/c.md"]
    )
    facts = document("handbook/a.md").facts
    assert current == {
        "handbook/a.md": CurrentVersion("hash-2", frozenset({"support"}), facts),
        "handbook/b.md": CurrentVersion("hash-1", frozenset({"support"}), facts),
    }


def test_a_buried_document_is_unseen_at_once_and_pending_until_confirmed(ledger: Ledger) -> None:
    documents = ledger.documents
    documents.record(GENERATION, [document("handbook/a.md"), document("handbook/b.md")])
    documents.bury(GENERATION, "handbook", ["handbook/a.md"])
    assert documents.current_versions(GENERATION, ["handbook/a.md", "handbook/b.md"]).keys() == {
        "handbook/b.md"
    }
    assert documents.of_source(GENERATION, "handbook").keys() == {"handbook/b.md"}
    assert documents.pending_tombstones(GENERATION, "handbook") == ["handbook/a.md"]
    assert documents.pending_tombstones(GENERATION, "runbooks") == []
    documents.confirm_deletions(GENERATION, ["handbook/a.md"])
    assert documents.pending_tombstones(GENERATION, "handbook") == []


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "\\u0000", ""])
def test_a_document_that_no_row_can_name_is_not_there(ledger: Ledger, name: str) -> None:
    assert not ledger.documents.current_versions(GENERATION, [name])
    assert not ledger.documents.deletions_noticed(GENERATION, [name])


def test_a_document_that_comes_back_is_no_longer_to_be_deleted(ledger: Ledger) -> None:
    documents = ledger.documents
    documents.record(GENERATION, [document("handbook/a.md")])
    documents.bury(GENERATION, "handbook", ["handbook/a.md"])
    documents.record(GENERATION, [document("handbook/a.md")])
    assert documents.pending_tombstones(GENERATION, "handbook") == []
    documents.bury(GENERATION, "handbook", ["handbook/a.md"])
    documents.confirm_deletions(GENERATION, ["handbook/a.md"])
    documents.record(GENERATION, [document("handbook/a.md")])
    documents.bury(GENERATION, "handbook", ["handbook/a.md"])
    assert documents.pending_tombstones(GENERATION, "handbook") == ["handbook/a.md"]


def test_every_generations_version_of_a_document_is_found(ledger: Ledger) -> None:
    ledger.documents.record("first", [document("handbook/a.md"), document("handbook/b.md")])
    ledger.documents.record("second", [document("handbook/a.md", content_hash="hash-2")])
    found = ledger.documents.versions(["handbook/a.md", "handbook/c.md"])
    assert sorted((generation, one.content_hash) for generation, one in found) == [
        ("first", "hash-1"),
        ("second", "hash-2"),
    ]


def test_a_source_is_in_a_generation_until_its_last_point_is_gone(ledger: Ledger) -> None:
    documents = ledger.documents
    documents.record(GENERATION, [document("handbook/a.md")])
    documents.record("another", [document("runbooks/a.md", source_id="runbooks")])
    assert documents.sources([GENERATION]) == {"handbook"}
    assert documents.sources([GENERATION, "another"]) == {"handbook", "runbooks"}
    documents.bury(GENERATION, "handbook", ["handbook/a.md"])
    assert documents.sources([GENERATION]) == {"handbook"}
    documents.confirm_deletions(GENERATION, ["handbook/a.md"])
    assert documents.sources([GENERATION]) == set()


def test_many_documents_live_and_die(ledger: Ledger) -> None:
    documents = ledger.documents
    ids = [f"handbook/{n}" for n in range(MANY)]
    documents.record(GENERATION, [document(one) for one in ids])
    assert len(documents.current_versions(GENERATION, ids)) == MANY
    documents.bury(GENERATION, "handbook", ids)
    assert documents.of_source(GENERATION, "handbook") == {}
    assert sorted(documents.pending_tombstones(GENERATION, "handbook")) == sorted(ids)
    documents.confirm_deletions(GENERATION, ids)
    assert documents.pending_tombstones(GENERATION, "handbook") == []


def test_what_is_recorded_outlives_the_process(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.sqlite"
    first = Ledger(url, max_attempts=3)
    first.documents.record(GENERATION, [document("handbook/a.md")])
    first.close()
    second = Ledger(url, max_attempts=3)
    assert second.documents.of_source(GENERATION, "handbook").keys() == {"handbook/a.md"}
    second.close()


@pytest.mark.parametrize(
    "url",
    [
        "s3cret",
        "postgresql://user:s3cret@host:port/ledger",
        "postgresql://user:p@s3cret@host/ledger",
        "postgresql+psycopg://host/ledger?password=s3cret",
        "no_such_database://user:s3cret@host/ledger",
        "postgresql+psycopg://user:s3cret@127.0.0.1:1/ledger",
        "postgresql+psycopg://user:s3cret@127.0.0.1:1/ledger?no_such_option=1",
        "postgresql+no_such_driver://user:s3cret@host/ledger",
    ],
)
def test_a_ledger_that_cannot_be_opened_never_shows_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Ledger(url, max_attempts=3)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@given(password=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=20))
@settings(max_examples=50)
def test_no_unescaped_password_is_shown(password: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Ledger(f"no_such_database://user:{password}@/ledger", max_attempts=3)
    assert password[-5:] not in str(caught.value)


def test_a_ledger_in_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"missing/ledger\.sqlite.*RAG_LEDGER_URL"):
        Ledger(f"sqlite:///{tmp_path}/missing/ledger.sqlite", max_attempts=3)


def test_a_message_that_no_database_takes_is_stored_as_it_can_be(ledger: Ledger) -> None:
    error = DocumentError(FailureCategory.CORRUPT, "NUL \0 and half a pair \ud83d")
    ledger.dead_letters.record("handbook", "normalize", [Failure("handbook/a.md", "key", error)])
    assert [one.message for one in ledger.dead_letters.listed()] == ["NUL \\0 and half a pair \\ud83d"]


def test_a_database_that_fails_is_told_without_its_statement(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.sqlite", max_attempts=3)
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        connection.execute("DROP TABLE dead_letters")
    with pytest.raises(LedgerError, match="The ledger failed") as failed:
        ledger.dead_letters.listed()
    assert "SELECT" not in str(failed.value)
    ledger.close()
