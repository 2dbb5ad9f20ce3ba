"""The account of what is indexed: what each check asks, and the report of all sources."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rag_pipeline.errors import StoreError
from rag_pipeline.index.inspecting import Finding, faults_finding, sample_points
from rag_pipeline.index.reconciling import SourceReport, few, total
from rag_pipeline.index.stage import compare_source
from rag_pipeline.index.store import open_store
from rag_pipeline.services import Services
from rag_pipeline.sources.manifest import Manifest

REPORT = "reconciliation_report"
"""The report's name among the tables: as .json and as .md."""

_COLUMNS = {
    "documents": ("seen", "added", "changed", "unchanged", "deleted", "withheld", "failed"),
    "chunks": ("expected", "written", "reused", "failed", "stored", "missing", "orphaned", "duplicated"),
}


def inspect_source(services: Services, source_id: str) -> dict[str, Finding]:
    """Look into Qdrant now and say what holds of a source, one finding a check, by the check's name.

    Raises StoreError where nothing was indexed yet.
    """
    ledger = services.ledger
    live = ledger.generations.live(services.settings.alias)
    if live is None:
        raise StoreError(f"Nothing is indexed under the alias {services.settings.alias} yet.")
    recorded = ledger.documents.of_source(live.name, source_id)
    with open_store(services.store) as client:
        found = compare_source(client, live, source_id=source_id, ledger=ledger)
        sampled = sample_points(
            client, live.name, recorded.values(), dimensions=live.settings["model"]["dimensions"]
        )
    failed = sum(len(one.failed_chunks) for one in recorded.values())
    chunks = sum(one.chunk_count for one in recorded.values())
    return {
        "counts_match": Finding(
            passed=chunks == found.stored + failed,
            counts={"expected": chunks, "stored": found.stored, "failed": failed},
        ),
        "no_missing": Finding(not found.missing, {"missing": len(found.missing)}, few(found.missing)),
        "no_orphans": Finding(not found.orphaned, {"orphaned": len(found.orphaned)}, few(found.orphaned)),
        "no_duplicates": Finding(
            not found.duplicated, {"duplicated": len(found.duplicated)}, few(found.duplicated)
        ),
        "payload_types": faults_finding(sampled, sampled.wrong_payloads, found.stored),
        "vector_sizes": faults_finding(sampled, sampled.wrong_vectors, found.stored),
    }


@dataclass(frozen=True, slots=True)
class Freshness:
    """When a source was last updated or reviewed, and whether that is longer ago than its SLA allows."""

    newest: datetime | None
    sla_days: int | None
    stale: bool


def freshness(services: Services, manifest: Manifest) -> Freshness:
    """A source's freshness, by its newest document as of the last run and the manifest's last review.

    A source without an SLA is never stale; one with an SLA of which no date is known is.
    """
    live = services.ledger.generations.live(services.settings.alias)
    recorded = services.ledger.reconciliations.of_generation(live.name) if live else {}
    last = recorded.get(manifest.source_id)
    updated = SourceReport.from_json(manifest.source_id, last.report).newest if last else None
    dates = [date for date in (updated, manifest.last_reviewed_at) if date]
    newest = max(dates, default=None)
    days = manifest.freshness_sla_days
    return Freshness(newest, days, stale=is_stale(newest, days))


def is_stale(newest: datetime | None, sla_days: int | None) -> bool:
    """Whether what was last updated or reviewed then is older than its SLA allows."""
    if sla_days is None:
        return False
    return newest is None or datetime.now(UTC) - newest > timedelta(days=sla_days)


def reports(services: Services) -> dict[str, SourceReport]:
    """The last account of every source in the live generation, by source id."""
    live = services.ledger.generations.live(services.settings.alias)
    recorded = services.ledger.reconciliations.of_generation(live.name) if live else {}
    return {source_id: SourceReport.from_json(source_id, one.report) for source_id, one in recorded.items()}


def write_report(services: Services) -> dict[str, SourceReport]:
    """Write the report of all sources as JSON and Markdown beside the tables; return the accounts."""
    found = reports(services)
    folder = services.root / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{REPORT}.json").write_text(
        json.dumps(report_json(found), ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
    )
    (folder / f"{REPORT}.md").write_text(report_markdown(found), encoding="utf-8")
    return found


def report_json(found: Mapping[str, SourceReport]) -> dict[str, Any]:
    """The report as JSON-serializable values: each source, and all of them together."""
    return {
        "reconciled": all(report.reconciled for report in found.values()),
        "total": total(found.values()).to_json(),
        "sources": {source_id: report.to_json() for source_id, report in found.items()},
    }


def report_markdown(found: Mapping[str, SourceReport]) -> str:
    """The report as a Markdown table, and the example ids of whatever is not as usual."""
    lines = ["# Reconciliation", ""]
    for part, names in _COLUMNS.items():
        lines += [f"## {part.capitalize()}", "", f"| source | reconciled | {' | '.join(names)} |"]
        lines.append("|---|---|" + "---:|" * len(names))
        for report in (*found.values(), total(found.values())):
            counts = report.to_json()[part]
            cells = " | ".join(str(counts[name]) for name in names)
            lines.append(f"| {report.source_id} | {'yes' if report.reconciled else 'NO'} | {cells} |")
        lines.append("")
    examples = [
        f"- {report.source_id}, {name}: {', '.join(f'`{one}`' for one in ids)}"
        for report in found.values()
        for name, ids in report.examples.items()
        if ids
    ]
    return "\n".join([*lines, *(["## Examples", "", *examples, ""] if examples else [])])
