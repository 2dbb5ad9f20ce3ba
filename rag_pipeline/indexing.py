"""`rag-pipeline index`: run the sources through Dagster and sum up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rag_pipeline.builds import warn_of_drift
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.ledger.withheld import WithheldDeletion
from rag_pipeline.orchestration.running import configured_instance, run_report, run_sources
from rag_pipeline.pipeline import Pipeline
from rag_pipeline.progress import Progress
from rag_pipeline.services import Services
from rag_pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class IndexingOutcome:
    """What came of indexing: a report of each source that got that far, and why the others failed."""

    generation: str
    reports: Mapping[str, SourceReport]
    seconds: Mapping[str, float]
    errors: Mapping[str, str]
    dead_letters: int
    withheld: Mapping[str, WithheldDeletion]

    @property
    def reconciled(self) -> bool:
        """Whether every asked source is exactly as it should be."""
        return (
            not self.errors
            and not self.withheld
            and all(report.reconciled for report in self.reports.values())
        )


def index_sources(settings: Settings, asked: Sequence[str], progress: Progress) -> IndexingOutcome:
    """Index the asked sources, all if none is named.

    Raises ConfigurationError, before anything runs, for a source that has no manifest and for settings that
    cannot work or are not those of the live generation.
    """
    services = Services(settings)
    pipeline = Pipeline(services, progress)
    found = pipeline.catalogue.manifests()
    broken = {p.source_id or p.file.name: str(p) for p in found.problems}
    withdrawn = pipeline.catalogue.withdrawn()
    wanted = list(dict.fromkeys(asked)) or sorted({*found.manifests, *withdrawn})
    for source_id in wanted:
        if source_id not in (*found.manifests, *broken, *withdrawn):
            pipeline.catalogue.manifest(source_id)  # says what there is
    errors = {name: reason for name, reason in broken.items() if not asked or name in asked}
    if not wanted and not errors:
        raise ConfigurationError(f"There are no manifests in {settings.sources_folder}.")
    warn_of_drift(services)
    seconds: dict[str, float] = {}
    began = datetime.now(UTC)
    runnable = [source_id for source_id in wanted if source_id not in broken]
    with configured_instance(settings.home) as instance:
        for run in run_sources(pipeline, runnable, instance=instance):
            seconds[run.source_id] = run.seconds
            if run.error:
                errors[run.source_id] = run.error
        run_report(pipeline, instance=instance)
    live = services.ledger.generations.live(settings.alias)
    recorded = services.ledger.reconciliations.of_generation(live.name) if live else {}
    # A source that failed before it was accounted for has only the report of an earlier run, or none.
    withheld = services.ledger.withheld.all()
    fresh = {s: recorded[s].report for s in runnable if s in recorded and recorded[s].finished_at >= began}
    return IndexingOutcome(
        generation=live.name if live else "",
        reports={source_id: SourceReport.from_json(source_id, report) for source_id, report in fresh.items()},
        seconds=seconds,
        errors=errors,
        dead_letters=len(services.ledger.dead_letters.listed(runnable)),
        withheld={one: withheld[one] for one in runnable if one in withheld and not withheld[one].approved},
    )


def outcome_json(outcome: IndexingOutcome) -> dict[str, Any]:
    """The one object that `--json` prints."""
    sources: dict[str, dict[str, Any]] = {
        source_id: {**report.to_json(), "seconds": round(outcome.seconds[source_id], 3)}
        for source_id, report in outcome.reports.items()
    }
    for source_id, reason in outcome.errors.items():
        sources.setdefault(source_id, {})["error"] = reason
    for source_id, withheld in outcome.withheld.items():
        sources.setdefault(source_id, {})["withheld"] = list(withheld.document_ids)
    return {"reconciled": outcome.reconciled, "generation": outcome.generation, "sources": sources}
