"""The evaluation in Dagster: an asset with a check a gate, a job that fails with its gates, a nightly run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_pipeline.evaluation.gates import Gates
from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.orchestration.evaluation import nightly_evaluation
from rag_pipeline.orchestration.running import QUIET
from rag_pipeline_tests.evaluated import cases, copy_of_indexed, write_set
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    base = copy_of_indexed(tmp_path_factory)
    yield base
    base.services.close()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def run(
    base: KnowledgeBase, instance: dg.DagsterInstance, **config: Any
) -> tuple[dg.ExecuteInProcessResult, dict[str, dg.AssetCheckEvaluation]]:
    job = build_definitions(base.pipeline).resolve_job_def("evaluate")
    result = job.execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_config={**QUIET, "ops": {"evaluation_report": {"config": config}}},
    )
    return result, {one.check_name: one for one in result.get_asset_check_evaluations()}


def test_a_good_knowledge_base_passes_every_check_and_its_page_is_kept(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    write_set(base)
    result, checks = run(base, instance)
    assert result.success
    assert {name for name, one in checks.items() if not one.passed} == set()
    assert {"leaks", "injections_obeyed", "errored", "gold", "vectors", "every_category"} <= checks.keys()
    [materialized] = result.asset_materializations_for_node("evaluation_report")
    metadata = {name: one.value for name, one in materialized.metadata.items()}
    assert metadata["passed"] == 1.0
    assert metadata["cases"] == 8
    assert "gates hold" in metadata["summary"]
    assert metadata["by_category"].startswith("![")
    assert {one["slice"] for one in (r.data for r in metadata["metrics"].records)} >= {"all", "en", "policy"}
    page = Path(metadata["page"])
    assert "Within how many days" in page.read_text()


def test_a_broken_gate_fails_the_run_and_names_the_cases(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    wrong = {**cases()[0], "id": "wrong", "values": ["14 days"]}
    write_set(base, [*cases(), wrong])
    result, checks = run(base, instance)
    assert not result.success
    broken = {name: one for name, one in checks.items() if not one.passed}
    assert broken.keys() == {"every_category", "every_gate"}
    assert broken["every_category"].severity is dg.AssetCheckSeverity.ERROR
    assert "`small/wrong`" in str(broken["every_category"].metadata["to_blame"].value)
    assert result.asset_materializations_for_node("evaluation_report"), "what was found is kept"


def test_without_any_question_nothing_is_asked_and_every_check_warns(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    bare = KnowledgeBase(tmp_path)
    result, checks = run(bare, instance)
    assert result.success, "who materializes everything before writing questions did nothing wrong"
    assert checks
    assert all(not one.passed and one.severity is dg.AssetCheckSeverity.WARN for one in checks.values())
    [materialized] = result.asset_materializations_for_node("evaluation_report")
    assert "There is no question set" in str(materialized.metadata["summary"].value)


def test_a_gate_that_became_known_since_dagster_loaded_fails_the_run_too(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    write_set(base, gates=Gates())
    definitions = build_definitions(base.pipeline)
    write_set(base, [*cases(), {**cases()[0], "id": "wrong", "values": ["14 days"]}])
    result = definitions.resolve_job_def("evaluate").execute_in_process(
        instance=instance, raise_on_error=False, run_config=QUIET
    )
    assert not result.success
    broken = [one for one in result.get_asset_check_evaluations() if not one.passed]
    assert [one.check_name for one in broken] == ["every_gate"]
    assert "every_category" in str(broken[0].metadata["found"].value)


def test_a_set_that_is_not_there_fails_the_run_in_words(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    write_set(base)
    result, _ = run(base, instance, sets=["other"])
    [failure] = [event for event in result.all_events if event.is_step_failure]
    assert "other.yaml cannot be read" in str(failure.step_failure_data.user_failure_data)


def test_questions_are_asked_at_night_where_there_are_any(
    base: KnowledgeBase, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_set(base)
    with_sets = dg.build_schedule_context(instance=instance, resources={"pipeline": base.pipeline})
    assert isinstance(nightly_evaluation(with_sets), dg.RunRequest)
    bare = KnowledgeBase(tmp_path)
    without = dg.build_schedule_context(instance=instance, resources={"pipeline": bare.pipeline})
    assert isinstance(nightly_evaluation(without), dg.SkipReason)


def test_gates_that_cannot_be_read_do_not_keep_dagster_from_loading(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    write_set(base)
    (base.folder / "manifests" / "evaluations" / "gates.yaml").write_text("floors: 3")
    dg.Definitions.validate_loadable(build_definitions(base.pipeline))
    result, _ = run(base, instance)
    [failure] = [event for event in result.all_events if event.is_step_failure]
    assert "gates.yaml: floors" in str(failure.step_failure_data.user_failure_data)
