"""Looking back at answers by the command line: trace, feedback, lineage, impact, and forgetting by gc."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rag_pipeline.query.trace import Attempt, CitedClaim, RecordedConflict, RecordedPosition, RejectedEvidence
from rag_pipeline_tests.command_runs import Run, commands_of
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.sample_traces import trace_from, trace_of

DOCUMENT = "refunds/returns.md"


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path, trace_texts=True)
    base.manifest("refunds")
    base.page("refunds", "returns", "postage")
    base.index("refunds")
    return base


@pytest.fixture
def run(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    with commands_of(base, monkeypatch, capsys) as run_command:
        yield run_command


def test_a_trace_is_shown_as_a_tree(base: KnowledgeBase, run: Run) -> None:
    position = RecordedPosition(label="S1", document_id=DOCUMENT, shown="30 days", followed=True)
    conflict = RecordedConflict(
        kind="duration", winner="S1", decided_by="trust_tier", policy="prefer", positions=[position]
    )
    recorded = trace_from(
        base, DOCUMENT, "refunds/postage.md",
        think_note="It suffices.",
        conflicts=[conflict],
        rejected=[RejectedEvidence(chunk_id="x:0:0", document_id="x", reason="it is withdrawn")],
        attempts=[
            Attempt(by="openai", model="small", problems=["the number 31 is not in S1"], text="31 days.")
        ],
        reason="The sentences are quoted.",
    )  # fmt: skip
    base.services.trace_recorder.record(recorded)
    result = run("trace", recorded.trace_id)
    assert result.returncode == 0, result.stderr
    for words in (
        f"{recorded.trace_id} answered", recorded.question, "The sentences are quoted.", "retrieve: 3.5 ms",
        f"S1 {recorded.evidence[0].chunk_id}, cited", "score 1.050 = relevance +0.800, trust +0.250",
        "x:0:0: it is withdrawn", "It suffices.", "duration, S1 is followed by trust_tier, prefer",
        f"S1 {DOCUMENT} 30 days, followed", "attempt 1 by openai (small)",
        "the number 31 is not in S1", "31 days.", f"Within 30 days. <- {recorded.evidence[0].evidence_id}",
        recorded.generation or "",
    ):  # fmt: skip
        assert words in result.stdout, words


def test_a_trace_as_json_is_the_trace_and_its_feedback(base: KnowledgeBase, run: Run) -> None:
    recorded = trace_from(base, DOCUMENT)
    base.services.trace_recorder.record(recorded)
    said = run("feedback", recorded.trace_id, "--rating", "down", "--comment", "It was the old policy.")
    assert said.returncode == 0, said.stderr
    value = json.loads(run("trace", recorded.evidence[0].evidence_id, "--json").stdout)
    (given,) = value.pop("feedback")
    assert (given["rating"], given["comment"]) == ("down", "It was the old policy.")
    assert value == recorded.model_dump(mode="json")
    assert "It was the old policy." in run("trace", recorded.trace_id).stdout


def test_what_a_trace_holds_neither_steers_the_terminal_nor_passes_for_markup(
    base: KnowledgeBase, run: Run
) -> None:
    base.services.trace_recorder.record(
        trace_of(trace_id="t1", question="What \x1b[2J\u202e is [red]this[/red]?", session_id="[/]")
    )
    shown = run("trace", "t1").stdout
    assert "What \\x1b[2J\\u202e is [red]this[/red]?" in shown
    assert "session [/]" in shown


@pytest.mark.parametrize(
    "words",
    [["trace", "nowhere"], ["lineage", "nowhere:S1"], ["feedback", "nowhere", "--rating", "up"]],
)
def test_an_unknown_id_is_said_and_ends_with_2(run: Run, words: list[str]) -> None:
    result = run(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("rag-pipeline: There is no trace")


def test_an_unknown_rating_ends_with_2(run: Run) -> None:
    assert run("feedback", "t1", "--rating", "sideways").returncode == 2


def test_lineage_tells_by_its_exit_code_whether_every_link_holds(base: KnowledgeBase, run: Run) -> None:
    recorded = trace_from(base, DOCUMENT, "refunds/postage.md")
    base.services.trace_recorder.record(recorded)
    holds = run("lineage", recorded.trace_id)
    assert holds.returncode == 0
    evidence = recorded.evidence[0]
    assert f"evidence: {evidence.evidence_id}: {evidence.chunk_id}\n" in holds.stdout, "whole ids"
    base.page("refunds", "postage", sentence="It is free.")
    shown = run("lineage", recorded.trace_id)
    assert shown.returncode == 1
    assert "FIRST BROKEN source file: refunds/postage.md" in shown.stdout
    value = json.loads(run("lineage", recorded.trace_id, "--json").stdout)
    assert value["holds"] is False
    assert [one["first_broken"] for one in value["lineages"]] == [None, "source file"]
    assert run("lineage", recorded.evidence[0].evidence_id).returncode == 0
    assert run("lineage", recorded.evidence[1].evidence_id).returncode == 1


def test_an_answer_without_evidence_leads_to_no_file(base: KnowledgeBase, run: Run) -> None:
    base.services.trace_recorder.record(trace_of(trace_id="t1", citations=[]))
    result = run("lineage", "t1")
    assert result.returncode == 0
    assert "used no evidence" in result.stdout


def test_stale_documents_are_listed_by_the_answers_that_cite_them(base: KnowledgeBase, run: Run) -> None:
    page = "---\ntitle: {0}\nupdated_at: {1:%Y-%m-%d}\n---\n\n# {0}\n\nHardware goes back.\n"
    now = datetime.now(UTC)
    ages = {"a": 200, "b": 300, "c": 400, "fresh": 5}
    base.write(
        "faq", {f"{name}.md": page.format(name, now - timedelta(days=days)) for name, days in ages.items()}
    )
    base.manifest("faq", freshness_sla_days=100)
    base.index("faq")
    record = base.services.trace_recorder.record
    record(trace_from(base, "faq/a.md", "faq/fresh.md", DOCUMENT))
    record(trace_from(base, "faq/b.md", "faq/a.md"))
    ranked = trace_from(base, "faq/c.md", "faq/b.md")
    record(
        ranked.model_copy(update={"citations": [CitedClaim(evidence_ids=[ranked.evidence[1].evidence_id])]})
    )
    long_ago = now - timedelta(days=80)
    record(trace_from(base, "faq/b.md", started_at=long_ago))
    value = json.loads(run("impact", "--json").stdout)
    found = [(one["document_id"], one["answers"]) for one in value["documents"]]
    assert found == [("faq/b.md", 3), ("faq/a.md", 2), ("faq/c.md", 0)]
    recent = json.loads(run("impact", "--json", RAG_TRACE_RETENTION_DAYS="30").stdout)["documents"]
    assert [one["answers"] for one in recent] == [2, 2, 0]
    assert recent[0]["document_id"] == "faq/b.md", "the older one of two"
    shown = run("impact").stdout
    assert "faq/c.md" not in shown
    assert "3 documents are past their SLA; answers of the last 90 days cite 2 of them." in shown
    base.manifest("faq", freshness_sla_days=100, last_reviewed_at=f"{now:%Y-%m-%d}")
    assert json.loads(run("impact", "--json").stdout)["documents"] == [], "a review counts for all of them"


def test_gc_forgets_traces_past_their_retention(base: KnowledgeBase, run: Run) -> None:
    now = datetime.now(UTC)
    base.services.trace_recorder.record(trace_of(trace_id="t1", started_at=now - timedelta(days=20)))
    base.services.trace_recorder.record(trace_of(trace_id="t2"))
    assert "Forgot" not in run("gc").stdout
    assert "Forgot 1 traces" in run("gc", RAG_TRACE_RETENTION_DAYS="10").stdout
    assert run("trace", "t1").returncode == 2
    assert run("trace", "t2").returncode == 0
