"""What the UI shows of a stage or a check: counts that plot over time, a preview, what failed and why."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from rag_pipeline.accounting import Freshness
from rag_pipeline.evaluation.report.markdown import category_plot, markdown_summary
from rag_pipeline.evaluation.result import Evaluation, GateResult
from rag_pipeline.index.inspecting import Finding
from rag_pipeline.index.reconciling import SourceReport, total
from rag_pipeline.ledger.dead_letters import DeadLetter
from rag_pipeline.ledger.withheld import WithheldDeletion
from rag_pipeline.stage_tables import StageTable

_PREVIEW_ROWS = 10
_FAILURE_ROWS = 50
_CELL_LENGTH = 160

_SUMS = {
    "size": "bytes",
    "characters": "characters",
    "pages": "pages",
    "chunk_count": "chunks",
    "embedded": "embedded",
    "reused": "reused",
    "reused_vectors": "reused_vectors",
}
"""Columns that are summed, and what the sum is called."""


def table_metadata(stage: StageTable, preview: Sequence[str]) -> dict[str, Any]:
    """Metadata of a stage's table: rows, sums, failures, seconds, some columns of some rows, the failures."""
    table = stage.table
    failed = table[table["category"].notna()]
    metadata: dict[str, Any] = {
        "dagster/row_count": len(table),
        **{name: int(table[column].fillna(0).sum()) for column, name in _SUMS.items() if column in table},
        "failed": len(failed),
        "seconds": round(stage.seconds, 3),
    }
    if len(failed):
        failures = failed.head(_FAILURE_ROWS)
        metadata["failures"] = _columns(failures, ["document_id", "category", "message"])
    metadata["preview"] = _columns(table.head(_PREVIEW_ROWS), preview)
    return metadata


def report_metadata(report: SourceReport) -> dict[str, Any]:
    """Metadata of a source's reconciliation: every count plots over time; examples if there are any."""
    value = report.to_json()
    counts = {
        f"{part}_{name}": count
        for part in ("documents", "chunks", "healed")
        for name, count in value[part].items()
    }
    return {
        "reconciled": report.reconciled,
        **counts,
        "embedded": report.embedded,
        "seconds": value["seconds"],
        **({"examples": value["examples"]} if value["examples"] else {}),
    }


def reports_metadata(reports: Mapping[str, SourceReport], markdown: str) -> dict[str, Any]:
    """Metadata of all sources' report: the report to read, and their sums to plot."""
    return {
        "report": dg.MetadataValue.md(markdown),
        "sources": len(reports),
        **report_metadata(total(reports.values())),
    }


def finding_metadata(finding: Finding) -> dict[str, Any]:
    """Metadata of a check that looked into Qdrant: its counts, and a few ids if there is something to see."""
    if not finding.examples:
        return dict(finding.counts)
    return {
        **finding.counts,
        "examples": dg.MetadataValue.md("\n".join(f"- `{e}`" for e in finding.examples)),
    }


def letters_metadata(letters: Sequence[DeadLetter]) -> dict[str, Any]:
    """Metadata of dead letters: how many, and the first ones."""
    if not letters:
        return {"dead_letters": 0}
    columns = ["document_id", "stage", "category", "message", "attempts"]
    rows = [[getattr(letter, column) for column in columns] for letter in letters[:_FAILURE_ROWS]]
    return {"dead_letters": len(letters), "first": _table(columns, rows)}


def withheld_metadata(withheld: WithheldDeletion | None) -> dict[str, Any]:
    """Metadata of withheld deletions: how many of how many, the first ones, and how to approve them."""
    if withheld is None:
        return {"withheld": 0}
    shown = "\n".join(f"- `{one}`" for one in withheld.document_ids[:_FAILURE_ROWS])
    return {
        "withheld": len(withheld.document_ids),
        "indexed": withheld.recorded,
        "listed": withheld.listed,
        "first": dg.MetadataValue.md(shown),
        "to_approve": f"rag-pipeline approve {withheld.source_id}, or the job approve",
    }


def freshness_metadata(found: Freshness) -> dict[str, Any]:
    """Metadata of a source's freshness: the date that counts, and how many days old it may be."""
    return {
        "newest": found.newest.isoformat() if found.newest else "unknown",
        "freshness_sla_days": found.sla_days or "none",
    }


def evaluation_metadata(evaluation: Evaluation, page: str) -> dict[str, Any]:
    """Metadata of an evaluation: what there is to read, a picture by category, and every mean to plot."""
    overall = evaluation.overall
    plot = category_plot(evaluation)
    return {
        "summary": dg.MetadataValue.md(markdown_summary(evaluation)),
        **({"by_category": dg.MetadataValue.md(plot)} if plot else {}),
        "metrics": _table(
            ["dimension", "slice", "metric", "n", "value", "low", "high"],
            [
                [str(one.dimension), one.name, metric.name, metric.n, metric.value, metric.low, metric.high]
                for one in evaluation.slices
                for metric in one.metrics
            ],
        ),
        "page": dg.MetadataValue.path(page),
        "generation": evaluation.generation,
        "cases": overall.n,
        "errored": overall.errored,
        **{metric.name.replace("@", "_at_"): metric.value for metric in overall.metrics},
    }


def gate_metadata(gate: GateResult) -> dict[str, Any]:
    """Metadata of a gate: what was found and allowed, and the cases that are to blame."""
    shown = "\n".join(f"- `{one}`" for one in gate.cases[:_FAILURE_ROWS])
    return {
        "found": gate.message,
        **({"value": gate.value} if gate.value is not None else {}),
        **({"bound": float(gate.bound)} if gate.bound is not None else {}),
        **({"to_blame": dg.MetadataValue.md(shown)} if shown else {}),
    }


def _columns(table: pd.DataFrame, columns: Sequence[str]) -> dg.TableMetadataValue:
    return _table(columns, table[list(columns)].itertuples(index=False))


def _table(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> dg.TableMetadataValue:
    return dg.MetadataValue.table(
        records=[
            dg.TableRecord({name: _cell(value) for name, value in zip(columns, row, strict=True)})
            for row in rows
        ],
        schema=dg.TableSchema(columns=[dg.TableColumn(name) for name in columns]),
    )


def _cell(value: Any) -> str | int | float | bool | None:
    """A table cell as Dagster takes it; lists, which come back from Parquet as arrays, as text."""
    if not isinstance(value, str) and isinstance(value, Iterable):
        return ", ".join(map(str, value))
    if pd.isna(value):
        return None
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float):
        return round(plain, 3)
    return plain if isinstance(plain, bool | int) else str(plain)[:_CELL_LENGTH]
