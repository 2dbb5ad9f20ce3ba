"""Chunking a document: by sections, then blocks, then sentences, then tokens."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from rag_pipeline.chunking.chunk import Chunk
from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.chunking.overlap import overlap
from rag_pipeline.chunking.packing import Group, pack
from rag_pipeline.chunking.pieces import cut_piece, pieces_of
from rag_pipeline.chunking.sections import Section, sections_of
from rag_pipeline.chunking.window import TokenCounter, Window
from rag_pipeline.normalize.document import NormalizedDocument


def chunk_document(
    document: NormalizedDocument,
    *,
    title: str,
    options: ChunkingOptions,
    count_tokens: Callable[[str], int],
) -> list[Chunk]:
    """Divide a document into chunks that each fit the embedding model's window.

    The bodies put together are exactly `document.markdown`; no chunk holds text of two sections, and none is
    only white space. `count_tokens` counts a text as the model reads it, special tokens included; it is
    called a few times a chunk, on short texts. A document of only white space gives no chunks.

    Raises DocumentError where a single character exceeds the window.
    """
    counter = TokenCounter(count_tokens)
    chunks: list[Chunk] = []
    for section in sections_of(document):
        window = Window(title, section.path, options, counter)
        chunks += _section_chunks(document.markdown, section, window, options)
    return [replace(chunk, index=index) for index, chunk in enumerate(chunks)]


def _section_chunks(
    markdown: str, section: Section, window: Window, options: ChunkingOptions
) -> Iterator[Chunk]:
    pieces = list(pieces_of(markdown, section.blocks, window))
    packed = pack(pieces, target=window.target, limit=window.limit, minimum=options.min_tokens)
    groups = [fitting for group in packed for fitting in _made_to_fit(markdown, group, window)]
    for number, group in enumerate(groups):
        start, end = group[0].start, group[-1].end
        lead = group[0].header
        if number and not lead and group[0].opens:
            lead = overlap(markdown, groups[number - 1], window.tokens, options.overlap_tokens)
            if lead and not _fits(markdown, group, window, lead, options.overlap_tokens):
                lead = ""
        pages = [page for piece in group for page in piece.pages]
        yield Chunk(
            index=0,
            lead=lead,
            body=markdown[start:end],
            span_from=start,
            span_to=end,
            section_path=section.path,
            page_from=min(pages, default=None),
            page_to=max(pages, default=None),
            context_limit=window.context_limit,
        )


def _made_to_fit(markdown: str, group: Group, window: Window) -> Iterator[Group]:
    """The group itself if it fits the window, else smaller ones: tokens of parts do not quite add up."""
    header = group[0].header
    if _fits(markdown, group, window, header, group[0].header_tokens):
        yield group
    elif len(group) > 1:
        middle = len(group) // 2
        yield from _made_to_fit(markdown, group[:middle], window)
        yield from _made_to_fit(markdown, group[middle:], window)
    else:
        for piece in cut_piece(markdown, group[0], lambda text: window.fits(header + text), window):
            yield [piece]


def _fits(markdown: str, group: Group, window: Window, lead: str, lead_tokens: int) -> bool:
    lead_space = len(lead.encode()) - len("".join(lead.split()).encode())
    tokens = lead_tokens + lead_space + sum(piece.tokens + piece.space for piece in group)
    if window.surely_fits(tokens, parts=len(group) + 1):
        return True
    return window.fits(lead + markdown[group[0].start : group[-1].end])
