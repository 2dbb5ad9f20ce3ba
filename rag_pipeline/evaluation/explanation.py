"""Where the right passage was lost on its way from its source to a citation, step by step, and why.

Nothing is looked up here: what is told is concluded from what was seen (`explaining` looks).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from rag_pipeline.chunking.chunk import Chunk
from rag_pipeline.evaluation.quotes import find_quote, holds_quote
from rag_pipeline.evaluation.seen import SeenChunk, SeenDocument, SeenRequest


class StepName(StrEnum):
    """The steps in their order."""

    SOURCE = "source"
    CONVERSION = "conversion"
    TEXT = "normalized text"
    CHUNK = "chunk"
    RECORD = "vector record"
    FILTER = "filter"
    CANDIDATES = "candidates"
    SELECTION = "selection"
    RELEVANCE = "relevance"
    EVIDENCE = "evidence"
    CONFLICTS = "conflicts"
    CONTEXT = "model context"
    CITATION = "citation"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: whether the passage came through, and what was seen there."""

    name: StepName
    held: bool
    what: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The way of one passage, as far as it came. Without a quote any passage of the document counts."""

    document: str
    quote: str | None
    steps: tuple[Step, ...]

    @property
    def lost_at(self) -> Step | None:
        """The step at which the passage was lost; None: it is cited."""
        return next((one for one in self.steps if not one.held), None)

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values."""
        lost = self.lost_at
        return asdict(self) | {"lost_at": lost.name if lost else None}


def explained(
    document: SeenDocument, quote: str | None, chunks: Sequence[SeenChunk], request: SeenRequest
) -> Explanation:
    """The way of a quote. Of several chunks that hold it, given as they were seen, the best way counts."""
    before = _until_lost(_making(document, quote))
    if before and not before[-1].held:
        return Explanation(document.document_id, quote, before)
    ways = [_until_lost(_finding(document, chunk, request)) for chunk in chunks]
    best = max(ways, key=lambda way: (way[-1].held, len(way)))
    return Explanation(document.document_id, quote, before + best)


def explained_chunk(document_id: str, chunk: SeenChunk, request: SeenRequest) -> Explanation:
    """The way of a chunk that was found, from the filter on."""
    return Explanation(document_id, None, _until_lost(_asked(chunk, request)))


def holding(document: SeenDocument, quote: str | None) -> list[Chunk]:
    """The chunks of a document that hold a quote; all where there is none."""
    return [one for one in document.chunks if quote is None or holds_quote(one.text, quote)]


def _until_lost(steps: Iterable[Step]) -> tuple[Step, ...]:
    gone: list[Step] = []
    for step in steps:
        gone.append(step)
        if not step.held:
            break
    return tuple(gone)


def _making(document: SeenDocument, quote: str | None) -> Iterator[Step]:
    """From the source to the chunks."""
    version, file = document.version, document.file
    if file.problem and version:
        yield Step(StepName.SOURCE, True, f"{file.problem}; what was indexed of it is still there")
    elif file.problem:
        yield Step(StepName.SOURCE, False, file.problem)
    elif version and version.content_hash != file.content_hash:
        yield Step(StepName.SOURCE, True, "the file is there; it was edited since it was indexed")
    else:
        yield Step(StepName.SOURCE, True, "the file is there")
    yield _conversion(document)
    yield _text(document, quote)
    yield _chunk(document, quote)


def _conversion(document: SeenDocument) -> Step:
    letters = [one for one in document.letters if one.chunk_index is None]
    failed = "; ".join(f"dead letter {one.id}, {one.stage}: {one.category}: {one.message}" for one in letters)
    if document.version:
        what = f"{document.version.chunk_count} chunks of version {document.version.content_hash[:12]}"
        return Step(StepName.CONVERSION, True, f"{what}; a newer one failed: {failed}" if failed else what)
    if failed:
        return Step(StepName.CONVERSION, False, failed)
    if document.deletion_noticed:
        noticed = f"{document.deletion_noticed:%Y-%m-%d %H:%M}"
        return Step(StepName.CONVERSION, False, f"it was deleted from its source, as noticed {noticed}")
    return Step(StepName.CONVERSION, False, "it was never indexed; run `rag-pipeline index`")


def _text(document: SeenDocument, quote: str | None) -> Step:
    normalized = document.normalized
    if normalized is None:
        return Step(StepName.TEXT, True, "its text is not kept any more; only the chunks are looked at")
    if quote is None:
        return Step(StepName.TEXT, True, f"{len(normalized.markdown):,} characters")
    if span := find_quote(normalized.markdown, quote):
        return Step(StepName.TEXT, True, f"characters {span[0]:,} to {span[1]:,}")
    removed = next((one.reason for one in normalized.removed if holds_quote(one.text, quote)), None)
    return Step(
        StepName.TEXT,
        False,
        f"the quote was left out of the text: {removed}" if removed else "the quote is not in the text",
    )


def _chunk(document: SeenDocument, quote: str | None) -> Step:
    if not document.chunks:
        return Step(StepName.CHUNK, False, "its chunks are not kept; `rag-pipeline index` makes them again")
    held = ", ".join(str(one.index) for one in holding(document, quote))
    if quote is None or held:
        return Step(StepName.CHUNK, True, f"no. {held}")
    span = find_quote(document.normalized.markdown, quote) if document.normalized else None
    if span is None:
        return Step(StepName.CHUNK, False, "no chunk holds the quote")
    parts = [
        f"no. {one.index} ({one.span_from:,} to {one.span_to:,})"
        for one in document.chunks
        if one.span_from < span[1] and one.span_to > span[0]
    ]
    return Step(StepName.CHUNK, False, f"the quote is split over chunks {' and '.join(parts)}")


def _finding(document: SeenDocument, chunk: SeenChunk, request: SeenRequest) -> Iterator[Step]:
    """From the store to the citation."""
    yield _record(document, chunk)
    yield from _asked(chunk, request)


def _record(document: SeenDocument, chunk: SeenChunk) -> Step:
    payload = chunk.payload
    index = chunk.chunk_id.rpartition(":")[2]
    if payload is None:
        failed = [one for one in document.letters if str(one.chunk_index) == index]
        if failed:
            what = f"not indexed: dead letter {failed[0].id}: {failed[0].category}: {failed[0].message}"
        else:
            what = "the point is missing from Qdrant; `rag-pipeline index` writes it again"
    elif payload.get("text_hash") != chunk.text_hash:
        what = "the point holds another text than the chunk"
    elif payload.get("published") is not True:
        what = "the point is withdrawn from readers"
    else:
        return Step(StepName.RECORD, True, chunk.chunk_id)
    return Step(StepName.RECORD, False, f"{chunk.chunk_id}: {what}")


def _asked(chunk: SeenChunk, request: SeenRequest) -> Iterator[Step]:
    if chunk.blocked:
        yield Step(StepName.FILTER, False, "; ".join(chunk.blocked))
    yield Step(StepName.FILTER, True, f"the asker may see {chunk.chunk_id}")
    selected = chunk.selected
    if selected is None or not selected.joined_to:
        yield from _searched(chunk, request)
    if selected is None or selected.relevance is None:
        raise ValueError("a chunk that was looked at has a relevance")
    if selected.joined_to:
        yield Step(StepName.CANDIDATES, True, f"brought along by its neighbour {selected.joined_to}")
    relevant = selected.relevance >= request.threshold
    compared = f"{selected.relevance:.3f}, the threshold is {request.threshold:.3f} ({selected.signals})"
    yield Step(StepName.RELEVANCE, relevant, compared)
    yield from _answered(chunk, request)


def _searched(chunk: SeenChunk, request: SeenRequest) -> Iterator[Step]:
    ranked = "; ".join(map(str, chunk.ranks)) or f"nothing was searched: {request.reason}"
    best = min((one.fused for one in chunk.ranks if one.fused), default=None)
    if best is None:
        beyond = f"; each leg brings {request.per_leg}" if chunk.ranks else ""
        yield Step(StepName.CANDIDATES, False, ranked + beyond)
    yield Step(StepName.CANDIDATES, True, ranked)
    if chunk.selected is None:
        chosen = (
            f" by the search; the reranker ordered what was found, and chose {request.looked_at} others"
            if request.reranked
            else f", and {request.looked_at} were chosen before it"
        )
        yield Step(StepName.SELECTION, False, f"ranked {best}{chosen}")
    elif chunk.selected.rejected:
        yield Step(StepName.SELECTION, False, chunk.selected.rejected)
    place = chunk.selected.reranked if chunk.selected else None
    yield Step(StepName.SELECTION, True, f"ranked {best}" + (f", by the reranker {place}" if place else ""))


def _answered(chunk: SeenChunk, request: SeenRequest) -> Iterator[Step]:
    ended = f"{request.outcome}: {request.reason}"
    if chunk.evidence is None:
        yield Step(StepName.EVIDENCE, False, chunk.beyond or ended)
    yield Step(StepName.EVIDENCE, True, f"{chunk.evidence} of at most {request.max_evidence}")
    if chunk.withheld:
        yield Step(StepName.CONFLICTS, False, chunk.withheld)
    yield Step(StepName.CONFLICTS, True, "not withheld")
    if chunk.left_out:
        budget = f"the passages before it fill the model's {request.context_tokens:,} tokens"
        yield Step(StepName.CONTEXT, False, budget)
    yield Step(StepName.CONTEXT, True, "handed to answering")
    if not chunk.cited:
        yield Step(StepName.CITATION, False, f"no claim cites it; {ended}")
    yield Step(StepName.CITATION, True, f"cited by {chunk.cited} claims: nothing was lost")
