"""Whatever happens in whatever order, each reader finds what a plain model says: no more and no less."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from rag_pipeline import rebuilding
from rag_pipeline.errors import ConfigurationError, GenerationConflict
from rag_pipeline.following import Verdict
from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.store import open_store
from rag_pipeline.ledger.generations import Generation, GenerationState
from rag_pipeline_tests.following_model import (
    ABSENT,
    BODIES,
    CALLERS,
    NAMES,
    SIZES,
    SOURCES,
    TARGET,
    UNREADABLE,
    Approved,
    File,
    Model,
    chunks_of,
)
from rag_pipeline_tests.interrupting import interrupted
from rag_pipeline_tests.knowledge_base import KnowledgeBase

# `make test-nightly` chooses a profile of more examples than hypothesis has by itself.
NIGHTLY = settings().max_examples > 100

pytestmark = pytest.mark.timeout(4 * 3600 if NIGHTLY else 300)

file_names = st.sampled_from(NAMES)
source_ids = st.sampled_from(SOURCES)
bodies = st.sampled_from(BODIES)
# After how many instants something is killed; 0 is never, and most often so where it takes several instants.
moments = st.just(0) | st.integers(1, 40)
soon = st.just(0) | st.integers(1, 5)
sidecars = st.sampled_from([None, frozenset(["hr"]), frozenset(["support"]), frozenset[str]()])
roles = st.sampled_from([frozenset(["support"]), frozenset(["support", "hr"]), frozenset(["hr"]), None])


class Following(RuleBasedStateMachine):
    """A knowledge base that somebody changes, runs, kills, rebuilds and swaps."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="following_"))
        self.bases = {
            size: KnowledgeBase(
                self.folder, embedding_dimensions=size, chunk_target_tokens=TARGET, chunk_overlap_tokens=0
            )
            for size in SIZES
        }
        self.size = SIZES[0]
        self.model = Model()

    @property
    def base(self) -> KnowledgeBase:
        """The knowledge base, as a process with today's settings sees it."""
        return self.bases[self.size]

    def generations(self) -> list[Generation]:
        return self.base.services.ledger.generations.of_alias(self.base.settings.alias)

    def states(self) -> dict[str, GenerationState]:
        return {one.name: one.state for one in self.generations()}

    @initialize(rebuilt=st.booleans(), promoted=st.booleans())
    def begin(self, rebuilt: bool, promoted: bool) -> None:
        """Some documents, and often a second generation, so that what needs one comes up sooner."""
        for source in SOURCES:
            self._write(source, NAMES[0], BODIES[0])
            self._write(source, NAMES[2], BODIES[2])
            self._describe(source)
            self.run_source(source)
        if rebuilt:
            self.reindex(SIZES[1], 0)
            if promoted:
                self.promote(0)

    # What people do to the sources: readers notice nothing of it before a run.

    @rule(source=source_ids, name=file_names, content=bodies)
    def write(self, source: str, name: str, content: str) -> None:
        self._write(source, name, content)

    @rule(source=source_ids, old=file_names, new=file_names)
    def rename(self, source: str, old: str, new: str) -> None:
        files = self.model.sources[source].files
        if old in files and old != new:
            file = files[old]
            self._remove(source, old)
            self._write(source, new, file.content)
            self._write_sidecar(source, new, file.sidecar)

    @rule(source=source_ids, name=file_names)
    def delete(self, source: str, name: str) -> None:
        if name in self.model.sources[source].files:
            self._remove(source, name)

    @rule(source=source_ids)
    def empty(self, source: str) -> None:
        for name in list(self.model.sources[source].files):
            self._remove(source, name)

    @rule(source=source_ids, name=file_names, sidecar=sidecars)
    def narrow(self, source: str, name: str, sidecar: frozenset[str] | None) -> None:
        if name in self.model.sources[source].files:
            self._write_sidecar(source, name, sidecar)

    @rule(source=source_ids, chosen=roles)
    def let_in(self, source: str, chosen: frozenset[str] | None) -> None:
        now = self.model.sources[source]
        now.roles, now.described, now.active = chosen, True, True
        self._describe(source)

    @rule(source=source_ids, archived=st.booleans())
    def withdraw(self, source: str, archived: bool) -> None:
        now = self.model.sources[source]
        now.active, now.described = not archived, archived
        self._describe(source)

    # What runs do.

    @rule(source=source_ids)
    def run_source(self, source: str) -> None:
        known = bool(self.generations()) and source in self.base.pipeline.catalogue.indexed()
        if self.model.sources[source].described or known:
            self.base.index(source)
            self.model.run(source, self.generations(), listed=True, indexed=True)
        else:
            with pytest.raises(ConfigurationError):
                self.base.index(source)
        self.compare()

    @rule(source=source_ids, stages=st.integers(1, 4))
    def run_some_stages(self, source: str, stages: int) -> None:
        """A run that is killed between two stages."""
        if not self.model.sources[source].described:
            return
        pipeline = self.base.pipeline
        with pipeline.holding(source):
            raw = pipeline.list_documents(source).table
            if stages > 1:
                normalized = pipeline.normalize(source, raw).table
            if stages > 2:
                chunked = pipeline.chunk(source, normalized).table
            if stages > 3:
                pipeline.embed(source, chunked)
        self.model.run(source, self.generations(), listed=True, indexed=False)
        self.compare()

    @rule(source=source_ids, moment=moments)
    def kill_run(self, source: str, moment: int) -> None:
        """A run that is killed at a moment, or ends before it."""
        if not self.model.sources[source].described:
            return
        killed = interrupted(lambda: self.base.pipeline.run(source), moment)
        self.model.run(source, self.generations(), listed=not killed, indexed=None if killed else True)
        self.compare()

    @rule(source=source_ids)
    def approve(self, source: str) -> None:
        withheld = self.base.services.ledger.withheld.of(source)
        if withheld is None:
            return
        shown = set(withheld.document_ids)
        if not withheld.approved:
            listed = {f"{source}/{name}" for name in self.model.sources[source].files}
            for document_id in shown - listed:
                assert any(self.model.of(one.name, document_id) != ABSENT for one in self.generations())
        self.base.services.ledger.withheld.approve(source, "an operator")
        self.model.approved[source] = Approved(frozenset(shown), frozenset(shown))

    # What operators do to generations.

    @rule(size=st.sampled_from(SIZES), moment=moments)
    def reindex(self, size: int, moment: int) -> None:
        self.size = size
        outcomes: list[rebuilding.BuildOutcome] = []
        killed = interrupted(lambda: outcomes.append(rebuilding.reindex(self.base.pipeline)), moment)
        generations = self.generations()
        # While it was built it was fed, whatever it became in the end.
        for source in SOURCES:
            self.model.run(source, generations, listed=not killed, indexed=None if killed else True)
        if not killed:
            (outcome,) = outcomes
            state = self.states()[outcome.generation.name]
            assert state is (GenerationState.READY if outcome.ready else GenerationState.BUILDING)
            if not self._anything_unreadable() and not self._anything_withheld():
                assert outcome.ready, outcome.blockers
        self.compare()

    @rule(moment=soon)
    def promote(self, moment: int) -> None:
        ready = [one.name for one in self.generations() if one.state is GenerationState.READY]
        self._swap(ready[-1:], moment, lambda: rebuilding.promote(self.base.services))

    @rule(moment=soon)
    def roll_back(self, moment: int) -> None:
        previous = [one for one in self.generations() if one.state is GenerationState.PREVIOUS]
        newest = sorted(previous, key=lambda one: one.promoted_at or one.created_at)[-1:]
        names = [one.name for one in newest]
        self._swap(names, moment, lambda: rebuilding.rollback(self.base.services))

    @rule(moment=soon)
    def collect_garbage(self, moment: int) -> None:
        before = self.states()
        previous = [name for name, state in before.items() if state is GenerationState.PREVIOUS]
        killed = interrupted(lambda: rebuilding.collect_garbage(self.base.services), moment)
        after = self.states()
        assert after.items() <= before.items()
        kept = [name for name, state in after.items() if state is GenerationState.PREVIOUS]
        assert bool(kept) == bool(previous)
        if not killed:
            assert len(kept) <= 1
            assert GenerationState.FAILED not in after.values()
        self.compare()

    def teardown(self) -> None:
        try:
            self._come_right()
        finally:
            for base in self.bases.values():
                base.services.ledger.close()
            shutil.rmtree(self.folder)

    def _come_right(self) -> None:
        """In the end every generation that readers can be shown is looked at."""
        self._follow()
        self.promote(0)
        self.roll_back(0)
        self._follow()

    def _follow(self) -> None:
        """After the runs that the sensor would ask for nothing is in doubt, also where it asks for none."""
        for look in self.base.pipeline.catalogue.looks(60):
            if look.verdict is Verdict.UNCHANGED:
                self.model.run(look.source_id, self.generations(), listed=True, indexed=True)
            else:
                self.run_source(look.source_id)
        self.compare()

    def compare(self) -> None:
        """Each caller finds of each document what the model says, in one version, complete."""
        with open_store(self.base.services.store) as client:
            live = aliased_collection(client, self.base.settings.alias)
            if live is None:
                return
            found = {
                caller: self.base.find("refund", caller, limit=1_000, client=client) for caller in CALLERS
            }
        documents = self.model.shelves.get(live, {})
        for caller, chunks in found.items():
            texts: dict[str, dict[str, int]] = {}
            for chunk in chunks:
                versions = texts.setdefault(chunk.document_id, {})
                versions[chunk.content_hash] = versions.get(chunk.content_hash, 0) + 1
            assert texts.keys() <= documents.keys()
            for document_id, possible in documents.items():
                allowed = [chunks_of(one.content) if one and one.seen_by(caller) else {} for one in possible]
                assert texts.get(document_id, {}) in allowed, (caller, document_id, possible)

    def _swap(self, target: list[str], moment: int, act: Callable[[], object]) -> None:
        before = self.base.collection
        if not target:
            with pytest.raises(GenerationConflict):
                act()
            return
        killed = interrupted(act, moment)
        with open_store(self.base.services.store) as client:
            live = aliased_collection(client, self.base.settings.alias)
        assert live in ([before, *target] if killed else target)
        # Whoever comes next completes a swap that was cut short.
        rebuilding.listed_generations(self.base.services)
        assert self.states()[str(live)] is GenerationState.LIVE
        self.compare()

    def _anything_unreadable(self) -> bool:
        return any(
            file.content == UNREADABLE or source.groups_of(file) is None
            for source in self.model.sources.values()
            for file in source.listed.values()
        )

    def _anything_withheld(self) -> bool:
        return any(self.base.services.ledger.withheld.of(source) for source in SOURCES)

    def _write(self, source: str, name: str, content: str) -> None:
        self.base.write(source, {name: content})
        files = self.model.sources[source].files
        files[name] = File(content, files[name].sidecar if name in files else None)

    def _remove(self, source: str, name: str) -> None:
        self.base.remove(source, name)
        self._write_sidecar(source, name, None)
        del self.model.sources[source].files[name]

    def _write_sidecar(self, source: str, name: str, groups: frozenset[str] | None) -> None:
        self.model.sources[source].files[name].sidecar = groups
        sidecar = f"{name}.meta.yaml"
        if groups is not None:
            self.base.write(source, {sidecar: f"access_groups: [{', '.join(sorted(groups))}]\n"})
        elif (self.folder / "files" / source / sidecar).exists():
            self.base.remove(source, sidecar)

    def _describe(self, source: str) -> None:
        now = self.model.sources[source]
        if now.described:
            lifecycle = "active" if now.active else "archived"
            self.base.manifest(source, now.roles, lifecycle=lifecycle)
        else:
            (self.folder / "manifests" / "sources" / f"{source}.yaml").unlink(missing_ok=True)


@pytest.mark.long
def test_readers_find_what_the_model_says() -> None:
    sequences, steps = (500, 15) if NIGHTLY else (3, 10)
    run_state_machine_as_test(
        Following,
        settings=settings(
            max_examples=sequences,
            stateful_step_count=steps,
            suppress_health_check=list(HealthCheck),
        ),
    )
