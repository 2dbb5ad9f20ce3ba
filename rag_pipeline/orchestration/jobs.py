"""The jobs: indexing one source, reporting on all of them, and what changes generations."""

import dagster as dg
from pydantic import Field

from rag_pipeline import rebuilding
from rag_pipeline.errors import GenerationConflict
from rag_pipeline.evaluation.promoting import promotion_gate
from rag_pipeline.orchestration.assets import (
    STORE_POOL,
    Pipelines,
    chunks,
    embeddings,
    normalized_documents,
    qdrant_collection,
    raw_documents,
    reconciliation_report,
)
from rag_pipeline.orchestration.failing import said_to_people

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


class ReindexConfig(dg.Config):
    """Whether readers see the new generation at once, and which sources may block without effect."""

    promote: bool = False
    waive: list[str] = Field(default_factory=list)
    waived_by: str = "the Dagster UI"


class PromoteConfig(dg.Config):
    """The generation to promote; the newest that is ready if empty."""

    generation: str = ""


class GarbageConfig(dg.Config):
    """How many previous generations are kept."""

    keep: int = 1


class ApprovalConfig(dg.Config):
    """The source whose withheld deletions are approved, as they were shown, and who says so."""

    source_id: str
    approved_by: str = "the Dagster UI"


# Without the store's pool, which it would hold for hours: it opens the store a source at a time.
@dg.op
def build_generation(context: dg.OpExecutionContext, config: ReindexConfig, pipeline: Pipelines) -> None:
    """Index every source into a new generation, judge it, and promote it if asked to."""
    with said_to_people():
        outcome = rebuilding.reindex(
            pipeline,
            promote_after=config.promote,
            waived=config.waive,
            waived_by=config.waived_by,
            evaluate=promotion_gate(pipeline.services),
        )
        context.add_output_metadata({"generation": outcome.generation.name, "ready": outcome.ready})
        if not outcome.ready:
            raise GenerationConflict(rebuilding.blocked_in_words(outcome))


@dg.op(pool=STORE_POOL)
def promote_generation(context: dg.OpExecutionContext, config: PromoteConfig, pipeline: Pipelines) -> None:
    """Point readers at a ready generation."""
    with said_to_people():
        promoted = rebuilding.promote(pipeline.services, config.generation or None)
    context.add_output_metadata({"generation": promoted.name})


@dg.op(pool=STORE_POOL)
def roll_back_generation(context: dg.OpExecutionContext, pipeline: Pipelines) -> None:
    """Point readers back at the generation that was live before."""
    with said_to_people():
        promoted = rebuilding.rollback(pipeline.services)
    context.add_output_metadata({"generation": promoted.name})


@dg.op(pool=STORE_POOL)
def remove_generations(context: dg.OpExecutionContext, config: GarbageConfig, pipeline: Pipelines) -> None:
    """Remove failed generations, all but some previous ones, and traces past their retention."""
    with said_to_people():
        removed = rebuilding.collect_garbage(pipeline.services, config.keep)
        forgotten = pipeline.services.trace_recorder.forget_old()
    context.add_output_metadata({"removed": removed, "forgotten_traces": forgotten})


@dg.op
def approve_withheld(context: dg.OpExecutionContext, config: ApprovalConfig, pipeline: Pipelines) -> None:
    """Let the next run delete what was withheld, exactly as it was shown."""
    with said_to_people():
        approved = pipeline.services.ledger.withheld.approve(config.source_id, config.approved_by)
    context.add_output_metadata({"documents": list(approved.document_ids)})


@dg.job(description="Build a new generation beside the live one, with today's settings.")
def reindex() -> None:
    """One step, since its sources are indexed one after the other."""
    build_generation()


@dg.job(description="Point readers at a generation that is ready.")
def promote() -> None:
    """One alias action."""
    promote_generation()


@dg.job(description="Point readers back at the generation that was live before.")
def rollback() -> None:
    """One alias action."""
    roll_back_generation()


@dg.job(description="Remove failed generations, old previous ones, and old traces.")
def gc() -> None:
    """Never what readers see, nor the newest previous one."""
    remove_generations()


@dg.job(description="Approve the deletions that were withheld from a source.")
def approve() -> None:
    """The next run of the source carries them out."""
    approve_withheld()


GENERATION_JOBS = (reindex, promote, rollback, gc, approve)
