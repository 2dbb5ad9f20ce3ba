"""What happens by the clock and on drift, besides following the sources."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_pipeline import rebuilding
from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.ledger.dead_letters import Failure
from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.orchestration.partitions import SOURCES
from rag_pipeline.orchestration.schedules import hourly_retry, nightly_reconcile, weekly_reindex
from rag_pipeline.orchestration.sensors import fingerprint_drift
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path)
    base.manifest("refunds")
    base.page("refunds", "refunds")
    base.index("refunds")
    return base


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        instance.add_dynamic_partitions(SOURCES, ["hr", "refunds"])
        yield instance


def drift_of(base: KnowledgeBase, instance: dg.DagsterInstance, **settings: Any) -> Any:
    changed = KnowledgeBase(base.folder, None, base.settings.alias, **settings)
    context = dg.build_sensor_context(instance=instance, resources={"pipeline": changed.pipeline})
    return fingerprint_drift(context)


def test_every_source_is_reconciled_at_night(instance: dg.DagsterInstance) -> None:
    requests = nightly_reconcile(dg.build_schedule_context(instance=instance))
    assert [one.partition_key for one in requests] == ["hr", "refunds"]


def test_only_transient_failures_that_are_due_are_tried_again(
    base: KnowledgeBase, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = base.services.ledger.dead_letters
    for source, transient in (("refunds", True), ("hr", False)):
        error = DocumentError(FailureCategory.TIMEOUT, "too slow", transient=transient)
        letters.record(source, "normalize", [Failure(f"{source}/one.md", "key", error)])
    context = dg.build_schedule_context(instance=instance, resources={"pipeline": base.pipeline})
    assert isinstance(hourly_retry(context), dg.SkipReason)
    assert letters.due(datetime.now(UTC) + timedelta(days=1)) == ["refunds"]
    letters.ask_retry()
    requests = hourly_retry(context)
    assert [one.partition_key for one in requests] == ["hr", "refunds"]


def test_rebuilding_every_week_is_off_unless_someone_turns_it_on() -> None:
    assert weekly_reindex.default_status is dg.DefaultScheduleStatus.STOPPED
    assert nightly_reconcile.default_status is dg.DefaultScheduleStatus.RUNNING


def test_drift_is_told_and_built_only_where_that_is_wanted(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    assert "as the settings say" in drift_of(base, instance).skip_message
    told = drift_of(base, instance, embedding_dimensions=128)
    assert "model.dimensions was 384, is 128" in told.skip_message
    wanted = drift_of(base, instance, embedding_dimensions=128, auto_reindex=True)
    assert isinstance(wanted, dg.RunRequest)


def test_a_build_that_was_killed_is_gone_on_with_and_one_that_is_blocked_is_not(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    settings = {"embedding_dimensions": 128, "auto_reindex": True}
    changed = KnowledgeBase(base.folder, None, base.settings.alias, **settings).services
    building = rebuilding.planned_generation(changed)
    changed.ledger.generations.add(building)
    assert isinstance(drift_of(base, instance, **settings), dg.RunRequest)
    with changed.ledger.leases.hold(changed.generations_lease, purpose="building"):
        assert "is being built" in drift_of(base, instance, **settings).skip_message
    changed.ledger.generations.blocked(building.name, "refunds: too many documents failed")
    assert isinstance(drift_of(base, instance, **settings), dg.SkipReason)


def test_the_jobs_build_promote_and_roll_back(base: KnowledgeBase, instance: dg.DagsterInstance) -> None:
    first = base.collection
    definitions = build_definitions(base.pipeline)

    def run(name: str, config: dict[str, Any] | None = None) -> dg.ExecuteInProcessResult:
        job = definitions.resolve_job_def(name)
        return job.execute_in_process(instance=instance, run_config=config or {}, raise_on_error=False)

    assert run("reindex").success
    assert base.collection == first
    assert run("promote").success
    assert base.collection != first
    assert run("rollback").success
    assert base.collection == first
    assert run("gc").success
    base.write("refunds", {"broken.pdf": b"%PDF-1.4 nothing"})
    config = {"ops": {"build_generation": {"config": {"promote": True}}}}
    blocked = run("reindex", config)
    assert not blocked.success
    (failure,) = (event for event in blocked.all_events if event.is_step_failure)
    assert "refunds: 1 of its 2 documents failed" in str(
        failure.step_failure_data.user_failure_data.description  # type: ignore[union-attr]
    )
    assert base.collection == first


def test_a_model_that_cannot_be_had_is_refused(base: KnowledgeBase) -> None:
    outcome = rebuilding.reindex(base.pipeline)
    settings = outcome.generation.settings
    lost = {**settings["model"], "model": "another one"}
    with pytest.raises(Exception, match="cannot be had any more"):
        base.services.embedder_of(lost)
