"""Orders of events that once went wrong, found by the state machine or while its model was written."""

from pathlib import Path

import pytest

from rag_pipeline import rebuilding
from rag_pipeline.following import Verdict
from rag_pipeline.ledger.generations import GenerationState
from rag_pipeline_tests.interrupting import interrupted
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path)
    base.manifest("refunds")
    base.page("refunds", "refunds", "postage")
    base.index("refunds")
    return base


def found(base: KnowledgeBase, question: str, group: str = "support") -> str:
    return " ".join(one.text for one in base.find(question, group))


def lose(folder: Path) -> None:
    """Remove every file below a folder."""
    for file in folder.rglob("*"):
        if file.is_file():
            file.unlink()


def empty(base: KnowledgeBase) -> None:
    lose(base.folder / "files" / "refunds")


def test_what_changes_between_a_build_and_its_promotion_is_in_both(base: KnowledgeBase) -> None:
    rebuilding.reindex(base.pipeline)
    base.page("refunds", "postage", sentence="Postage is paid back within 14 days.")
    base.page("refunds", "added", sentence="What was added later is there.")
    base.index("refunds")
    rebuilding.promote(base.services)
    assert "within 14 days" in found(base, "postage")
    assert "added later" in found(base, "added")


def test_of_two_builds_only_the_newer_may_be_promoted(base: KnowledgeBase) -> None:
    older, newer = (rebuilding.reindex(base.pipeline).generation.name for _ in range(2))
    states = {one.name: one.state for one in base.services.ledger.generations.of_alias("knowledge")}
    assert (states[older], states[newer]) == (GenerationState.FAILED, GenerationState.READY)


def test_a_build_must_not_lose_what_is_withheld(base: KnowledgeBase) -> None:
    empty(base)
    base.index("refunds")
    outcome = rebuilding.reindex(base.pipeline)
    assert "wait for approval" in outcome.blockers["refunds"]
    base.services.ledger.withheld.approve("refunds", "an operator")
    assert rebuilding.reindex(base.pipeline).ready


def test_an_approval_is_spent_once_the_documents_have_come_back(base: KnowledgeBase) -> None:
    empty(base)
    base.index("refunds")
    base.services.ledger.withheld.approve("refunds", "an operator")
    base.page("refunds", "postage")
    base.index("refunds")
    empty(base)
    base.index("refunds")
    assert "postage" in found(base, "postage")


def test_what_was_narrowed_stays_so_when_it_is_withheld(base: KnowledgeBase) -> None:
    base.manifest("refunds", roles=["support", "hr"])
    base.index("refunds")
    base.write("refunds", {"postage.md.meta.yaml": "access_groups: [hr]\n"})
    base.pipeline.list_documents("refunds")  # and then the run is killed
    assert "postage" not in found(base, "postage", "support")
    empty(base)
    base.manifest("refunds", roles=["support", "hr"], trust_tier=3)
    base.index("refunds")
    assert "postage" in found(base, "postage", "hr")
    assert "postage" not in found(base, "postage", "support")


@pytest.mark.parametrize("instants", range(1, 6))
def test_a_rollback_that_dies_is_followed_by_an_update(base: KnowledgeBase, instants: int) -> None:
    rebuilding.reindex(base.pipeline, promote_after=True)
    base.page("refunds", "postage", sentence="Postage is paid back within 14 days.")
    base.index("refunds")
    interrupted(lambda: rebuilding.rollback(base.services), instants)
    (look,) = base.pipeline.catalogue.looks(20)
    if look.verdict is not Verdict.UNCHANGED:
        base.index("refunds")
    assert "within 14 days" in found(base, "postage")


def test_a_source_that_was_taken_away_holds_up_no_build(base: KnowledgeBase) -> None:
    base.manifest("hr")
    base.page("hr", "salaries")
    base.index("hr")
    (base.folder / "manifests" / "sources" / "hr.yaml").unlink()
    outcome = rebuilding.reindex(base.pipeline)
    assert outcome.ready, outcome.blockers
    assert base.services.ledger.documents.sources([outcome.generation.name]) == {"refunds"}


def test_only_what_changed_is_worked_on(base: KnowledgeBase) -> None:
    base.page("refunds", "postage", sentence="Postage is paid back within 14 days.")
    listed = base.pipeline.list_documents("refunds").table
    normalized = base.pipeline.normalize("refunds", listed).table
    assert list(normalized["document_id"]) == ["refunds/postage.md"]
    report = base.index("refunds")
    assert (report.documents.changed, report.documents.unchanged) == (1, 1)


def test_another_title_of_the_same_content_is_embedded(base: KnowledgeBase) -> None:
    base.write("refunds", {"postage.md.meta.yaml": "title: What stamps cost\n"})
    assert base.index("refunds").embedded
    assert {one.title for one in base.find("stamps", "support")} >= {"What stamps cost"}
    base.remove("refunds", "postage.md.meta.yaml")
    base.index("refunds")
    assert "What stamps cost" not in {one.title for one in base.find("stamps", "support")}


def test_points_that_are_lost_with_what_they_were_made_of_come_back(base: KnowledgeBase) -> None:
    points = base.points()
    lose(base.folder / "home" / "artifacts")
    base.delete_points(points)
    base.index("refunds")
    assert base.points().keys() == points.keys()
    lose(base.folder / "home" / "artifacts" / "chunks")
    base.delete_points(points)
    base.pipeline.run("refunds")  # finds only now that the chunks are missing, and says so
    assert base.services.ledger.dead_letters.listed(["refunds"])
    base.index("refunds")
    assert base.points().keys() == points.keys()
    assert not base.services.ledger.dead_letters.listed(["refunds"])
