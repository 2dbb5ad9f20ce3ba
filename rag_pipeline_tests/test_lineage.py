"""The way back from an answer to the file, on both stores: each hash is checked, the first break named."""

from pathlib import Path
from typing import Any

import pytest
from qdrant_client import models

from rag_pipeline import rebuilding
from rag_pipeline.catalogue import Catalogue
from rag_pipeline.chunking.identity import point_id
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.query.lineage import Lineage, LinkName
from rag_pipeline.query.lineage_reading import Places, evidence_to_walk, walk_back
from rag_pipeline.query.trace import CitedClaim, Trace
from rag_pipeline_tests.knowledge_base import PAGE, KnowledgeBase
from rag_pipeline_tests.sample_traces import trace_from

DOCUMENT = "refunds/returns.md"


@pytest.fixture
def base(tmp_path: Path, store_location: StoreLocation, alias: str) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path, store_location, alias)
    base.manifest("refunds")
    base.page("refunds", "returns", "postage")
    base.index("refunds")
    return base


def walked(base: KnowledgeBase, trace: Trace, some_id: str | None = None) -> list[Lineage]:
    services = base.services
    with open_store(services.store) as client:
        places = Places(client, services.ledger, services.artifacts, Catalogue(services).find)
        return walk_back(trace, evidence_to_walk(trace, some_id or trace.trace_id), places)


def reasons(base: KnowledgeBase, trace: Trace) -> dict[LinkName, str]:
    """Why each link that no longer holds does not, the first one first."""
    (one,) = walked(base, trace)
    return {link.name: link.reason for link in one.links if link.reason}


def tamper(base: KnowledgeBase, trace: Trace, **payload: Any) -> None:
    with open_store(base.services.store) as client:
        point = point_id(trace.evidence[0].chunk_id)
        client.set_payload(base.collection, payload, points=[point], wait=True)


def test_everything_holds_as_indexed(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT, "refunds/postage.md")
    found = walked(base, trace)
    assert [one.label for one in found] == ["S1", "S2"]
    assert [one.broken for one in found] == [None, None]
    assert [link.name for link in found[0].links] == list(LinkName)
    (alone,) = walked(base, trace, f"{trace.trace_id}:S2")
    assert alone == found[1]


def test_only_what_is_cited_is_walked_back_unless_nothing_is(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT, "refunds/postage.md")
    second = trace.evidence[1].evidence_id
    cited = trace.model_copy(update={"citations": [CitedClaim(evidence_ids=[second])]})
    assert [one.label for one in walked(base, cited)] == ["S2"]
    refused = trace.model_copy(update={"citations": []})
    assert [one.label for one in walked(base, refused)] == ["S1", "S2"]


def test_an_edited_file_is_told_from_a_newer_version(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    base.page("refunds", "returns", sentence="Hardware goes back within 14 days.")
    (file, reason), *others = reasons(base, trace).items()
    assert (file, others) == (LinkName.FILE, [])
    assert "the file was edited since" in reason
    base.index("refunds")
    (first, reason), *_ = reasons(base, trace).items()
    assert first is LinkName.POINT
    assert "the document has another version since" in reason


def test_a_file_that_is_gone_is_told_from_a_deleted_document(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    base.remove("refunds", "returns.md")
    assert reasons(base, trace) == {
        LinkName.FILE: "the file is gone from its source, or excluded by the manifest"
    }
    base.index("refunds")
    found = reasons(base, trace)
    assert next(iter(found)) is LinkName.POINT
    assert "the document was deleted from its source, as noticed 2" in found[LinkName.POINT]
    assert found.keys() == {LinkName.POINT, LinkName.CHUNK, LinkName.VERSION, LinkName.FILE}


def test_a_removed_generation_is_named_and_the_file_still_looked_at(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    for _ in range(2):
        rebuilding.reindex(base.pipeline, promote_after=True)
    assert rebuilding.collect_garbage(base.services) == [trace.generation]
    found = reasons(base, trace)
    assert found[LinkName.POINT] == f"the generation {trace.generation} was removed"
    assert LinkName.FILE not in found


def test_a_text_that_was_changed_in_the_store_is_found(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    tamper(base, trace, text="Hardware goes back within 300 days.")
    assert reasons(base, trace) == {
        LinkName.POINT: "the point's text is not what its text_hash was made of: it was changed in Qdrant"
    }


def test_a_text_that_was_changed_with_its_hash_is_found(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    other = trace_from(base, "refunds/postage.md").evidence[0]
    tamper(base, trace, text=other.text, text_hash=other.text_hash)
    assert reasons(base, trace) == {
        LinkName.POINT: "the point holds another text than the one that was ranked"
    }


def test_a_point_that_is_missing_or_withdrawn_is_found(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    tamper(base, trace, published=False)
    assert reasons(base, trace) == {LinkName.POINT: "the point is withdrawn from readers"}
    base.delete_points([point_id(trace.evidence[0].chunk_id)])
    assert "missing from Qdrant" in reasons(base, trace)[LinkName.POINT]


def test_a_lost_or_changed_artifact_is_found(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    recorded = base.services.ledger.documents.of_source(base.collection, "refunds")[DOCUMENT]
    value = base.services.artifacts.read(recorded.chunks_key)
    value["chunks"][0][2] += " "
    base.services.artifacts.write(recorded.chunks_key, value)
    assert reasons(base, trace) == {LinkName.CHUNK: "the document was cut or converted in another way since"}
    base.services.artifacts.delete(recorded.chunks_key)
    assert "the artifact with the chunk is gone" in reasons(base, trace)[LinkName.CHUNK]


def test_a_source_that_cannot_be_asked_says_why(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    base.manifest("refunds", location={"url": "../../files/moved"})
    assert "is not a folder" in reasons(base, trace)[LinkName.FILE]
    base.manifest("refunds", trust_tier=9)
    assert "is broken" in reasons(base, trace)[LinkName.FILE]
    (base.settings.sources_folder / "refunds.yaml").unlink()
    assert reasons(base, trace) == {LinkName.FILE: "the source refunds has no manifest any more"}


def test_a_link_that_leaves_the_source_is_not_followed(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    base.remove("refunds", "returns.md")
    outside = base.folder / "outside.md"
    outside.write_text(PAGE.format(title="returns", sentence="Hardware goes back within 30 days."))
    (base.folder / "files" / "refunds" / "returns.md").symlink_to(outside)
    assert "leaves the source's folder" in reasons(base, trace)[LinkName.FILE]


def test_a_trace_that_contradicts_itself_is_found(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    evidence = trace.evidence[0].model_copy(update={"text": "Something else."})
    found = reasons(base, trace.model_copy(update={"evidence": [evidence]}))
    assert found == {LinkName.EVIDENCE: "the text in the trace is not the one that was hashed"}
    evidence = trace.evidence[0].model_copy(update={"document_id": "refunds/postage.md"})
    found = reasons(base, trace.model_copy(update={"evidence": [evidence]}))
    assert "contradicts itself" in found[LinkName.EVIDENCE]


def test_a_payload_of_any_shape_is_only_another_break(base: KnowledgeBase) -> None:
    trace = trace_from(base, DOCUMENT)
    with open_store(base.services.store) as client:
        point = point_id(trace.evidence[0].chunk_id)
        client.overwrite_payload(base.collection, {"text": [1]}, points=models.PointIdsList(points=[point]))
    assert "the point holds something else" in reasons(base, trace)[LinkName.POINT]
