"""What must hold of a source's points: looked up anew in Qdrant, not taken from the run that wrote them.

A run of one source checks that source. A run without a partition, as "Execute all" in the UI launches it,
checks all sources that are indexed.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dagster as dg

from rag_pipeline.accounting import Freshness, freshness, inspect_source, reports
from rag_pipeline.errors import StoreError
from rag_pipeline.following import MOST_ATTEMPTS
from rag_pipeline.orchestration.assets import STORE_POOL, Pipelines, qdrant_collection
from rag_pipeline.orchestration.failing import said_to_people
from rag_pipeline.orchestration.metadata import (
    finding_metadata,
    freshness_metadata,
    letters_metadata,
    withheld_metadata,
)
from rag_pipeline.orchestration.partitions import sources
from rag_pipeline.pipeline import Pipeline

# Partitioned checks are a preview of Dagster's. Without them a check's result would belong to no source.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

_BLOCKING = {
    "counts_match": "Every expected chunk is stored or stands in a dead letter.",
    "no_missing": "No chunk that the ledger records is missing from Qdrant.",
    "no_orphans": "No point is there that belongs to no current version of a document.",
    "no_duplicates": "No chunk is there twice.",
    "payload_types": "Payloads hold the contract's types and the ledger's facts (a sample, by id).",
    "vector_sizes": "Dense vectors have the generation's size, and BM25 weights are there (the same sample).",
}
_PLAUSIBLE = {
    "deletions_plausible": "No deletion waits for a person's approval because too many documents are gone.",
}
FOLLOWED = "source_followed"
_WARNING = {
    FOLLOWED: "The last runs of the source did not all fail.",
    "dead_letters": "No document or chunk of the source has failed.",
    "stale_sources": "The source was updated or reviewed within its freshness SLA.",
}

_Outcome = tuple[bool, dict[str, Any]]
"""Whether a check passed, and its metadata."""

_ERROR, _WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN


def _specs(checks: Mapping[str, str], *, blocking: bool) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            name,
            asset=qdrant_collection,
            description=description,
            blocking=blocking,
            partitions_def=sources,
        )
        for name, description in checks.items()
    ]


# can_subset, or else "Execute all" would leave the checks out.
@dg.multi_asset_check(specs=_specs(_BLOCKING, blocking=True), pool=STORE_POOL, can_subset=True)
def stored_points_are_right(
    context: dg.AssetCheckExecutionContext, pipeline: Pipelines
) -> Iterator[dg.AssetCheckResult | dg.AssetCheckEvaluation]:
    """Compare Qdrant with the ledger by id, and look into a sample of points."""

    def look(source_id: str) -> dict[str, _Outcome]:
        found = inspect_source(pipeline.services, source_id)
        return {name: (one.passed, finding_metadata(one)) for name, one in found.items()}

    yield from _evaluations(context, pipeline, look, lambda _: _ERROR)


@dg.multi_asset_check(
    specs=[*_specs(_PLAUSIBLE, blocking=True), *_specs(_WARNING, blocking=False)], can_subset=True
)
def nothing_failed_or_aged(
    context: dg.AssetCheckExecutionContext, pipeline: Pipelines
) -> Iterator[dg.AssetCheckResult | dg.AssetCheckEvaluation]:
    """Stop at withheld deletions; warn of dead letters, failing runs, and a source that is too old."""

    def look(source_id: str) -> dict[str, _Outcome]:
        ledger = pipeline.services.ledger
        letters = ledger.dead_letters.listed([source_id])
        withheld = ledger.withheld.of(source_id)
        attempts = ledger.source_states.of(source_id).attempts
        manifest = pipeline.catalogue.find(source_id)
        # The run that withdraws a source whose manifest was removed is checked too.
        age = freshness(pipeline.services, manifest) if manifest else Freshness(None, None, stale=False)
        return {
            "deletions_plausible": (
                withheld is None or withheld.approved,
                withheld_metadata(withheld),
            ),
            FOLLOWED: (attempts < MOST_ATTEMPTS, {"failed_runs": attempts}),
            "dead_letters": (not letters, letters_metadata(letters)),
            "stale_sources": (not age.stale, freshness_metadata(age)),
        }

    yield from _evaluations(
        context, pipeline, look, lambda name: _ERROR if name in _PLAUSIBLE or name == FOLLOWED else _WARN
    )


def _evaluations(
    context: dg.AssetCheckExecutionContext,
    pipeline: Pipeline,
    look: Callable[[str], Mapping[str, _Outcome]],
    severity_of: Callable[[str], dg.AssetCheckSeverity],
) -> Iterator[dg.AssetCheckResult | dg.AssetCheckEvaluation]:
    alone = context.has_partition_key
    for source_id in [context.partition_key] if alone else _indexed(pipeline):
        with said_to_people():
            outcomes = look(source_id)
        for key in context.selected_asset_check_keys:
            passed, metadata = outcomes[key.name]
            values: dict[str, Any] = {
                "asset_key": key.asset_key,
                "check_name": key.name,
                "passed": passed,
                "metadata": metadata,
                "severity": severity_of(key.name),
            }
            # Dagster gives a result the partition of its run; where that has none, it must be said here.
            yield (
                dg.AssetCheckResult(**values)
                if alone
                else dg.AssetCheckEvaluation(**values, partition=source_id)
            )


def _indexed(pipeline: Pipeline) -> list[str]:
    with said_to_people():
        recorded = reports(pipeline.services)
        indexed = [
            source_id for source_id in pipeline.catalogue.manifests().manifests if source_id in recorded
        ]
        if not indexed:
            raise StoreError(
                "Nothing is indexed yet, so there is nothing to check: materialize a source first."
            )
    return indexed
