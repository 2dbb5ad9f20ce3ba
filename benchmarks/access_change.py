"""A source of a thousand chunks gets other readers: nothing is embedded, and the next query heeds it."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, none_of, noted
from benchmarks.material import generated_pages
from benchmarks.running import index_timed
from benchmarks.traces import Traces
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_CHUNKS = 1_000
_PAGES = 250
_SOURCE = "generated"
_QUESTION = "section"


def measure(folder: Path) -> Iterator[Figure]:
    """On the server: the manifest's roles change from support to hr."""
    with running_server(folder / "server") as server:
        base = KnowledgeBase(folder, server, alias="access_change", workers=2)
        base.write(_SOURCE, dict(generated_pages(_PAGES)))
        base.manifest(_SOURCE, roles=["support"])
        first = index_timed(base, _SOURCE)
        assert first.report.chunks.stored >= _CHUNKS, first.report.chunks
        assert base.find(_QUESTION, "support") and not base.find(_QUESTION, "hr")  # noqa: PT018
        before = Traces.of(base, _SOURCE)
        base.manifest(_SOURCE, roles=["hr"])
        run = index_timed(base, _SOURCE)
        yield noted(f"{first.report.chunks.stored:,} chunks", f"changed in {run.seconds:.2f} s")
        yield none_of("texts embedded", run.report.embedded)
        yield none_of("documents converted", Traces.of(base, _SOURCE).converted_since(before))
        yield none_of("points written", run.report.chunks.written)
        yield none_of(
            "passages that the next query still shows to support", len(base.find(_QUESTION, "support"))
        )
        yield none_of(
            "passages that the next query hides from hr", 10 - len(base.find(_QUESTION, "hr", limit=10))
        )
        groups = [payload["access_groups"] for payload in base.points().values()]
        yield none_of("points with other groups", sum(one != ["hr"] for one in groups))
