"""The Definitions for a pipeline: the deployed one, or one that a command or a test brings along."""

import dagster as dg

from rag_pipeline.orchestration import assets, checks, evaluation, jobs, schedules, sensors
from rag_pipeline.orchestration.leasing import leased
from rag_pipeline.orchestration.tables import ParquetTables
from rag_pipeline.pipeline import Pipeline


def build_definitions(pipeline: Pipeline) -> dg.Definitions:
    """Everything that Dagster loads, working through `pipeline`."""
    return dg.Definitions(
        assets=[*dg.load_assets_from_modules([assets]), evaluation.evaluation_report(pipeline)],
        asset_checks=dg.load_asset_checks_from_modules([checks]),
        jobs=[jobs.index_source, jobs.report_reconciliation, evaluation.evaluate, *jobs.GENERATION_JOBS],
        sensors=sensors.ALL,
        schedules=[*schedules.ALL, evaluation.nightly_evaluation],
        resources={
            "pipeline": leased(pipeline),
            "io_manager": ParquetTables(base_path=pipeline.tables_root),
        },
        # One process a run: parallelism comes from runs, and a step process would pay its imports again.
        executor=dg.in_process_executor,
    )
