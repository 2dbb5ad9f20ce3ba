"""`retrieve` of three queries over 20,000 chunks on the server: all time but embedding's and Qdrant's."""

import random
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient

from benchmarks.figures import Figure, at_most, noted
from benchmarks.material import generated_pages
from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.index.store import open_store
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.retrieval import retrieve
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline_tests.knowledge_base import scope_of
from rag_pipeline_tests.qdrant_server import running_server
from rag_pipeline_tests.shelf import Book, Shelf, open_shelf

_CHUNKS = 20_000
_CHUNKS_A_DOCUMENT = 4
_REQUESTS = 200
_WARM_UP = 20
_P50, _P95 = 5.0, 15.0


def measure(folder: Path) -> Iterator[Figure]:
    """By a client that stays open. Qdrant's time is what its client's calls take, there and back."""
    ledger = Ledger(f"sqlite:///{folder / 'ledger.sqlite'}", max_attempts=3)
    with running_server(folder / "server") as server, open_shelf(server, ledger, "overhead") as shelf:
        shelf.put(_books())
        with open_store(server) as client:
            timed = [_timed(shelf, client, ledger, number) for number in range(_WARM_UP + _REQUESTS)]
    ledger.close()
    whole, qdrant, own, busy = (sorted(column) for column in zip(*timed[_WARM_UP:], strict=True))
    yield noted("whole, p50", f"{statistics.median(whole):.2f} ms")
    yield noted("embedding's and Qdrant's, p50", f"{statistics.median(qdrant):.2f} ms")
    yield at_most("own, p50", statistics.median(own), _P50, " ms")
    yield at_most("own, p95", own[int(len(own) * 0.95)], _P95, " ms")
    yield noted("own time on the processor, p50", f"{statistics.median(busy):.2f} ms")


def _books() -> Iterator[Book]:
    for number, (name, text) in enumerate(generated_pages(_CHUNKS // _CHUNKS_A_DOCUMENT)):
        title, *sections = text.split("\n## ")
        yield Book(f"generated/{name}", sections, title=f"{title} {number}")


_baselines = Baselines()


def _timed(shelf: Shelf, client: QdrantClient, ledger: Ledger, number: int) -> tuple[float, ...]:
    """Milliseconds of one request: in all, not ours, ours, and of those the ones on the processor."""
    clock = _Clock()

    @contextmanager
    def opened() -> Iterator[QdrantClient]:
        yield clock.watching(client)

    chance = random.Random(number)  # noqa: S311 - nothing secret about it
    queries = ["".join(chance.choices(["ka", "lo ", "mi", "ren ", "su", "ta "], k=12)) for _ in range(3)]
    started, worked = time.perf_counter(), time.thread_time()
    results = retrieve(
        queries,
        scope_of("support"),
        open_client=opened,
        alias=shelf.alias,
        embedder_of=lambda model: clock.watching(shelf.embedder),
        ledger=ledger,
        baselines=_baselines,
        options=RetrievalOptions(min_relevance=0.0),
    ).results
    whole = (time.perf_counter() - started) * 1_000
    busy = (time.thread_time() - worked) * 1_000 - clock.busy_milliseconds
    assert all(len(result.chunks) == 10 for result in results), [len(one.chunks) for one in results]
    return whole, clock.milliseconds, whole - clock.milliseconds, busy


class _Clock:
    def __init__(self) -> None:
        self.milliseconds = 0.0
        self.busy_milliseconds = 0.0

    def watching(self, watched: QdrantClient | Embedder) -> Any:
        """The same thing, each call of which is timed."""
        return _Watched(self, watched)


class _Watched:
    def __init__(self, clock: _Clock, watched: QdrantClient | Embedder) -> None:
        self._clock = clock
        self._watched = watched

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._watched, name)
        if not callable(value):
            return value

        def timed(*arguments: Any, **named: Any) -> Any:
            started, worked = time.perf_counter(), time.thread_time()
            try:
                return value(*arguments, **named)
            finally:
                self._clock.milliseconds += (time.perf_counter() - started) * 1_000
                self._clock.busy_milliseconds += (time.thread_time() - worked) * 1_000

        return timed
