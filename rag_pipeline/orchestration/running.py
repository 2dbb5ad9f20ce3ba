"""Running the jobs from the command line: in this process, on the instance that the UI shows."""

import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.orchestration.abandoned_runs import end_abandoned_runs, process_tags
from rag_pipeline.orchestration.assets import STORE_POOL
from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.orchestration.jobs import index_source, report_reconciliation
from rag_pipeline.orchestration.partitions import SOURCES
from rag_pipeline.pipeline import Pipeline

logger = logging.getLogger(__name__)

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Run configuration without Dagster's console log, which would drown what a command prints; the UI has it."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """How the run of one source ended; `error` says why it failed."""

    source_id: str
    run_id: str
    succeeded: bool
    seconds: float
    error: str | None


def prepare_environment(home: Path) -> None:
    """Set what dagster.yaml expects: DAGSTER_HOME, unless it is set, and the folder of Dagster's state.

    Raises ConfigurationError where there is no dagster.yaml.
    """
    dagster_home = Path(os.environ.setdefault("DAGSTER_HOME", str(Path.cwd())))
    if not (dagster_home / "dagster.yaml").is_file():
        raise ConfigurationError(
            f"There is no dagster.yaml in {dagster_home}. Run the command in the project's folder, or set "
            "DAGSTER_HOME to a folder that has one."
        )
    storage = (home / "dagster").absolute()
    storage.mkdir(parents=True, exist_ok=True)
    os.environ["RAG_DAGSTER_STORAGE"] = str(storage)


@contextmanager
def configured_instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance that dagster.yaml describes, with the runs of killed commands put to rest."""
    prepare_environment(home)
    with dg.DagsterInstance.from_config(os.environ["DAGSTER_HOME"]) as instance:
        end_abandoned_runs(instance)
        yield instance


def run_sources(
    pipeline: Pipeline, source_ids: Sequence[str], *, instance: dg.DagsterInstance
) -> Iterator[FinishedRun]:
    """Index sources one after the other; one that fails stops no other.

    Raises KeyboardInterrupt once the run of the source at work was ended by a signal.
    """
    definitions = build_definitions(pipeline)
    job = definitions.resolve_job_def(index_source.name)
    registered = set(instance.get_dynamic_partitions(SOURCES))
    instance.add_dynamic_partitions(SOURCES, [s for s in source_ids if s not in registered])
    for source_id in source_ids:
        _say_who_holds_the_store(instance)
        started = time.monotonic()
        result = job.execute_in_process(
            instance=instance,
            partition_key=source_id,
            raise_on_error=False,
            run_config=QUIET,
            tags=process_tags(),
        )
        if _was_interrupted(result):
            raise KeyboardInterrupt
        yield FinishedRun(
            source_id=source_id,
            run_id=result.run_id,
            succeeded=result.success,
            seconds=time.monotonic() - started,
            error=None if result.success else _reason(result),
        )


def _say_who_holds_the_store(instance: dg.DagsterInstance) -> None:
    # Dagster waits for the slot without a word, and for ever if its holder died with the whole machine.
    for slot in instance.event_log_storage.get_concurrency_info(STORE_POOL).claimed_slots:
        logger.warning(
            "The store is in use by run %s; waiting for it. If it is long dead, terminate it in the UI.",
            slot.run_id,
        )


def run_report(pipeline: Pipeline, *, instance: dg.DagsterInstance) -> None:
    """Write the report of all sources; why it could not be written is in the log."""
    job = build_definitions(pipeline).resolve_job_def(report_reconciliation.name)
    result = job.execute_in_process(
        instance=instance, run_config=QUIET, tags=process_tags(), raise_on_error=False
    )
    if not result.success:
        logger.warning("The report of all sources could not be written: %s", _reason(result))


def _was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    # In a run Dagster turns the signal into a failed step, which would only end this source.
    return any(
        event.step_failure_data.error is not None
        and event.step_failure_data.error.cls_name == DagsterExecutionInterruptedError.__name__
        for event in result.all_events
        if event.is_step_failure
    )


def _reason(result: dg.ExecuteInProcessResult) -> str:
    """Why a run failed, in our own words where they are ours."""
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            if data.user_failure_data and data.user_failure_data.description:
                return data.user_failure_data.description
            if data.error:
                cause = data.error
                while cause.cause:
                    cause = cause.cause
                return cause.message.strip()
    failed = [
        evaluation.check_name for evaluation in result.get_asset_check_evaluations() if not evaluation.passed
    ]
    return f"checks failed: {', '.join(failed)}" if failed else "the run failed; see its log in the UI"
