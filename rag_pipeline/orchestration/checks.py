"""What must hold of a source's points: looked up anew in Qdrant, not taken from the run that wrote them."""

import warnings
from collections.abc import Iterator

import dagster as dg

from rag_pipeline.accounting import freshness, inspect_source
from rag_pipeline.orchestration.assets import STORE_POOL, Pipelines, qdrant_collection
from rag_pipeline.orchestration.failing import said_to_people
from rag_pipeline.orchestration.partitions import sources

# Partitioned checks are a preview of Dagster's. Without them a check's result would belong to no source.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

_BLOCKING = {
    "counts_match": "Every expected chunk is stored or stands in a dead letter.",
    "no_missing": "No chunk that the ledger records is missing from Qdrant.",
    "no_orphans": "No point is there that belongs to no current version of a document.",
    "no_duplicates": "No chunk is there twice.",
    "payload_types": "Payloads hold the contract's fields with the contract's types (a sample, by id).",
    "vector_sizes": "Dense vectors have the generation's size, and BM25 weights are there (the same sample).",
}


def _spec(name: str, description: str, *, blocking: bool) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(
        name, asset=qdrant_collection, description=description, blocking=blocking, partitions_def=sources
    )


@dg.multi_asset_check(
    specs=[_spec(name, description, blocking=True) for name, description in _BLOCKING.items()],
    pool=STORE_POOL,
)
def stored_points_are_right(
    context: dg.AssetCheckExecutionContext, pipeline: Pipelines
) -> Iterator[dg.AssetCheckResult]:
    """Compare Qdrant with the ledger by id, and look into a sample of points."""
    with said_to_people():
        found = inspect_source(pipeline.services, context.partition_key)
    for name in _BLOCKING:
        finding = found[name]
        yield dg.AssetCheckResult(
            check_name=name,
            asset_key=qdrant_collection.key,
            passed=finding.passed,
            metadata={"counts": finding.counts, "examples": list(finding.examples)},
        )


@dg.asset_check(asset=qdrant_collection, partitions_def=sources)
def dead_letters(context: dg.AssetCheckExecutionContext, pipeline: Pipelines) -> dg.AssetCheckResult:
    """No document or chunk of the source has failed."""
    found = pipeline.services.ledger.dead_letters.listed([context.partition_key])
    return dg.AssetCheckResult(
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "dead letters": len(found),
            "list": "\n".join(f"{one.document_id}: {one.category}: {one.message}" for one in found[:20]),
        },
    )


@dg.asset_check(asset=qdrant_collection, partitions_def=sources)
def stale_sources(context: dg.AssetCheckExecutionContext, pipeline: Pipelines) -> dg.AssetCheckResult:
    """The source was updated or reviewed within its freshness SLA."""
    with said_to_people():
        found = freshness(pipeline.services, pipeline.manifest(context.partition_key))
    return dg.AssetCheckResult(
        passed=not found.stale,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "newest": found.newest.isoformat() if found.newest else "unknown",
            "freshness_sla_days": found.sla_days or "none",
        },
    )
