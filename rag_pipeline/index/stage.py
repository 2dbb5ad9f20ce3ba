"""Bringing Qdrant to what a source's documents ask for, and accounting for every chunk."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qdrant_client import QdrantClient

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.fault_points import passing
from rag_pipeline.index.deleting import delete_documents
from rag_pipeline.index.desired import DesiredDocument, last_good_version
from rag_pipeline.index.planning import Change, SourcePlan, plan_source
from rag_pipeline.index.reconciling import (
    ChunkCounts,
    Comparison,
    DocumentCounts,
    Healed,
    SourceReport,
    compare,
    duplicates,
    few,
)
from rag_pipeline.index.scanning import stored_points
from rag_pipeline.index.writing import STAGE, SourceWriter
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.progress import Progress


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A listed document that has no readable new version.

    Its last good version stays, governed by `facts`: the document's own as of today, or its source's where
    it could not be listed. `withdraw` means that its permissions could not be established: then nobody may
    see it.
    """

    document_id: str
    facts: Mapping[str, Any]
    withdraw: bool = False


def index_source(
    client: QdrantClient,
    generation: Generation,
    *,
    source_id: str,
    desired: Sequence[DesiredDocument],
    failed: Sequence[FailedDocument],
    withheld: Mapping[str, Mapping[str, Any]],
    embedded: int,
    newest: datetime | None,
    ledger: Ledger,
    artifacts: ArtifactStore,
    model_key: str,
    progress: Progress,
    require_lease: Callable[[], None],
) -> SourceReport:
    """Write, repair, update and delete until Qdrant holds exactly what the source asks for; account for it.

    `withheld` are the documents that are gone from the source but stay until their deletion is approved,
    each with its source's facts as of today, empty where the source has none. `embedded` is how many texts
    this run had embedded and `newest` when the source's newest document was updated, both for the report.
    `require_lease` raises LeaseLost where another run took the source over; nothing is changed after that.
    Raises StoreError where Qdrant does not confirm something.
    """
    started = time.monotonic()
    require_lease()
    recorded = ledger.documents.of_source(generation.name, source_id)
    kept = [
        last_good_version(recorded[one.document_id], one.facts)
        for one in failed
        if not one.withdraw and one.document_id in recorded
    ]
    kept += [
        last_good_version(recorded[one], facts or recorded[one].facts)
        for one, facts in withheld.items()
        if one in recorded
    ]
    wanted = [*desired, *kept]
    writer = SourceWriter(
        client,
        generation,
        source_id=source_id,
        ledger=ledger,
        artifacts=artifacts,
        model_key=model_key,
        progress=progress,
        require_lease=require_lease,
    )
    vanished = recorded.keys() - {one.document_id for one in wanted}
    deleted = delete_documents(
        client, generation, ledger.documents, source_id=source_id, document_ids=vanished
    )
    stored = stored_points(client, generation.name, source_id)
    plan = plan_source(wanted, recorded, stored)
    # Looked at while they are still there.
    doubled = duplicates(plan.orphans, _points(wanted), client=client, collection=generation.name)
    outcome = writer.apply(plan)
    ledger.dead_letters.record(source_id, STAGE, outcome.failures)
    passing("written")
    unwritten = {one.document_id for one in outcome.failures}
    current = [one.recorded() for one in wanted if one.document_id not in unwritten]
    current += [recorded[document_id] for document_id in unwritten if document_id in recorded]
    after = stored if plan.nothing_to_do else stored_points(client, generation.name, source_id)
    # Against what the listing asks for, not against what this run believes to have written.
    comparison = compare(current, after, client=client, collection=generation.name)
    withdrawn = {one.document_id for one in failed if one.withdraw}
    report = _report(
        source_id,
        plan=plan,
        deleted=deleted - withdrawn,
        doubled=doubled,
        comparison=comparison,
        failed={one.document_id for one in failed} | unwritten,
        withheld=withheld.keys() & recorded.keys(),
        written=outcome.written,
        failed_chunks=sum(len(one.failed_chunks) for one in current),
        embedded=embedded,
        newest=newest,
        seconds=time.monotonic() - started,
    )
    ledger.reconciliations.record(
        generation.name,
        source_id,
        reconciled=report.reconciled,
        report=report.to_json(),
        seconds=report.seconds,
    )
    passing("account recorded")
    return report


def compare_source(
    client: QdrantClient, generation: Generation, *, source_id: str, ledger: Ledger
) -> Comparison:
    """Look again: what Qdrant holds of a source now, against the ledger. Changes nothing."""
    recorded = ledger.documents.of_source(generation.name, source_id)
    stored = stored_points(client, generation.name, source_id)
    return compare(recorded.values(), stored, client=client, collection=generation.name)


def _points(wanted: Iterable[DesiredDocument]) -> Iterator[str]:
    for one in wanted:
        yield from one.points


def _report(
    source_id: str,
    *,
    plan: SourcePlan,
    deleted: set[str],
    doubled: set[str],
    comparison: Comparison,
    failed: set[str],
    withheld: set[str],
    written: int,
    failed_chunks: int,
    embedded: int,
    newest: datetime | None,
    seconds: float,
) -> SourceReport:
    changes = [p.change for p in plan.documents if p.desired.document_id not in failed | withheld]
    documents = DocumentCounts(
        seen=len(changes) + len(failed),
        added=changes.count(Change.ADDED),
        changed=sum(changes.count(c) for c in (Change.REPLACED, Change.REWRITTEN, Change.FACTS)),
        unchanged=sum(changes.count(c) for c in (Change.UNCHANGED, Change.REPAIRED)),
        deleted=len(deleted),
        failed=len(failed),
        withheld=len(withheld),
    )
    lost = [point for planned in plan.documents for point in planned.lost]
    chunks = ChunkCounts(
        expected=comparison.expected + failed_chunks,
        written=written,
        reused=plan.reused,
        failed=failed_chunks,
        stored=comparison.stored,
        missing=len(comparison.missing),
        orphaned=len(comparison.orphaned),
        duplicated=len(comparison.duplicated),
    )
    return SourceReport(
        source_id,
        documents,
        chunks,
        healed=Healed(missing=len(lost), orphaned=len(plan.orphans) - len(doubled), duplicated=len(doubled)),
        embedded=embedded,
        newest=newest,
        seconds=seconds,
        examples={
            "failed": few(failed),
            "deleted": few(deleted),
            "withheld": few(withheld),
            "missing": few(comparison.missing),
            "orphaned": few(comparison.orphaned),
            "duplicated": few(comparison.duplicated),
            "healed_missing": few(lost),
            "healed_orphaned": few(set(plan.orphans) - doubled),
        },
    )
