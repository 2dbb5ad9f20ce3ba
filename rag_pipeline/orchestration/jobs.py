"""The jobs: indexing one source, and reporting on all of them."""

import dagster as dg

from rag_pipeline.orchestration.assets import (
    chunks,
    embeddings,
    normalized_documents,
    qdrant_collection,
    raw_documents,
    reconciliation_report,
)

index_source = dg.define_asset_job(
    "index_source",
    selection=dg.AssetSelection.assets(
        raw_documents, normalized_documents, chunks, embeddings, qdrant_collection
    ),
    description="List, normalize, chunk, embed and write one source, then check what Qdrant holds of it.",
)

report_reconciliation = dg.define_asset_job(
    "report_reconciliation",
    selection=dg.AssetSelection.assets(reconciliation_report),
    description="Account for all sources.",
)
