"""Traces come back as they were recorded, without texts unless asked for, and are forgotten in time."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import ConfigurationError, LedgerError
from rag_pipeline.ledger.feedback import Rating
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.ledger.traces import TracedEvidence
from rag_pipeline.query.trace import (
    Attempt,
    CitedClaim,
    Outcome,
    RecordedConflict,
    RecordedPosition,
    RejectedEvidence,
    StepTiming,
    Trace,
    UsedEvidence,
)
from rag_pipeline.query.tracing import ERASED, TraceRecorder, erase_words, find_trace, traces_with_words
from rag_pipeline_tests.sample_traces import trace_of, used_evidence

KEPT = timedelta(days=90)


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger(ledger_url, max_attempts=3)
    yield opened
    opened.close()


@pytest.fixture
def recorder(ledger: Ledger) -> TraceRecorder:
    return TraceRecorder(ledger, texts=True, retention=KEPT)


texts = st.text(max_size=30)
numbers = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(timezones=st.just(UTC))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
evidence = st.builds(
    UsedEvidence,
    label=texts, evidence_id=texts, document_id=texts, source_id=texts, chunk_id=texts, content_hash=texts,
    text_hash=texts, relevance=numbers, score=numbers,
    reasons=st.dictionaries(texts, numbers, max_size=3), text=st.none() | texts,
)  # fmt: skip
traces = st.builds(
    Trace,
    trace_id=texts, request_id=texts, session_id=st.none() | texts, identity=texts,
    # Old ones would be forgotten at once.
    started_at=st.datetimes(min_value=datetime(2026, 11, 1), timezones=st.just(UTC)),
    finished_at=moments,
    steps=st.lists(st.builds(StepTiming, step=texts, milliseconds=numbers), max_size=3),
    question=texts, queries=st.lists(texts, max_size=3), scope=json_objects,
    sources=st.lists(texts, max_size=3), generation=st.none() | texts,
    evidence=st.lists(evidence, max_size=3, unique_by=lambda one: one.evidence_id.replace("\0", "\\0")),
    rejected=st.lists(
        st.builds(
            RejectedEvidence, chunk_id=texts, document_id=texts, reason=texts, relevance=st.none() | numbers
        ),
        max_size=2,
    ),
    notes=st.lists(texts, max_size=2),
    tool_calls=st.lists(json_objects, max_size=2),
    conflicts=st.lists(
        st.builds(
            RecordedConflict,
            kind=texts, winner=st.none() | texts, decided_by=st.none() | texts, policy=texts,
            positions=st.lists(
                st.builds(
                    RecordedPosition,
                    label=texts, document_id=texts, shown=texts, followed=st.booleans(),
                    sentence=st.none() | texts,
                ),
                max_size=2,
            ),
        ),
        max_size=2,
    ),
    think_note=st.none() | texts, prompt_version=st.none() | st.integers(),
    attempts=st.lists(
        st.builds(
            Attempt,
            by=st.sampled_from(["extractive", "openai"]), model=st.none() | texts,
            problems=st.lists(texts, max_size=2), text=st.none() | texts,
        ),
        max_size=2,
    ),
    citations=st.lists(
        st.builds(CitedClaim, evidence_ids=st.lists(texts, max_size=2), claim=st.none() | texts), max_size=2
    ),
    outcome=st.sampled_from(Outcome), reason=texts,
)  # fmt: skip


def conflict(shown: str, sentence: str) -> RecordedConflict:
    position = RecordedPosition(
        label="S1", document_id="refunds/a.md", shown=shown, followed=True, sentence=sentence
    )
    return RecordedConflict(
        kind="duration", winner="S1", decided_by="trust_tier", policy="prefer", positions=[position]
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trace=traces)
def test_whatever_is_recorded_comes_back_equal(ledger: Ledger, recorder: TraceRecorder, trace: Trace) -> None:
    # Of its own, whatever was recorded before.
    trace = trace.model_copy(update={"trace_id": trace.trace_id + uuid.uuid4().hex})
    recorder.record(trace)
    assert find_trace(ledger, trace.trace_id) == trace


def test_a_trace_is_found_by_its_evidence_too(ledger: Ledger, recorder: TraceRecorder) -> None:
    recorded = trace_of([used_evidence("refunds/a.md", trace_id="t1")])
    recorder.record(recorded)
    recorder.record(trace_of([used_evidence("refunds/a.md", trace_id="t2")]))
    assert find_trace(ledger, "t1:S1") == recorded
    for unknown in ("t3", "t1:S2", "", "t\0", "t\udcff"):
        with pytest.raises(ConfigurationError, match="There is no trace or evidence"):
            find_trace(ledger, unknown)


def test_without_the_setting_ids_hashes_and_scores_are_kept_and_no_texts(ledger: Ledger) -> None:
    recorded = trace_of(
        [used_evidence("refunds/a.md", trace_id="t1", text="The passage.")],
        attempts=[
            Attempt(by="openai", model="m", problems=["number 4711-0815-2342"], text="The passage says so.")
        ],
        citations=[CitedClaim(evidence_ids=["t1:S1"], claim="The passage says so.")],
        conflicts=[conflict("30 days", "The passage.")],
        question="What was asked?",
    )
    TraceRecorder(ledger, texts=False, retention=KEPT).record(recorded)
    kept = find_trace(ledger, "t1")
    assert "passage" not in kept.model_dump_json()
    assert kept.question == "What was asked?"
    assert kept.evidence[0].text_hash == recorded.evidence[0].text_hash
    assert kept.evidence[0].score == recorded.evidence[0].score
    assert kept.conflicts[0].positions[0].shown == "30 days"
    assert kept.attempts[0].problems == ["number 4711-0815-2342"]


def test_a_trace_that_is_there_is_not_replaced(recorder: TraceRecorder) -> None:
    recorder.record(trace_of(trace_id="t1"))
    with pytest.raises(LedgerError):
        recorder.record(trace_of(trace_id="t1", question="Another?"))


def test_old_traces_are_forgotten_with_their_feedback(ledger: Ledger, recorder: TraceRecorder) -> None:
    old = datetime.now(UTC) - KEPT - timedelta(minutes=1)
    recorder.record(trace_of([used_evidence("refunds/a.md", trace_id="new")]))
    recorder.record(trace_of([used_evidence("refunds/a.md", trace_id="old")], started_at=old))
    ledger.feedback.record("old", Rating.DOWN, comment="no", by="someone")
    ledger.feedback.record("new", Rating.UP, comment=None, by="someone")
    assert recorder.forget_old() == 1
    with pytest.raises(ConfigurationError):
        find_trace(ledger, "old")
    assert ledger.feedback.of_trace("old") == []
    assert ledger.traces.ids_of_document("refunds/a.md") == ["new"]
    assert [one.rating for one in ledger.feedback.of_trace("new")] == [Rating.UP]


def test_a_process_looks_for_old_traces_when_it_records_its_first(ledger: Ledger) -> None:
    old = datetime.now(UTC) - KEPT - timedelta(minutes=1)
    TraceRecorder(ledger, texts=False, retention=2 * KEPT).record(trace_of(trace_id="old", started_at=old))
    recorder = TraceRecorder(ledger, texts=False, retention=KEPT)
    recorder.record(trace_of(trace_id="new"))
    assert ledger.traces.get("old") is None
    recorder.record(trace_of(trace_id="older", started_at=old))
    assert ledger.traces.get("older"), "and not again with each one"


def test_feedback_needs_a_trace_and_keeps_its_order(ledger: Ledger, recorder: TraceRecorder) -> None:
    recorder.record(trace_of(trace_id="t1"))
    ledger.feedback.record("t1", Rating.DOWN, comment="Wrong \0 year", by="first")
    ledger.feedback.record("t1", Rating.UP, comment=None, by="second")
    given = ledger.feedback.of_trace("t1")
    assert [(one.rating, one.comment, one.given_by) for one in given] == [
        (Rating.DOWN, "Wrong \\0 year", "first"),
        (Rating.UP, None, "second"),
    ]
    with pytest.raises(ConfigurationError, match="There is no trace t2"):
        ledger.feedback.record("t2", Rating.UP, comment=None, by="first")


def test_citations_are_counted_by_answer(ledger: Ledger, recorder: TraceRecorder) -> None:
    day = timedelta(days=1)
    now = datetime.now(UTC)
    for age, cited in ((0, ["S1", "S2"]), (1, ["S1"]), (10, ["S1", "S2"])):
        trace_id = uuid.uuid4().hex
        recorder.record(
            trace_of(
                [
                    used_evidence("refunds/a.md", trace_id=trace_id, label="S1"),
                    used_evidence("refunds/a.md", trace_id=trace_id, label="S2"),
                    used_evidence("refunds/b.md", trace_id=trace_id, label="S3"),
                ],
                citations=[CitedClaim(evidence_ids=[f"{trace_id}:{label}" for label in cited])],
                started_at=now - age * day,
            )
        )
    assert ledger.traces.citations_by_document(now - 5 * day) == {"refunds/a.md": 2}


def test_what_a_trace_holds_of_a_document_is_erased_and_the_rest_stays(
    ledger: Ledger, recorder: TraceRecorder
) -> None:
    secret = "The combination is 4711-0815-2342."
    recorder.record(
        trace_of(
            [
                used_evidence("refunds/a.md", trace_id="t1", label="S1", text=secret),
                used_evidence("refunds/b.md", trace_id="t1", label="S2", text="Another one's words."),
            ],
            attempts=[Attempt(by="openai", model="m", problems=["4711-0815-2342 is not in S2"], text=secret)],
            citations=[CitedClaim(evidence_ids=["t1:S1"], claim=secret)],
            conflicts=[conflict("4711-0815-2342", secret)],
            think_note="It is 4711-0815-2342.",
        )
    )
    untouched = trace_of([used_evidence("refunds/b.md", trace_id="t2")])
    recorder.record(untouched)
    assert traces_with_words(ledger, "refunds/a.md") == 1
    assert erase_words(ledger, "refunds/a.md") == 1
    kept = find_trace(ledger, "t1")
    assert "4711-0815-2342" not in kept.model_dump_json()
    assert [one.text for one in kept.evidence] == [None, "Another one's words."]
    assert kept.attempts[0].problems == [ERASED], "an attempt that failed still did"
    assert kept.conflicts[0].winner == "S1"
    assert kept.citations[0].evidence_ids == ["t1:S1"]
    assert traces_with_words(ledger, "refunds/a.md") == 0
    assert erase_words(ledger, "refunds/a.md") == 0
    assert find_trace(ledger, "t2") == untouched


def test_a_document_that_was_deleted_meanwhile_leaves_no_words(
    ledger: Ledger, recorder: TraceRecorder
) -> None:
    ledger.documents.bury("knowledge__1", "refunds", ["refunds/a.md"])
    recorder.record(
        trace_of(
            [used_evidence("refunds/a.md", trace_id="t1", text="4711-0815-2342")], generation="knowledge__1"
        )
    )
    assert "4711-0815-2342" not in find_trace(ledger, "t1").model_dump_json()


def test_a_trace_of_another_version_is_erased_too_and_stays_known_by_its_ids(
    ledger: Ledger, recorder: TraceRecorder
) -> None:
    secret = "The combination is 4711-0815-2342."
    known = trace_of([used_evidence("refunds/a.md", trace_id="t1", text=secret)])
    recorder.record(known)
    ledger.traces.record(
        "t2", started_at=datetime.now(UTC), outcome="answered", session_id=None,
        record={**known.model_dump(mode="json"), "trace_id": "t2", "remarks": [{"on": secret}]},
        evidence=[TracedEvidence("t2:S1", "refunds/a.md", "refunds", "c", cited=True)],
    )  # fmt: skip
    assert traces_with_words(ledger, "refunds/a.md") == 2
    assert erase_words(ledger, "refunds/a.md") == 2
    (kept,) = ledger.traces.records(["t2"])
    assert "4711-0815-2342" not in str(kept)
    assert (kept["trace_id"], kept["identity"]) == ("t2", known.identity)
    assert traces_with_words(ledger, "refunds/a.md") == 0
    assert erase_words(ledger, "refunds/a.md") == 0
    assert sorted(ledger.traces.ids_of_document("refunds/a.md")) == ["t1", "t2"]


def test_a_record_of_another_version_is_said_to_be_one(ledger: Ledger) -> None:
    ledger.traces.record(
        "t1", started_at=datetime.now(UTC), outcome="answered", session_id=None,
        record={"trace_id": "t1", "colour": "blue"},
        evidence=[TracedEvidence("t1:S1", "refunds/a.md", "refunds", "c", cited=True)],
    )  # fmt: skip
    with pytest.raises(LedgerError, match="t1 was written by another version"):
        find_trace(ledger, "t1")
