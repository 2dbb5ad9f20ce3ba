"""Blue and green: generations are built beside the live one, judged, swapped and taken back."""

from pathlib import Path
from typing import Any

import pytest

from rag_pipeline import rebuilding
from rag_pipeline.errors import ConfigurationError, GenerationConflict
from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.index.swapping import point_alias, swap
from rag_pipeline.ledger.generations import GenerationState
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture
def base(tmp_path: Path, store_location: StoreLocation, alias: str) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path, store_location, alias)
    base.manifest("refunds")
    base.page("refunds", "refunds", "postage")
    base.manifest("hr", roles=["hr"])
    base.page("hr", "salaries", sentence="The highest band ends at 90,000 EUR.")
    for source in ("refunds", "hr"):
        base.index(source)
    return base


def with_settings(base: KnowledgeBase, store: StoreLocation, **settings: Any) -> KnowledgeBase:
    """The same knowledge base, as a process with other settings sees it."""
    return KnowledgeBase(base.folder, store, base.settings.alias, **settings)


def names(base: KnowledgeBase) -> dict[str, GenerationState]:
    return {one.name: one.state for one in base.services.ledger.generations.of_alias(base.settings.alias)}


def aliased(base: KnowledgeBase) -> str | None:
    with open_store(base.services.store) as client:
        return aliased_collection(client, base.settings.alias)


def test_a_changed_model_is_built_beside_live_and_swapped_in(
    base: KnowledgeBase, store_location: StoreLocation
) -> None:
    before = base.collection
    points = base.points()
    changed = with_settings(base, store_location, embedding_dimensions=128)
    outcome = rebuilding.reindex(changed.pipeline)
    assert outcome.ready
    assert names(base) == {before: GenerationState.LIVE, outcome.generation.name: GenerationState.READY}
    assert base.points() == points, "live is untouched"
    assert changed.find("postage", "support"), "live is queried with the model that built it"
    rebuilding.promote(changed.services)
    assert aliased(base) == outcome.generation.name
    assert names(base)[before] is GenerationState.PREVIOUS
    assert len(changed.points()) == len(points)
    assert changed.find("postage", "support")
    assert base.find("postage", "support"), "a process with the old settings asks with the new model too"


def test_updates_and_deletions_reach_both_generations(
    base: KnowledgeBase, store_location: StoreLocation
) -> None:
    changed = with_settings(base, store_location, embedding_dimensions=128)
    base.services.ledger.generations.add(rebuilding.planned_generation(changed.services))
    building = base.services.ledger.generations.building(base.settings.alias)
    assert building is not None
    base.page("refunds", "postage", sentence="Postage is paid back within 14 days.")
    base.page("refunds", "added")
    base.remove("refunds", "refunds.md")
    changed.index("refunds")
    with open_store(base.services.store) as client:
        for collection in (base.collection, building.name):
            records, _ = client.scroll(collection, limit=1_000)
            stored = {one.payload["document_id"] for one in records if one.payload}
            assert {one for one in stored if one.startswith("refunds/")} == {
                "refunds/postage.md", "refunds/added.md",
            }  # fmt: skip
            texts = " ".join(one.payload["text"] for one in records if one.payload)
            assert "within 14 days" in texts


def test_settings_that_drift_leave_live_alone_and_go_on_feeding_it(
    base: KnowledgeBase, store_location: StoreLocation
) -> None:
    drifted = with_settings(base, store_location, chunk_target_tokens=64)
    before = base.points()
    report = drifted.index("refunds")
    assert report.documents.unchanged == 2
    assert base.points() == before
    base.page("refunds", "added")
    assert drifted.index("refunds").documents.added == 1
    assert list(names(base)) == [base.collection]
    assert base.find("added", "support")


def test_a_rollback_brings_the_previous_generation_back_and_up_to_date(
    base: KnowledgeBase, store_location: StoreLocation
) -> None:
    first = base.collection
    changed = with_settings(base, store_location, embedding_dimensions=128)
    rebuilding.reindex(changed.pipeline, promote_after=True)
    base.page("refunds", "postage", sentence="Postage is paid back within 14 days.")
    base.remove("hr", "salaries.md")
    base.page("hr", "holidays")
    changed.index("refunds")
    changed.index("hr")
    rebuilding.rollback(changed.services)
    assert aliased(base) == base.collection == first
    assert "hr/salaries.md" not in {one.document_id for one in base.find("highest band", "hr")}
    for source in ("refunds", "hr"):
        base.index(source)
    assert any("within 14 days" in one.text for one in base.find("postage", "support"))


def test_a_source_that_failed_too_much_blocks_until_it_is_waived(base: KnowledgeBase) -> None:
    base.write("hr", {"broken.pdf": b"%PDF-1.4 nothing"})
    blocked = rebuilding.reindex(base.pipeline)
    assert not blocked.ready
    assert "1 of its 2 documents failed" in blocked.blockers["hr"]
    assert names(base)[blocked.generation.name] is GenerationState.BUILDING
    with pytest.raises(GenerationConflict, match="ready"):
        rebuilding.promote(base.services)
    waived = rebuilding.reindex(base.pipeline, waived=["hr"], waived_by="an operator")
    assert waived.ready
    assert waived.generation.name == blocked.generation.name
    (waiver,) = base.services.ledger.waivers.of_generation(waived.generation.name).values()
    assert (waiver.source_id, waiver.waived_by) == ("hr", "an operator")


def test_a_build_that_was_stopped_goes_on_without_embedding_anew(base: KnowledgeBase) -> None:
    begun = rebuilding.planned_generation(base.services)
    base.services.ledger.generations.add(begun)
    base.index("refunds")
    outcome = rebuilding.reindex(base.pipeline)
    assert outcome.ready
    assert outcome.generation.name == begun.name
    for source in ("refunds", "hr"):
        account = base.services.ledger.reconciliations.of_generation(begun.name)[source]
        assert account.report["embedded"] == 0


def test_the_swap_refuses_what_is_not_fit(base: KnowledgeBase) -> None:
    outcome = rebuilding.reindex(base.pipeline)
    live = base.collection
    with pytest.raises(GenerationConflict, match="no generation nowhere"):
        rebuilding.promote(base.services, "nowhere")
    with open_store(base.services.store) as client:
        client.delete_collection(outcome.generation.name)
    with pytest.raises(GenerationConflict, match="no such collection"):
        rebuilding.promote(base.services)
    assert aliased(base) == base.collection == live


def test_a_swap_that_somebody_else_made_meanwhile_is_not_undone(base: KnowledgeBase) -> None:
    first, second = base.collection, rebuilding.reindex(base.pipeline, promote_after=True).generation.name
    third = rebuilding.reindex(base.pipeline).generation
    with (
        open_store(base.services.store) as client,
        pytest.raises(GenerationConflict, match="someone else"),
    ):
        swap(client, base.services.ledger.generations, third, expected=first)
    assert aliased(base) == second


def test_a_swap_that_died_between_alias_and_ledger_is_completed(base: KnowledgeBase) -> None:
    first, target = base.collection, rebuilding.reindex(base.pipeline).generation.name
    with open_store(base.services.store) as client:
        point_alias(client, base.settings.alias, target)
    assert base.find("postage", "support"), "readers follow the alias"
    base.index("refunds")
    assert names(base) == {first: GenerationState.PREVIOUS, target: GenerationState.LIVE}


def test_garbage_is_collected_but_never_live_nor_the_way_back(base: KnowledgeBase) -> None:
    first = base.collection
    second = rebuilding.reindex(base.pipeline, promote_after=True).generation.name
    third = rebuilding.reindex(base.pipeline, promote_after=True).generation.name
    assert rebuilding.collect_garbage(base.services) == [first]
    assert rebuilding.collect_garbage(base.services) == []
    assert names(base) == {second: GenerationState.PREVIOUS, third: GenerationState.LIVE}
    with open_store(base.services.store) as client:
        assert not client.collection_exists(first)
    with pytest.raises(ConfigurationError, match="--keep"):
        rebuilding.collect_garbage(base.services, keep=0)
    assert base.find("postage", "support")
    assert base.index("refunds").embedded == 0


def test_a_second_knowledge_base_lives_beside_the_first_in_one_ledger(
    base: KnowledgeBase, store_location: StoreLocation, alias: str
) -> None:
    second = KnowledgeBase(base.folder, store_location, f"{alias}_second", embedding_dimensions=128)
    second.index("refunds")
    base.page("refunds", "postage", sentence="Postage is paid back within 14 days.")
    for one in (base, second):
        assert one.index("refunds").reconciled
        assert any("within 14 days" in found.text for found in one.find("postage", "support"))
