"""The assets, one a stage, partitioned by source. Each body calls one function of the pipeline."""

import dagster as dg
import pandas as pd

from rag_pipeline.accounting import report_markdown, write_report
from rag_pipeline.orchestration.failing import said_to_people
from rag_pipeline.orchestration.metadata import report_metadata, reports_metadata, table_metadata
from rag_pipeline.orchestration.partitions import sources
from rag_pipeline.pipeline import Pipeline

GROUP = "knowledge_base"

STORE_POOL = "qdrant"
"""Steps that open Qdrant: the embedded store lets one process in at a time. dagster.yaml limits the pool."""

Pipelines = dg.ResourceParam[Pipeline]


@dg.asset(partitions_def=sources, group_name=GROUP, kinds={"file"})
def raw_documents(
    context: dg.AssetExecutionContext, pipeline: Pipelines
) -> dg.MaterializeResult[pd.DataFrame]:
    """The documents that a source lists now: path, detected type, size, hash, dates and access groups.

    The files themselves stay where they are.
    """
    with said_to_people():
        listed = pipeline.list_documents(context.partition_key)
    preview = ["document_id", "mime_type", "size", "content_hash", "access_groups"]
    return dg.MaterializeResult(value=listed.table, metadata=table_metadata(listed, preview))


@dg.asset(partitions_def=sources, group_name=GROUP, kinds={"docling"})
def normalized_documents(
    context: dg.AssetExecutionContext, raw_documents: pd.DataFrame, pipeline: Pipelines
) -> dg.MaterializeResult[pd.DataFrame]:
    """Each document as Markdown with its structure and pages. What cannot be read becomes a dead letter."""
    with said_to_people():
        normalized = pipeline.normalize(context.partition_key, raw_documents)
    preview = ["document_id", "title", "characters", "pages", "seconds", "warnings"]
    return dg.MaterializeResult(value=normalized.table, metadata=table_metadata(normalized, preview))


@dg.asset(partitions_def=sources, group_name=GROUP, kinds={"python"})
def chunks(
    context: dg.AssetExecutionContext, normalized_documents: pd.DataFrame, pipeline: Pipelines
) -> dg.MaterializeResult[pd.DataFrame]:
    """Each document split by its structure into chunks that fit the embedding model's window."""
    with said_to_people():
        chunked = pipeline.chunk(context.partition_key, normalized_documents)
    return dg.MaterializeResult(
        value=chunked.table, metadata=table_metadata(chunked, ["document_id", "chunk_count", "reused"])
    )


@dg.asset(partitions_def=sources, group_name=GROUP, kinds={"embedding"})
def embeddings(
    context: dg.AssetExecutionContext, chunks: pd.DataFrame, pipeline: Pipelines
) -> dg.MaterializeResult[pd.DataFrame]:
    """A vector for every chunk, made here or by an endpoint. No text is embedded twice for one model."""
    with said_to_people():
        embedded = pipeline.embed(context.partition_key, chunks)
    preview = ["document_id", "chunk_count", "embedded", "reused_vectors"]
    return dg.MaterializeResult(value=embedded.table, metadata=table_metadata(embedded, preview))


@dg.asset(
    partitions_def=sources,
    group_name=GROUP,
    kinds={"qdrant"},
    pool=STORE_POOL,
)
def qdrant_collection(
    context: dg.AssetExecutionContext,
    raw_documents: pd.DataFrame,
    embeddings: pd.DataFrame,
    pipeline: Pipelines,
) -> dg.MaterializeResult[None]:
    """The source's points in the live generation of the Qdrant collection: as many, and as they should be.

    Missing points are written again and orphans deleted, so that materializing it also repairs.
    """
    with said_to_people():
        report = pipeline.index(context.partition_key, raw_documents, embeddings)
    return dg.MaterializeResult(metadata=report_metadata(report))


@dg.asset(
    deps=[qdrant_collection],
    group_name=GROUP,
    kinds={"table"},
    # Whenever a source was indexed, from the UI or by the daemon, the report follows.
    automation_condition=dg.AutomationCondition.any_deps_updated() & ~dg.AutomationCondition.in_progress(),
)
def reconciliation_report(pipeline: Pipelines) -> dg.MaterializeResult[None]:
    """All sources: documents seen and failed, chunks expected, written, stored and missing, with example ids.

    Also written as JSON and Markdown beside the tables.
    """
    with said_to_people():
        found = write_report(pipeline.services)
    return dg.MaterializeResult(metadata=reports_metadata(found, report_markdown(found)))
