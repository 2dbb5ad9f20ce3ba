"""The sensor's looks and the runs that it asks for, carried out in this process as Dagster's daemon would."""

import dagster as dg
from dagster import SensorResult

from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.orchestration.partitions import SOURCES
from rag_pipeline.orchestration.running import QUIET
from rag_pipeline.orchestration.sensors import source_changes
from rag_pipeline_tests.knowledge_base import KnowledgeBase


def tick(base: KnowledgeBase, instance: dg.DagsterInstance, cursor: str | None = None) -> SensorResult:
    """One evaluation of the sensor after one that left `cursor`, with its partition requests carried out."""
    context = dg.build_sensor_context(instance, cursor=cursor, resources={"pipeline": base.pipeline})
    result = source_changes(context)
    assert isinstance(result, SensorResult)
    for request in result.dynamic_partitions_requests or ():
        for key in request.partition_keys:
            if isinstance(request, dg.AddDynamicPartitionsRequest):
                instance.add_dynamic_partitions(SOURCES, [key])
            else:
                instance.delete_dynamic_partition(SOURCES, key)
    return result


def requested(result: SensorResult) -> list[str]:
    """The sources that the sensor wants to be run."""
    return [str(request.partition_key) for request in result.run_requests or ()]


def run_requested(base: KnowledgeBase, instance: dg.DagsterInstance, result: SensorResult) -> bool:
    """Run them, one after the other; whether all succeeded."""
    job = build_definitions(base.pipeline).resolve_job_def("index_source")
    outcomes = [
        job.execute_in_process(
            instance=instance, partition_key=source, raise_on_error=False, run_config=QUIET
        ).success
        for source in requested(result)
    ]
    return all(outcomes)
