"""The assets and checks in Dagster, with two sources, since one partition hides what two would show."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.accounting import inspect_source
from rag_pipeline.index.store import open_store
from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.orchestration.partitions import SOURCES
from rag_pipeline.orchestration.running import QUIET
from rag_pipeline_tests.knowledge_base import KnowledgeBase

BLOCKING = {
    "counts_match", "no_missing", "no_orphans", "no_duplicates", "payload_types", "vector_sizes",
    "deletions_plausible",
}  # fmt: skip


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path)
    base.manifest("refunds")
    base.page("refunds", "refunds", "postage")
    base.manifest("hr", roles=["hr"], freshness_sla_days=30)
    base.page("hr", "salaries")
    return base


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield instance


def run(base: KnowledgeBase, instance: dg.DagsterInstance, source: str) -> dg.ExecuteInProcessResult:
    instance.add_dynamic_partitions(SOURCES, [source])
    job = build_definitions(base.pipeline).resolve_job_def("index_source")
    return job.execute_in_process(
        instance=instance, partition_key=source, raise_on_error=False, run_config=QUIET
    )


def checks(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    return {one.check_name: one.passed for one in result.get_asset_check_evaluations()}


def test_definitions_load(base: KnowledgeBase) -> None:
    dg.Definitions.validate_loadable(build_definitions(base.pipeline))


def test_each_source_is_materialized_and_checked_by_itself(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    for source in ("refunds", "hr"):
        result = run(base, instance, source)
        assert result.success
        assert checks(result) == dict.fromkeys(
            BLOCKING | {"dead_letters", "source_followed", "stale_sources"}, True
        )
        partitions = {
            event.partition for event in result.get_asset_materialization_events() if event.partition
        }
        assert partitions == {source}
    (event,) = (e for e in result.asset_materializations_for_node("qdrant_collection"))
    assert event.metadata["chunks_stored"].value == event.metadata["chunks_expected"].value > 0
    job = build_definitions(base.pipeline).resolve_job_def("report_reconciliation")
    (report,) = job.execute_in_process(instance=instance, run_config=QUIET).asset_materializations_for_node(
        "reconciliation_report"
    )
    assert report.metadata["sources"].value == 2
    assert "| refunds |" in report.metadata["report"].value
    written = base.folder / "home" / "reports"
    assert (written / "reconciliation_report.json").is_file()
    assert (written / "reconciliation_report.md").is_file()


def test_the_checks_look_into_qdrant_by_themselves(base: KnowledgeBase) -> None:
    base.index("refunds")
    assert all(finding.passed for finding in inspect_source(base.services, "refunds").values())
    lost, changed, opened = sorted(base.points())[:3]
    base.delete_points([lost])
    with open_store(base.services.store) as client:
        client.set_payload(base.collection, {"trust_tier": "high"}, points=[changed], wait=True)
        client.set_payload(base.collection, {"access_groups": ["everyone"]}, points=[opened], wait=True)
        client.delete_vectors(base.collection, ["bm25"], points=[changed], wait=True)
    found = inspect_source(base.services, "refunds")
    assert {name for name, finding in found.items() if not finding.passed} == {
        "counts_match", "no_missing", "payload_types", "vector_sizes",
    }  # fmt: skip
    assert found["no_missing"].examples == (lost,)
    by_hand = found["payload_types"].examples
    assert by_hand[0].startswith(f"{changed}: trust_tier")
    assert by_hand[1] == f"{opened}: access_groups: is ['everyone'], the ledger says ['support']"


def test_dead_letters_and_stale_sources_are_told_but_do_not_fail_the_run(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    long_ago = "updated_at: 2020-01-01\n"
    base.write("hr", {"empty.md": b"", "empty.md.meta.yaml": long_ago, "salaries.md.meta.yaml": long_ago})
    result = run(base, instance, "hr")
    assert result.success
    assert {name for name, passed in checks(result).items() if not passed} == {
        "dead_letters",
        "stale_sources",
    }


def test_a_broken_manifest_fails_its_own_source_with_its_reason(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    base.manifest("hr", trust_tier=9)
    result = run(base, instance, "hr")
    (failure,) = (event for event in result.all_events if event.is_step_failure)
    data = failure.step_failure_data
    assert data.user_failure_data is not None
    assert "trust_tier" in str(data.user_failure_data.description)
    assert run(base, instance, "refunds").success


def test_a_missing_location_fails_and_deletes_nothing(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    assert run(base, instance, "refunds").success
    before = base.points()
    base.manifest("refunds", location={"url": "../../files/moved_away"})
    assert not run(base, instance, "refunds").success
    assert base.points() == before
