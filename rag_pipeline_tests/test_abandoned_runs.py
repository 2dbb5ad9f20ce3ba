"""A killed command leaves a run that never ends and the store's only pool slot; neither may block others."""

import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.orchestration.abandoned_runs import process_tags
from rag_pipeline.orchestration.assets import STORE_POOL
from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.orchestration.sensors import killed_commands
from rag_pipeline_tests.knowledge_base import KnowledgeBase


@pytest.fixture
def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_run_of_a_killed_command_fails_and_frees_its_slot(tmp_path: Path, ended_process: int) -> None:
    job = build_definitions(KnowledgeBase(tmp_path).pipeline).resolve_job_def("index_source")
    ours = process_tags()
    ((tag, value),) = ours.items()
    machine, process, start = value.split(" ")
    gone = {tag: f"{machine} {ended_process} {start}"}
    # Another process has the dead one's id by now.
    taken_over = {tag: f"{machine} {process} 1"}
    elsewhere = {tag: f"another-machine {ended_process} {start}"}
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        killed, killed_too, alive, foreign, launched = (
            instance.create_run_for_job(job, tags=tags, status=dg.DagsterRunStatus.STARTED).run_id
            for tags in (gone, taken_over, ours, elsewhere, {})
        )
        early = instance.create_run_for_job(job, tags=gone, status=dg.DagsterRunStatus.NOT_STARTED).run_id
        again = instance.create_run_for_job(
            job, tags=gone, status=dg.DagsterRunStatus.STARTED, parent_run_id=killed, root_run_id=killed
        ).run_id
        storage = instance.event_log_storage
        storage.set_concurrency_slots(STORE_POOL, 1)
        assert storage.claim_concurrency_slot(STORE_POOL, killed, "qdrant_collection").is_claimed

        killed_commands(dg.build_sensor_context(instance))

        statuses = {run.run_id: run.status for run in instance.get_runs()}
        ended = {statuses.pop(run_id) for run_id in (killed, killed_too, early)}
        assert ended == {dg.DagsterRunStatus.FAILURE}
        assert statuses == dict.fromkeys((alive, foreign, launched, again), dg.DagsterRunStatus.STARTED)
        assert storage.claim_concurrency_slot(STORE_POOL, alive, "qdrant_collection").is_claimed


def test_a_run_that_dagster_launched_tells_its_process_too(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    job = build_definitions(base.pipeline).resolve_job_def("gc")
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        run = job.execute_in_process(instance=instance)
        stored = instance.get_run_by_id(run.run_id)
        assert stored is not None
        assert process_tags().items() <= stored.tags.items()
