"""One run at a time works on a source, whoever started it: a command, the UI, a sensor or a schedule."""

from collections.abc import Iterator

import dagster as dg

from rag_pipeline.orchestration.abandoned_runs import process_tags
from rag_pipeline.orchestration.failing import said_to_people
from rag_pipeline.pipeline import Pipeline

PARTITION_TAG = "dagster/partition"


def leased(pipeline: Pipeline) -> dg.ResourceDefinition:
    """The pipeline as a resource: a run that works on a source holds its lease from first step to last.

    Where another run has it, this one waits, and fails naming the holder if that goes on for too long. The
    run is tagged with its process, so that it can be put to rest should that be killed.
    """

    def hold(context: dg.InitResourceContext) -> Iterator[Pipeline]:
        if context.run and context.instance:
            context.instance.add_run_tags(context.run.run_id, process_tags())
        source_id = context.run.tags.get(PARTITION_TAG) if context.run else None
        if source_id is None:
            yield pipeline
        else:
            with said_to_people(), pipeline.holding(source_id):
                yield pipeline

    return dg.ResourceDefinition(resource_fn=hold, description="Indexing, with the source's lease held.")
