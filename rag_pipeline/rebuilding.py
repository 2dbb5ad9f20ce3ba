"""Blue and green: a new generation beside the live one, its gates, the swap, the way back, and the clearing.

A build can be stopped and gone on with at any point: every source is indexed into it as into the live
generation, so that what is done already is only counted again.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rag_pipeline.errors import ConfigurationError, GenerationConflict, LeaseHeld, RagPipelineError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.collection_options import begin_bulk_loading, end_bulk_loading
from rag_pipeline.index.generations import aliased_collection, ensure_collection, fingerprint_of
from rag_pipeline.index.live import new_name
from rag_pipeline.index.readiness import in_words, lost_probes, missing_indexes, source_blocker
from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.index.releasing import release_unused
from rag_pipeline.index.store import open_store
from rag_pipeline.index.swapping import finish_swap, swap
from rag_pipeline.ledger.generations import Generation, GenerationState
from rag_pipeline.pipeline import Pipeline
from rag_pipeline.services import Services
from rag_pipeline.source_leases import SourceLeases
from rag_pipeline.sources.document import source_of

logger = logging.getLogger(__name__)

# A source that changes faster than it can be indexed must not keep a build from ever ending.
_MOST_CATCH_UPS = 5

EvaluationGate = Callable[[Generation], Sequence[str]]
"""Says what keeps a generation from being good enough to be promoted; nothing if it is."""


@dataclass(frozen=True, slots=True)
class BuildOutcome:
    """What came of a build: `blockers` are the reasons, by source, why it is not ready; "" is no source's."""

    generation: Generation
    blockers: Mapping[str, str]
    waived: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether the generation may be promoted."""
        return not self.blockers


def reindex(
    pipeline: Pipeline,
    *,
    promote_after: bool = False,
    waived: Sequence[str] = (),
    waived_by: str = "",
    evaluate: EvaluationGate = lambda _: (),
) -> BuildOutcome:
    """Build a new generation with today's settings, or go on with one, and judge it.

    `waived` are sources that may block without effect, on the word of `waived_by`. Live stays as it is until
    a promotion. Raises LeaseHeld where somebody else changes the generations.
    """
    services = pipeline.services
    for source_id in waived:
        pipeline.catalogue.manifest(source_id)
    with _changing_generations(services, "building a new generation"):
        building = _begin(services)
        sources = sorted(
            pipeline.catalogue.manifests().manifests.keys() | set(pipeline.catalogue.withdrawn())
        )
        failed = _catch_up(pipeline, building, sources)
        with open_store(services.store) as client:
            if not services.store.embedded:
                end_bulk_loading(client, building.name)
                passing("bulk loading ended")
        outcome = _judge(pipeline, building, failed, waived, waived_by, evaluate)
        if not outcome.ready:
            services.ledger.generations.blocked(building.name, in_words(outcome.blockers))
            return outcome
        services.ledger.generations.ready(building.name)
        passing("generation ready")
        for older in services.ledger.generations.of_alias(services.settings.alias):
            if older.state is GenerationState.READY and older.name != building.name:
                services.ledger.generations.fail(older.name, f"{building.name} was built after it")
    if promote_after:
        promote(services, building.name)
    return outcome


def promote(services: Services, name: str | None = None) -> Generation:
    """Point readers at a ready generation, the newest if none is named, and return it.

    Raises GenerationConflict, with nothing changed, where there is none or it is not fit.
    """
    alias = services.settings.alias

    def chosen(known: Sequence[Generation]) -> Generation:
        ready = [one for one in known if one.state is GenerationState.READY]
        found = [one for one in known if one.name == name] if name else ready
        if not found:
            raise GenerationConflict(
                f"There is no generation {name} under the alias {alias}." if name else
                f"No generation of {alias} is ready. Build one with `rag-pipeline reindex`."
            )  # fmt: skip
        return found[-1]

    return _swap_to(services, chosen)


def rollback(services: Services) -> Generation:
    """Point readers back at the generation that was live before; raises GenerationConflict without one."""

    def chosen(known: Sequence[Generation]) -> Generation:
        previous = [one for one in known if one.state is GenerationState.PREVIOUS]
        if not previous:
            raise GenerationConflict(f"There is no generation of {services.settings.alias} to go back to.")
        return _newest_promoted(previous)[-1]

    return _swap_to(services, chosen)


def _swap_to(services: Services, chosen: Callable[[Sequence[Generation]], Generation]) -> Generation:
    """Promote a generation that is chosen among those that are known once a swap cut short is completed."""
    alias = services.settings.alias
    with _changing_generations(services, "promoting a generation"), open_store(services.store) as client:
        live = finish_swap(client, services.ledger.generations, alias)
        target = chosen(services.ledger.generations.of_alias(alias))
        # It was fed no longer; the next runs bring it up to date, and the sensor asks for them.
        behind = target.state is GenerationState.PREVIOUS
        if behind:
            services.ledger.source_states.forget_indexed()
        swap(client, services.ledger.generations, target, live.name if live else None)
    if behind:
        # Once more, for a run that ended in between and fed the other one.
        services.ledger.source_states.forget_indexed()
        passing("all sources to be looked at")
    return target


def collect_garbage(services: Services, keep: int = 1) -> list[str]:
    """Remove failed generations and all previous ones but the `keep` newest; returns the removed ones' names.

    Evaluations are forgotten after as many days as traces are.
    Never what the alias names, nor the newest previous one.
    """
    if keep < 1:
        raise ConfigurationError(
            "At least one previous generation is kept, to roll back to: --keep 1 or more."
        )
    ledger, alias = services.ledger, services.settings.alias
    with _changing_generations(services, "removing generations"), open_store(services.store) as client:
        finish_swap(client, ledger.generations, alias)
        known = ledger.generations.of_alias(alias)
        previous = _newest_promoted([one for one in known if one.state is GenerationState.PREVIOUS])
        doomed = [one for one in known if one.state is GenerationState.FAILED] + previous[:-keep]
        aliased = aliased_collection(client, alias)
        removed = []
        lost: set[str] = set()
        for generation in doomed:
            if generation.name == aliased:
                continue
            lost.update(ledger.documents.ids(generation.name))
            client.delete_collection(generation.name)
            passing("collection deleted")
            ledger.generations.drop(generation.name)
            passing("generation dropped")
            removed.append(generation.name)
    _release(services, lost)
    kept = timedelta(days=services.settings.trace_retention_days)
    ledger.evaluations.forget_before(datetime.now(UTC) - kept)
    return removed


def _release(services: Services, document_ids: Set[str]) -> None:
    """Let go of what only removed generations were made of."""
    leases = SourceLeases(services)
    for source_id in sorted({source_of(one) for one in document_ids}):
        # A run of the source that goes on now does it when it ends, and may not lose what it just made.
        with suppress(LeaseHeld), leases.hold(source_id, "clearing up", wait_seconds=0):
            release_unused(
                [one for one in services.ledger.uses.unsettled(source_id) if one in document_ids],
                ledger=services.ledger,
                artifacts=services.artifacts,
            )


@dataclass(frozen=True, slots=True)
class ListedGeneration:
    """A generation and what it holds; `points` is None where Qdrant has no such collection."""

    generation: Generation
    documents: int
    points: int | None

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values."""
        generation = self.generation
        return {
            "name": generation.name,
            "state": generation.state.value,
            "fingerprint": generation.fingerprint,
            "documents": self.documents,
            "points": self.points,
            "created_at": generation.created_at,
            "ready_at": generation.ready_at,
            "promoted_at": generation.promoted_at,
            "reason": generation.reason,
            "settings": generation.settings,
        }


def listed_generations(services: Services) -> list[ListedGeneration]:
    """All generations of the alias, oldest first, with exact counts."""
    ledger = services.ledger
    with open_store(services.store) as client:
        finish_swap(client, ledger.generations, services.settings.alias)
        return [
            ListedGeneration(
                one,
                len(ledger.documents.ids(one.name)),
                client.count(one.name, exact=True).count if client.collection_exists(one.name) else None,
            )
            for one in ledger.generations.of_alias(services.settings.alias)
        ]


@contextmanager
def _changing_generations(services: Services, purpose: str) -> Iterator[None]:
    settings = services.settings
    with services.ledger.leases.hold(
        services.generations_lease, purpose=purpose, wait_seconds=settings.lock_wait_s
    ):
        yield


def _begin(services: Services) -> Generation:
    """The generation to build: one of today's fingerprint that was begun, or a new one."""
    alias, today = services.settings.alias, services.generation_settings
    generations, fingerprint = services.ledger.generations, fingerprint_of(today)
    if generations.live(alias) is None:
        raise GenerationConflict(f"Nothing is indexed under {alias} yet. Begin with `rag-pipeline index`.")
    for begun in generations.of_alias(alias):
        if begun.state is GenerationState.BUILDING and begun.fingerprint != fingerprint:
            generations.fail(begun.name, "the settings changed before it was done")
    building = generations.building(alias)
    if building is None:
        building = planned_generation(services)
        generations.add(building)
        passing("generation added")
    with open_store(services.store) as client:
        fresh = not client.collection_exists(building.name)
        ensure_collection(client, building, services.collection_options)
        if fresh and not services.store.embedded:
            begin_bulk_loading(client, building.name)
            passing("bulk loading begun")
    return building


def planned_generation(services: Services) -> Generation:
    """A new generation with today's settings, not recorded yet."""
    alias, today = services.settings.alias, services.generation_settings
    fingerprint = fingerprint_of(today)
    return Generation(new_name(alias, fingerprint, services.ledger.generations), alias, fingerprint, today)


def _catch_up(pipeline: Pipeline, building: Generation, sources: Sequence[str]) -> dict[str, str]:
    """Index every source, then again those of which a run changed something, until none does.

    Returns the sources that could not be indexed, and why.
    """
    failed: dict[str, str] = {}
    waiting = list(sources)
    for _ in range(_MOST_CATCH_UPS):
        changed = []
        for source_id in waiting:
            try:
                pipeline.run(source_id)
            except RagPipelineError as error:
                logger.warning("%s", error)
                failed[source_id] = str(error)
                continue
            # One without a manifest is gone by now, and so is its account.
            described = pipeline.catalogue.find(source_id) is not None
            if described and _changed(_report(pipeline.services, building, source_id)):
                changed.append(source_id)
        if not changed:
            break
        waiting = changed
    return failed


def _changed(report: SourceReport | None) -> bool:
    if report is None:
        return True
    documents = report.documents
    return bool(documents.added or documents.changed or documents.deleted or report.chunks.written)


def _report(services: Services, generation: Generation, source_id: str) -> SourceReport | None:
    recorded = services.ledger.reconciliations.of_generation(generation.name).get(source_id)
    return SourceReport.from_json(source_id, recorded.report) if recorded else None


def _judge(
    pipeline: Pipeline,
    building: Generation,
    failed: Mapping[str, str],
    waived: Sequence[str],
    waived_by: str,
    evaluate: EvaluationGate,
) -> BuildOutcome:
    services = pipeline.services
    ledger, share = services.ledger, services.settings.max_failed_share
    blockers = dict(failed)
    with open_store(services.store) as client:
        if missing := missing_indexes(client, building.name):
            blockers[""] = f"payload indexes are missing: {', '.join(missing)}"
        for source_id in pipeline.catalogue.manifests().manifests:
            if source_id in failed:
                continue
            report = _report(services, building, source_id)
            if reason := source_blocker(report, share):
                blockers[source_id] = reason
            elif _changed(report):
                blockers[source_id] = "it changes faster than it can be indexed"
            elif lost := lost_probes(
                client, building.name, ledger.documents.of_source(building.name, source_id).values()
            ):
                blockers[source_id] = f"a search by its own vector does not find {', '.join(lost)}"
    # A new generation has no old version of them to keep.
    for source_id, withheld in ledger.withheld.all().items():
        if not withheld.approved:
            blockers[source_id] = f"{len(withheld.document_ids):,} deletions wait for approval"
    for source_id in waived:
        if source_id in blockers:
            reason = blockers[source_id]
            ledger.waivers.record(building.name, source_id, waived_by=waived_by, reason=reason)
    # A waiver counts for what was known when it was given, and for nothing that came later.
    for source_id, waiver in ledger.waivers.of_generation(building.name).items():
        if blockers.get(source_id) == waiver.reason:
            del blockers[source_id]
    if not blockers and (poor := list(evaluate(building))):
        blockers[""] = "; ".join(poor)
    return BuildOutcome(building, blockers, tuple(ledger.waivers.of_generation(building.name)))


def blocked_in_words(outcome: BuildOutcome) -> str:
    """What to say of a generation that is not ready."""
    return (
        f"{outcome.generation.name} is not ready: {in_words(outcome.blockers)}. Put that right and run "
        "`rag-pipeline reindex` again, which goes on where it stopped, or let a source pass with --waive."
    )


def _newest_promoted(generations: Sequence[Generation]) -> list[Generation]:
    return sorted(generations, key=lambda one: one.promoted_at or one.created_at)
