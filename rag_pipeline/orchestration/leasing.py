"""One run at a time works on a source, whoever started it: a command, the UI, a sensor or a schedule."""

from collections.abc import Iterator

import dagster as dg

from rag_pipeline.orchestration.failing import said_to_people
from rag_pipeline.pipeline import Pipeline

SOURCE_LEASE = "source_lease"

PARTITION_TAG = "dagster/partition"


def source_lease(pipeline: Pipeline) -> dg.ResourceDefinition:
    """A resource that a run holds from its first step to its last: the lease of the source that it works on.

    Where another run has it, this one waits, and fails naming the holder if that goes on for too long.
    """

    def hold(context: dg.InitResourceContext) -> Iterator[None]:
        source_id = context.run.tags.get(PARTITION_TAG) if context.run else None
        if source_id is None:
            yield
        else:
            with said_to_people(), pipeline.holding(source_id):
                yield

    return dg.ResourceDefinition(resource_fn=hold, description="The lease of the source that a run works on.")
