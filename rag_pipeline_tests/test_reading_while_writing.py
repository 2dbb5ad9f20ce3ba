"""Readers ask on while documents change and go, and while generations are built, swapped and removed."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from qdrant_client import QdrantClient

from rag_pipeline import fault_points, rebuilding
from rag_pipeline.errors import RagPipelineError
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.query.results import RetrievedChunk
from rag_pipeline_tests.knowledge_base import KnowledgeBase

logger = logging.getLogger(__name__)

NIGHTLY = settings().max_examples > 100
QUERIES = 10_000 if NIGHTLY else 100
pytestmark = pytest.mark.timeout(3600 if NIGHTLY else 300)

STABLE = {f"rules/{name}.md" for name in ("kept", "edited", "long")}
GOES = "rules/goes.md"
READERS = 2 if NIGHTLY else 1
# Between questions, so that the writer gets on too.
PAUSE_SECONDS = 0.0 if NIGHTLY else 0.03


@dataclass
class Readers:
    """What readers met so far; `gone` are the times during which a document was known to be gone."""

    asked: int = 0
    wrong: list[str] = field(default_factory=list)
    gone: list[tuple[float, float]] = field(default_factory=list)
    chunks: dict[str, int] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)

    def read(self, base: KnowledgeBase) -> None:
        """Ask until told to stop, by one client on a server."""
        with nullcontext() if base.services.store.embedded else open_store(base.services.store) as client:
            self._ask(base, client)

    def _ask(self, base: KnowledgeBase, client: QdrantClient | None) -> None:
        while not self.stopped.wait(PAUSE_SECONDS):
            began = time.monotonic()
            try:
                everything = base.find("hardware", "support", limit=500, client=client)
                best = base.find(
                    "Whoever finds one tells the owner about edited", "support", limit=3, client=client
                )
            except RagPipelineError as error:
                self.wrong.append(str(error))
            else:
                self._judge(everything, best, began, time.monotonic())
            self.asked += 2

    def _judge(
        self, chunks: tuple[RetrievedChunk, ...], best: tuple[RetrievedChunk, ...], began: float, ended: float
    ) -> None:
        versions: dict[str, list[str]] = {}
        for chunk in chunks:
            versions.setdefault(chunk.document_id, []).append(chunk.content_hash)
        if len({chunk.chunk_id for chunk in chunks}) < len(chunks):
            self.wrong.append("a chunk twice")
        for document_id, hashes in versions.items():
            if len(set(hashes)) > 1:
                self.wrong.append(f"{document_id} in two versions")
            if self.chunks.setdefault(hashes[0], len(hashes)) != len(hashes):
                self.wrong.append(f"{document_id}: {len(hashes)} of {self.chunks[hashes[0]]} chunks")
        if missing := STABLE - versions.keys():
            self.wrong.append(f"{missing} not found")
        if "rules/edited.md" not in {chunk.document_id for chunk in best}:
            self.wrong.append("edited.md not among the best")
        if GOES in versions and any(since < began and ended < until for since, until in self.gone):
            self.wrong.append(f"{GOES} found after its deletion was noticed")


def long_page(parts: int) -> str:
    return "# long\n\n" + "\n\n".join(
        f"## Part {number}\n\nHardware of kind {number} goes back within {number} days of its delivery."
        for number in range(parts)
    )


@contextmanager
def reading(bases: list[KnowledgeBase]) -> Iterator[Readers]:
    """Readers, each with services of its own, as long as the block lasts."""
    readers = Readers()
    threads = [threading.Thread(target=readers.read, args=(base,)) for base in bases]
    for thread in threads:
        thread.start()
    try:
        yield readers
    finally:
        readers.stopped.set()
        for thread in threads:
            thread.join()


def write(base: KnowledgeBase, other: KnowledgeBase, readers: Readers) -> None:
    """Every kind of change, back to where it began; `other` has another model size."""
    base.page("rules", "edited", sentence="Hardware goes back within 45 days.")
    base.write("rules", {"long.md": long_page(8)})
    base.remove("rules", "goes.md")
    base.pipeline.list_documents("rules")
    gone_since = time.monotonic()
    base.index("rules")
    rebuilding.reindex(other.pipeline, promote_after=True)
    base.page("rules", "edited")
    base.write("rules", {"long.md": long_page(12)})
    base.index("rules")
    rebuilding.rollback(base.services)
    base.index("rules")
    readers.gone.append((gone_since, time.monotonic()))
    base.page("rules", "goes")
    base.index("rules")
    rebuilding.reindex(other.pipeline, promote_after=True)
    rebuilding.collect_garbage(base.services)
    rebuilding.reindex(base.pipeline, promote_after=True)
    rebuilding.collect_garbage(base.services)


@pytest.mark.long
@pytest.mark.parametrize(
    "store_location",
    [pytest.param("server", marks=pytest.mark.server), *(["embedded"] if NIGHTLY else [])],
    indirect=True,
)
def test_readers_notice_no_change(tmp_path: Path, store_location: StoreLocation, alias: str) -> None:
    def knowledge_base(dimensions: int = 384) -> KnowledgeBase:
        return KnowledgeBase(tmp_path, store_location, alias, embedding_dimensions=dimensions, lock_wait_s=60)

    base, other = knowledge_base(), knowledge_base(128)
    base.manifest("rules")
    base.page("rules", "kept", "edited", "goes")
    base.write("rules", {"long.md": long_page(12)})
    base.index("rules")
    with reading([knowledge_base() for _ in range(READERS)]) as readers:
        # The embedded store lets one in at a time, so there they ask as often as they come to.
        while readers.asked < (1 if store_location.embedded else QUERIES):
            write(base, other, readers)
    logger.info("asked %d times", readers.asked)
    assert not readers.wrong, f"{len(readers.wrong)} of {readers.asked}: {sorted(set(readers.wrong))[:20]}"


@pytest.mark.server
@pytest.mark.parametrize("store_location", ["server"], indirect=True)
def test_a_generation_that_is_removed_while_it_is_read_is_left_for_the_live_one(
    tmp_path: Path, store_location: StoreLocation, alias: str
) -> None:
    base = KnowledgeBase(tmp_path, store_location, alias)
    base.manifest("rules")
    base.page("rules", "kept")
    base.index("rules")
    first = base.collection
    waiting = ["generation resolved"]

    def remove_it(instant: str) -> None:
        if instant in waiting:
            waiting.remove(instant)
            for _ in range(2):
                rebuilding.reindex(base.pipeline, promote_after=True)
            assert rebuilding.collect_garbage(base.services) == [first]

    fault_points.install(remove_it)
    try:
        assert base.find("hardware", "support")
    finally:
        fault_points.install(lambda instant: None)
    assert not waiting
    assert base.collection != first
