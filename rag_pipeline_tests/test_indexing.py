"""A source's life in the collection: every chunk is accounted for by id, on both stores."""

import uuid
from pathlib import Path

import pytest
from qdrant_client import models

from rag_pipeline.chunking.identity import point_id
from rag_pipeline.errors import OutOfStep
from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.reconciling import ChunkCounts, DocumentCounts, Healed
from rag_pipeline.index.schema import DENSE, PointPayload
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture
def base(tmp_path: Path, store_location: StoreLocation, alias: str) -> KnowledgeBase:
    """A knowledge base of two sources, not indexed yet."""
    base = KnowledgeBase(tmp_path, store_location, alias)
    base.manifest("refunds")
    base.page("refunds", "refunds", "postage")
    base.manifest("hr", roles=["hr"])
    base.page("hr", "salaries", sentence="The highest band ends at 90,000 EUR.")
    return base


def test_every_chunk_is_written_and_counted_by_id(base: KnowledgeBase) -> None:
    report = base.index("refunds")
    points = base.points()
    assert report.reconciled
    assert report.documents == DocumentCounts(seen=2, added=2)
    assert report.chunks == ChunkCounts(expected=len(points), written=len(points), stored=len(points))
    assert report.embedded == len(points)
    for point, payload in points.items():
        checked = PointPayload.model_validate(payload)
        assert point == point_id(checked.chunk_id)
        assert checked.published
    per_document = {payload["document_id"]: payload["chunk_count"] for payload in points.values()}
    assert sum(per_document.values()) == len(points)


def test_a_second_run_does_nothing(base: KnowledgeBase) -> None:
    first = base.index("refunds")
    raw = base.pipeline.list_documents("refunds").table
    normalized = base.pipeline.normalize("refunds", raw).table
    report = base.index("refunds")
    assert normalized["reused"].all(), "0 converted"
    assert report.embedded == 0
    assert report.chunks == ChunkCounts(
        expected=first.chunks.stored, reused=first.chunks.stored, stored=first.chunks.stored
    )
    assert report.documents == DocumentCounts(seen=2, unchanged=2)


def test_points_deleted_behind_its_back_are_written_again_without_embedding(base: KnowledgeBase) -> None:
    before = base.index("refunds")
    lost = sorted(base.points())[:2]
    base.delete_points(lost)
    report = base.index("refunds")
    assert report.reconciled
    assert report.healed == Healed(missing=2)
    assert report.chunks.written == 2
    assert report.embedded == 0
    assert report.examples["healed_missing"] == tuple(lost)
    assert len(base.points()) == before.chunks.stored


def test_a_dropped_collection_is_built_again_without_embedding(base: KnowledgeBase) -> None:
    base.index("refunds")
    before = base.points()
    with open_store(base.services.store) as client:
        client.delete_collection(base.collection)
    assert base.points() == {}
    report = base.index("refunds")
    assert report.reconciled
    assert report.embedded == 0
    assert base.points().keys() == before.keys()
    assert base.find("Within how many days does hardware go back?", "support")


def test_orphans_and_duplicates_are_removed_and_told_apart(base: KnowledgeBase) -> None:
    base.index("refunds")
    point, payload = sorted(base.points().items())[0]
    stray, double = str(uuid.uuid4()), str(uuid.uuid4())
    with open_store(base.services.store) as client:
        vector = client.retrieve(base.collection, [point], with_vectors=True)[0].vector
        assert isinstance(vector, dict)
        client.upsert(
            base.collection,
            [
                models.PointStruct(id=double, vector={DENSE: vector[DENSE]}, payload=payload),
                models.PointStruct(
                    id=stray, vector={DENSE: vector[DENSE]}, payload={**payload, "chunk_id": "nobody's"}
                ),
            ],
            wait=True,
        )
    report = base.index("refunds")
    assert report.healed == Healed(orphaned=1, duplicated=1)
    assert report.reconciled
    assert not {stray, double} & base.points().keys()


def test_a_changed_document_keeps_the_vectors_of_its_unchanged_chunks(base: KnowledgeBase) -> None:
    base.index("refunds")
    old = {p for p, payload in base.points().items() if payload["document_id"] == "refunds/postage.md"}
    base.page("refunds", "postage", sentence="Postage is paid back within 14 days.")
    report = base.index("refunds")
    points = base.points()
    assert report.documents == DocumentCounts(seen=2, changed=1, unchanged=1)
    assert 0 < report.embedded < len(old)
    assert not old & points.keys(), "nothing of the old version is left"
    assert report.reconciled
    assert "14 days" in base.find("Postage is paid back within how many days?", "support")[0].text


def test_a_deleted_document_leaves_no_point(base: KnowledgeBase) -> None:
    base.index("refunds")
    base.remove("refunds", "postage.md")
    report = base.index("refunds")
    assert report.documents == DocumentCounts(seen=1, unchanged=1, deleted=1)
    assert {payload["document_id"] for payload in base.points().values()} == {"refunds/refunds.md"}
    assert base.services.ledger.documents.pending_tombstones(base.collection, "refunds") == []
    assert report.reconciled


def test_changed_access_updates_payloads_in_place_and_holds_for_the_next_question(
    base: KnowledgeBase,
) -> None:
    base.index("refunds")
    ids = base.points().keys()
    assert base.find("hardware", "support")
    base.manifest("refunds", roles=["finance"], valid_until="2027-01-01")
    report = base.index("refunds")
    assert report.documents.changed == 2
    assert (report.embedded, report.chunks.written) == (0, 0)
    assert base.points().keys() == ids
    assert base.find("hardware", "support") == ()
    assert base.find("hardware", "finance")
    base.manifest("refunds", roles=["finance"])
    base.index("refunds")
    assert all("valid_until" not in payload for payload in base.points().values())


def test_two_documents_with_the_same_bytes_are_two_documents(base: KnowledgeBase) -> None:
    page = (base.folder / "files/refunds/refunds.md").read_bytes()
    base.write("refunds", {"copy.md": page, "Copy.md": page, "copy.md.meta.yaml": "access_groups: []\n"})
    report = base.index("refunds")
    seen = {payload["document_id"]: payload["access_groups"] for payload in base.points().values()}
    assert seen["refunds/copy.md"] == []
    assert seen["refunds/Copy.md"] == seen["refunds/refunds.md"] == ["support"]
    assert report.reconciled


def test_a_document_that_cannot_be_read_any_more_keeps_its_last_good_version(base: KnowledgeBase) -> None:
    base.index("refunds")
    before = base.points()
    base.write("refunds", {"postage.md": b""})
    report = base.index("refunds")
    assert report.documents == DocumentCounts(seen=2, unchanged=1, failed=1)
    assert base.points() == before, "with the dates of the text that stays"
    assert report.reconciled
    (letter,) = base.services.ledger.dead_letters.listed(["refunds"])
    assert (letter.document_id, letter.category, letter.attempts) == ("refunds/postage.md", "empty", 1)
    base.index("refunds")
    (letter,) = base.services.ledger.dead_letters.listed(["refunds"])
    assert letter.attempts == 1, "a permanent failure is not tried again"
    base.page("refunds", "postage")
    assert base.index("refunds").documents.failed == 0
    assert base.services.ledger.dead_letters.listed() == []


def test_the_last_good_version_is_governed_by_todays_manifest(base: KnowledgeBase) -> None:
    base.manifest("refunds", roles=["support", "finance"])
    base.index("refunds")
    base.write("refunds", {"postage.md": b""})
    (base.folder / "files/refunds/refunds.md").unlink()
    (base.folder / "files/refunds/refunds.md").symlink_to("/nowhere/refunds.md")
    base.manifest("refunds", roles=["finance", "hr"], trust_tier=3)
    report = base.index("refunds")
    assert report.documents.failed == 2
    assert report.embedded == report.chunks.written == 0
    access = {p["document_id"]: (p["access_groups"], p["trust_tier"]) for p in base.points().values()}
    assert access == {
        "refunds/postage.md": (["finance", "hr"], 3),  # its own facts are known: only its text is not
        "refunds/refunds.md": (["finance"], 3),  # nothing is known of it: nobody new is let in
    }
    assert base.find("hardware", "support") == ()


def test_a_document_whose_access_cannot_be_established_is_withdrawn(base: KnowledgeBase) -> None:
    base.index("refunds")
    base.write("refunds", {"postage.md.meta.yaml": "access_groups: [support, everybody]\n"})
    report = base.index("refunds")
    assert report.documents == DocumentCounts(seen=2, unchanged=1, failed=1)
    assert {payload["document_id"] for payload in base.points().values()} == {"refunds/refunds.md"}
    (letter,) = base.services.ledger.dead_letters.listed()
    assert letter.category == "access_widened"


def test_sources_do_not_touch_each_other(base: KnowledgeBase) -> None:
    base.index("refunds")
    base.index("hr")
    base.remove("hr", "salaries.md")
    base.page("hr", "holidays")
    base.index("hr")
    assert {payload["source_id"] for payload in base.points().values()} == {"refunds", "hr"}
    assert base.index("refunds").documents == DocumentCounts(seen=2, unchanged=2)


def test_the_collection_is_only_ever_searched_through_its_alias(base: KnowledgeBase) -> None:
    base.index("refunds")
    with open_store(base.services.store) as client:
        assert aliased_collection(client, base.settings.alias) == base.collection
        assert base.collection.startswith(f"{base.settings.alias}__")


def test_a_listing_hides_what_is_gone_or_narrowed_before_anything_is_embedded(base: KnowledgeBase) -> None:
    base.manifest("refunds", roles=["support", "finance"])
    base.index("refunds")
    base.remove("refunds", "postage.md")
    base.write("refunds", {"refunds.md.meta.yaml": "access_groups: [finance]\n"})
    base.pipeline.list_documents("refunds")
    assert base.find("postage hardware", "support") == ()
    assert {chunk.document_id for chunk in base.find("postage hardware", "finance")} == {"refunds/refunds.md"}
    report = base.index("refunds")
    assert report.documents == DocumentCounts(seen=1, changed=1, deleted=1)


def test_a_source_that_moves_to_another_tenant_is_seen_by_nobody_until_it_has_moved(
    base: KnowledgeBase,
) -> None:
    base.index("refunds")
    base.manifest("refunds", tenant="other")
    base.pipeline.list_documents("refunds")
    assert base.find("hardware", "support") == base.find("hardware", "support", tenant="other") == ()
    base.index("refunds")
    assert base.find("hardware", "support", tenant="other")


def test_tables_of_another_listing_are_refused(base: KnowledgeBase) -> None:
    raw = base.pipeline.list_documents("refunds").table
    chunks = base.pipeline.chunk("refunds", base.pipeline.normalize("refunds", raw).table).table
    embeddings = base.pipeline.embed("refunds", chunks).table
    base.pipeline.index("refunds", raw, embeddings)
    before = base.points()
    for change in (
        lambda: base.page("refunds", "postage", sentence="Postage is paid back within 14 days."),
        lambda: base.page("refunds", "new page"),
        lambda: base.remove("refunds", "postage.md"),
    ):
        change()
        newer = base.pipeline.list_documents("refunds").table
        with pytest.raises(OutOfStep, match="Materialize normalized_documents"):
            base.pipeline.index("refunds", newer, embeddings)
        assert base.points() == before


def test_a_listing_that_another_one_followed_is_refused(base: KnowledgeBase) -> None:
    raw = base.pipeline.list_documents("refunds").table
    normalized = base.pipeline.normalize("refunds", raw).table
    embeddings = base.pipeline.embed("refunds", base.pipeline.chunk("refunds", normalized).table).table
    base.pipeline.index("refunds", raw, embeddings)
    base.remove("refunds", "postage.md")
    base.index("refunds")
    before = base.points()
    with pytest.raises(OutOfStep, match="Materialize raw_documents"):
        base.pipeline.index("refunds", raw, embeddings)
    assert base.points() == before, "what was deleted since does not come back"


def test_a_damaged_artifact_is_made_again(base: KnowledgeBase) -> None:
    before = base.index("refunds")
    for artifact in (base.folder / "home/artifacts").rglob("*.json"):
        artifact.write_bytes(artifact.read_bytes()[:10])
    base.index("refunds")
    healed = base.index("refunds")
    assert healed.reconciled
    assert healed.documents.failed == 0
    assert healed.chunks.stored == before.chunks.stored
