"""A new generation is shown to readers only where the question sets find it good, and no worse than live."""

import shutil
from pathlib import Path

import pytest

from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.evaluating import EvaluationOptions, evaluate
from rag_pipeline.evaluation.gates import Gates, Tolerance
from rag_pipeline.evaluation.promoting import promotion_gate
from rag_pipeline.index.store import open_store
from rag_pipeline.ledger.generations import Generation, GenerationState
from rag_pipeline.rebuilding import promote, reindex
from rag_pipeline.services import Services
from rag_pipeline_tests.evaluated import cases, copy_of_indexed, question_set, write_set
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = copy_of_indexed(tmp_path_factory)
    base.services.close()
    return base.folder


@pytest.fixture
def base(original: Path, tmp_path: Path) -> KnowledgeBase:
    """Indexed, with its question set and gates, and settings that want another generation."""
    shutil.copytree(original, tmp_path / "copy")
    base = KnowledgeBase(tmp_path / "copy", chunk_target_tokens=100)
    write_set(base)
    return base


def losing(services: Services, source: str, generation: Generation) -> list[str]:
    """Take a source's points from a generation before its gate is asked."""
    with open_store(services.store) as client:
        records, _ = client.scroll(generation.name, limit=1_000)
        ids = [one.id for one in records if (one.payload or {})["source_id"] == source]
        client.delete(generation.name, ids, wait=True)
    return list(promotion_gate(services)(generation))


def test_a_generation_as_good_as_live_is_promoted(base: KnowledgeBase) -> None:
    live = base.collection
    outcome = reindex(base.pipeline, promote_after=True, evaluate=promotion_gate(base.services))
    assert outcome.ready
    assert base.collection != live
    [stored] = base.services.ledger.evaluations.newest(base.settings.alias, 1)
    assert stored.generation == base.collection
    assert stored.passed
    assert "live, " + live in str(stored.record["comparisons"])


def test_of_a_generation_beside_live_the_cases_are_counted_once(base: KnowledgeBase) -> None:
    built = reindex(base.pipeline, promote_after=False).generation
    counted: list[None] = []
    evaluate(
        [question_set()],
        base.services,
        Gates(),
        generation=built.name,
        options=EvaluationOptions(lifecycle=False),
        on_case=lambda: counted.append(None),
    )
    assert len(counted) == len(question_set().questions.cases)


def test_one_that_lost_its_answers_is_not_and_the_cases_are_named(base: KnowledgeBase) -> None:
    live = base.collection
    outcome = reindex(
        base.pipeline,
        promote_after=False,
        evaluate=lambda generation: losing(base.services, "policy", generation),
    )
    assert not outcome.ready
    told = outcome.blockers[""]
    assert "gate recall_by_source: recall of policy is 0.000" in told
    assert "small/return" in told
    [page] = (base.settings.home / "evaluations").iterdir()
    assert "small/return" in page.read_text(), "all that changed is there to read"
    assert page.stat().st_mode & 0o077 == 0, "and for its owner alone"
    assert base.collection == live
    [blocked] = [
        one
        for one in base.services.ledger.generations.of_alias(base.settings.alias)
        if one.state is GenerationState.BUILDING
    ]
    assert "recall of policy" in (blocked.reason or "")
    # What it lacks is written again by the next build, which passes.
    again = reindex(base.pipeline, promote_after=True, evaluate=promotion_gate(base.services))
    assert again.ready
    assert base.collection == blocked.name


def test_a_loss_within_every_floor_is_one_to_live_all_the_same(base: KnowledgeBase) -> None:
    many = [{**one, "id": f"{one['id']}-{n}"} for one in cases() for n in range(8)]
    write_set(base, many, Gates(tolerances=(Tolerance(metric="passed", loss=0.02),)))
    outcome = reindex(base.pipeline, evaluate=lambda generation: losing(base.services, "macros", generation))
    told = outcome.blockers[""]
    assert told.startswith("gate live_passed: passed is 0.875 here and 1.000 in live")
    assert "small/warranty-0" in told


def test_without_question_sets_nothing_is_asked_and_that_is_told(
    base: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(base.folder / "manifests" / "evaluations")
    assert reindex(base.pipeline, evaluate=promotion_gate(base.services)).ready
    assert "There is no question in" in caplog.text
    promote(base.services)


def test_a_broken_question_set_is_told_before_anything_is_built(base: KnowledgeBase) -> None:
    write_set(base, [{"id": "X!"}])
    with pytest.raises(BadQuestionSet, match=r"small\.yaml: cases\.0\.id"):
        promotion_gate(base.services)
