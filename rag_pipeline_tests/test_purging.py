"""A document is erased everywhere, and a certificate says so after looking again, on both stores."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_pipeline import rebuilding
from rag_pipeline.cli import app
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.ledger.feedback import Rating
from rag_pipeline.purging import purge
from rag_pipeline.query.trace import Attempt, CitedClaim
from rag_pipeline.query.tracing import TraceRecorder, find_trace
from rag_pipeline_tests.knowledge_base import PAGE, KnowledgeBase
from rag_pipeline_tests.sample_traces import trace_from

SECRET = "The combination of the safe is 4711-0815-2342."


@pytest.fixture
def base(tmp_path: Path, store_location: StoreLocation, alias: str) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path, store_location, alias)
    base.manifest("refunds")
    base.page("refunds", "refunds")
    base.page("refunds", "secret", sentence=SECRET)
    base.index("refunds")
    return base


def everything_stored(base: KnowledgeBase) -> str:
    """All that is kept of all documents, outside the source itself: points, artifacts and tables."""
    kept = []
    with open_store(base.services.store) as client:
        for generation in base.services.ledger.generations.of_alias(base.settings.alias):
            records, _ = client.scroll(generation.name, limit=1_000)
            kept += [str(record.payload) for record in records]
    home = base.folder / "home"
    for folder in ("artifacts", "tables", "certificates"):
        kept += [file.read_bytes().decode(errors="replace") for file in (home / folder).rglob("*.*")]
    return "\n".join(kept)


def test_nothing_is_left_in_any_generation(base: KnowledgeBase) -> None:
    rebuilding.reindex(base.pipeline, promote_after=True)
    assert "4711-0815-2342" in everything_stored(base)
    base.remove("refunds", "secret.md")
    certificate, file = purge(base.pipeline, "refunds/secret.md")
    assert len(certificate.points) == 2
    assert all(certificate.points.values())
    assert certificate.artifacts
    assert certificate.vectors
    assert not any(certificate.left.values())
    assert not certificate.still_in_source
    assert json.loads(file.read_text())["document_id"] == "refunds/secret.md"
    assert "4711-0815-2342" not in everything_stored(base)
    assert base.index("refunds").reconciled
    assert "4711-0815-2342" not in everything_stored(base)


def test_what_another_document_holds_too_stays_with_it(base: KnowledgeBase) -> None:
    twin = PAGE.format(title="twin", sentence=SECRET)
    base.write("refunds", {"one.md": twin, "other.md": twin})
    base.index("refunds")
    before = {point for point, payload in base.points().items() if "other.md" in payload["document_id"]}
    certificate, _ = purge(base.pipeline, "refunds/one.md")
    assert certificate.shared
    assert (certificate.artifacts, certificate.vectors) == (0, 0)
    assert certificate.still_in_source
    after = base.points()
    assert before <= after.keys()
    assert not [one for one in after.values() if one["document_id"] == "refunds/one.md"]


@pytest.mark.parametrize("deleted_before", [False, True])
def test_traces_lose_its_words_and_keep_its_id(base: KnowledgeBase, deleted_before: bool) -> None:
    recorder = TraceRecorder(base.services.ledger, texts=True, retention=timedelta(days=90))
    other = trace_from(base, "refunds/refunds.md")
    both = trace_from(
        base,
        "refunds/secret.md",
        "refunds/refunds.md",
        attempts=[Attempt(by="extractive", model=None, problems=[], text=SECRET)],
        citations=[CitedClaim(evidence_ids=[], claim=SECRET)],
    )
    for trace in (both, other):
        recorder.record(trace)
    feedback = base.services.ledger.feedback
    feedback.record(both.trace_id, Rating.DOWN, comment=f"Should not say: {SECRET}", by="u1")
    feedback.record(both.trace_id, Rating.UP, comment=None, by="u2")
    feedback.record(other.trace_id, Rating.UP, comment="Good.", by="u1")
    page = Path(str(base.services.evaluation_pages)) / "knowledge.html"
    page.parent.mkdir(parents=True)
    page.write_text(f"<p>{SECRET}</p>")
    base.remove("refunds", "secret.md")
    if deleted_before:
        base.index("refunds")
    certificate, file = purge(base.pipeline, "refunds/secret.md")
    assert (certificate.traces, certificate.left["traces"]) == (1, 0)
    assert (certificate.pages, certificate.left["pages"], page.exists()) == (1, 0, False)
    assert json.loads(file.read_text())["traces"] == 1
    assert (certificate.comments, certificate.left["comments"]) == (1, 0)
    said = sorted((one.rating.value, one.comment) for one in feedback.of_trace(both.trace_id))
    assert said == [("down", None), ("up", None)]
    assert [one.comment for one in feedback.of_trace(other.trace_id)] == ["Good."]
    kept = find_trace(base.services.ledger, both.trace_id)
    assert "4711-0815-2342" not in kept.model_dump_json()
    assert [one.document_id for one in kept.evidence] == ["refunds/secret.md", "refunds/refunds.md"]
    assert kept.evidence[1].text == both.evidence[1].text
    assert find_trace(base.services.ledger, other.trace_id) == other
    base.services.ledger.close()
    assert b"4711-0815-2342" not in b"".join(
        file.read_bytes() for file in base.settings.home.glob("ledger.sqlite*")
    )
    # An answer that was being given meanwhile is recorded only now.
    late = both.model_copy(update={"trace_id": "late"})
    recorder.record(late)
    assert "4711-0815-2342" not in find_trace(base.services.ledger, "late").model_dump_json()


def test_a_document_that_a_run_deleted_already_gets_its_certificate_too(base: KnowledgeBase) -> None:
    base.remove("refunds", "secret.md")
    base.index("refunds")
    certificate, file = purge(base.pipeline, "refunds/secret.md")
    assert file.exists()
    assert not any(certificate.points.values())
    assert not any(certificate.left.values())


def test_an_unknown_document_is_said(base: KnowledgeBase) -> None:
    with pytest.raises(ConfigurationError, match="Nothing is known of a document refunds/nowhere"):
        purge(base.pipeline, "refunds/nowhere.md")


def test_the_command_warns_of_a_file_that_is_still_there(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_HOME", str(base.settings.home))
    monkeypatch.setenv("RAG_MANIFESTS", str(base.settings.manifests))
    monkeypatch.setenv("RAG_ALIAS", base.settings.alias)
    monkeypatch.setenv("RAG_EMBEDDING_PROVIDER", "hashing")
    if base.settings.qdrant_url:
        monkeypatch.setenv("RAG_QDRANT_URL", base.settings.qdrant_url)
        monkeypatch.setenv("RAG_QDRANT_GRPC_PORT", str(base.settings.qdrant_grpc_port))
    result = CliRunner().invoke(app, ["purge", "refunds/secret.md"])
    assert "Erased refunds/secret.md" in result.output
    assert "remove the file" in str(result.exception)
    base.remove("refunds", "secret.md")
    base.index("refunds")
    listed = CliRunner().invoke(app, ["generations", "--json"])
    (generation,) = json.loads(listed.output)["generations"]
    assert (generation["state"], generation["documents"]) == ("live", 1)
