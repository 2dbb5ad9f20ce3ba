"""One changed document among a thousand: is only that one worked on, and how long does it take?"""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, at_most, none_of, noted
from benchmarks.material import generated_pages
from benchmarks.running import fixed_seconds, index_timed
from benchmarks.traces import Traces
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_DOCUMENTS = 1_000
_REPEATS = 5
_SOURCE = "generated"
_MOST_SHARE = 5.0


def measure(folder: Path) -> Iterator[Figure]:
    """On the server; the time of starting Dagster, measured on an empty source, is taken off both.

    With the default embedding model on pages of one section, and beside it on whole pages with vectors that
    cost nothing, which leaves the least of a whole run to compare with.
    """
    with running_server(folder / "server") as server:
        for provider, pages in (
            ("hashing", generated_pages(_DOCUMENTS)),
            ("local", generated_pages(_DOCUMENTS, sections=1)),
        ):
            base = KnowledgeBase(
                folder / provider,
                server,
                alias=f"one_of_many_{provider}",
                workers=2,
                embedding_provider=provider,
            )
            base.write(_SOURCE, dict(pages))
            yield from _one_of_many(base, provider)


def _one_of_many(base: KnowledgeBase, provider: str) -> Iterator[Figure]:
    base.manifest(_SOURCE)
    fixed = fixed_seconds(base)
    whole = index_timed(base, _SOURCE)
    times: list[float] = []
    for number in range(_REPEATS):
        before = Traces.of(base, _SOURCE)
        _edit(base, number)
        run = index_timed(base, _SOURCE)
        times.append(run.seconds)
        fixed = min(fixed, fixed_seconds(base))
        converted = Traces.of(base, _SOURCE).converted_since(before)
        edit = f"{provider}, edit {number + 1}"
        yield none_of(f"{edit}: documents changed but one", abs(run.report.documents.changed - 1))
        yield none_of(f"{edit}: documents converted but one", abs(converted - 1))
        yield none_of(f"{edit}: texts embedded but one", abs(run.report.embedded - 1))
    one = min(times)
    yield noted(
        f"{provider}: {_DOCUMENTS:,} documents; one; Dagster's start",
        f"{whole.seconds:.2f} s; {one:.2f} s; {fixed:.2f} s",
    )
    share = (one - fixed) / (whole.seconds - fixed) * 100
    yield at_most(f"{provider}: one document over all, Dagster's start taken off", share, _MOST_SHARE, " %")


def _edit(base: KnowledgeBase, number: int) -> None:
    """Change one section's words: the other chunks of the page keep their texts."""
    file = base.folder / "files" / _SOURCE / f"page_{number * 199:05}.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.rstrip("\n") + f" Edition {number} of it.\n", encoding="utf-8")
