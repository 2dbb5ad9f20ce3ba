"""What the Dagster UI shows of a stage: counts that plot over time, a preview, and what failed and why."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from rag_pipeline.index.reconciling import SourceReport, total
from rag_pipeline.stage_tables import StageTable

_PREVIEW_ROWS = 10
_FAILURE_ROWS = 50
_CELL_LENGTH = 160


def table_metadata(stage: StageTable, preview: Sequence[str]) -> dict[str, Any]:
    """Metadata of a stage's table: rows, failures, seconds, a preview of some columns, and the failures."""
    table = stage.table
    failed = table[table["category"].notna()]
    metadata: dict[str, Any] = {
        "dagster/row_count": len(table),
        "failed": len(failed),
        "seconds": round(stage.seconds, 3),
        "preview": _table(table.head(_PREVIEW_ROWS), preview),
    }
    for name in ("reused", "characters", "pages", "chunk_count", "embedded", "reused_vectors", "size"):
        if name in table:
            metadata[name] = int(table[name].fillna(0).sum())
    if len(failed):
        metadata["failures"] = _table(failed.head(_FAILURE_ROWS), ["document_id", "category", "message"])
    return metadata


def report_metadata(report: SourceReport) -> dict[str, Any]:
    """Metadata of a source's reconciliation: every count plots over time, the table is for people."""
    value = report.to_json()
    counts = {
        f"{part}_{name}": count
        for part in ("documents", "chunks", "healed")
        for name, count in value[part].items()
    }
    return {
        "reconciled": report.reconciled,
        "embedded": report.embedded,
        "seconds": value["seconds"],
        **counts,
        "examples": value["examples"],
    }


def reports_metadata(reports: Mapping[str, SourceReport], markdown: str) -> dict[str, Any]:
    """Metadata of all sources' report: their sums, and the report to read."""
    return {
        **report_metadata(total(reports.values())),
        "sources": len(reports),
        "report": dg.MetadataValue.md(markdown),
    }


def _table(table: pd.DataFrame, columns: Sequence[str]) -> dg.TableMetadataValue:
    return dg.MetadataValue.table(
        records=[
            dg.TableRecord({name: _cell(value) for name, value in zip(columns, row, strict=True)})
            for row in table[list(columns)].itertuples(index=False)
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
    return plain if isinstance(plain, bool | int | float) else str(plain)[:_CELL_LENGTH]
