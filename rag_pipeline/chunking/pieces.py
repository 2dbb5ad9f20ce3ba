"""Pieces: what a section's blocks are broken into, and chunks are built from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_pipeline.chunking.cutting import cut_to_fit
from rag_pipeline.chunking.lines import solid_lines
from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.chunking.tables import table_rows
from rag_pipeline.chunking.window import Window
from rag_pipeline.normalize.document import Block, BlockKind, Place

_KEPT_WHOLE = frozenset({BlockKind.HEADING, BlockKind.LIST_ITEM, BlockKind.TABLE, BlockKind.CODE})
"""Broken only where the window forces it; running text is broken where it exceeds the target."""

_TYPICAL_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """A block or a part of one, `markdown[start:end]`, with the white space after it.

    `places` are those of the whole block. `tokens` is an estimate that leaves out white space around the
    piece, of which there are `space` bytes: no tokenizer makes more tokens of it. `opens` and `closes` tell
    whether a sentence, line or row starts and ends with the piece. `header` is the header of the table that
    the piece continues, else empty.
    """

    start: int
    end: int
    kind: BlockKind
    places: tuple[Place, ...]
    tokens: int
    space: int
    opens: bool = True
    closes: bool = True
    header: str = ""
    header_tokens: int = 0

    @property
    def pages(self) -> list[int]:
        """The pages that the piece's own part of its block stands on, without repetition."""
        pages = (p.page for p in self.places if p.start < self.end and self.start < p.end)
        return list(dict.fromkeys(pages))


def pieces_of(markdown: str, blocks: Sequence[Block], window: Window) -> Iterator[Piece]:
    """A section's blocks as pieces in order; they touch, and each fits the window by estimate."""
    headings = 0
    for block in blocks:
        text = markdown[block.start : block.end]
        whole = Piece(
            block.start, block.end, block.kind, block.places, window.tokens(text), space_around(text)
        )
        # Headings share the chunk of what follows them, so they take of its room, unless they are absurd.
        room = window.limit - headings if headings <= window.limit // 2 else window.limit
        if whole.tokens <= (room if block.kind in _KEPT_WHOLE else min(room, window.target)):
            yield whole
        elif block.kind is BlockKind.TABLE:
            yield from _by_rows(markdown, whole, window, room)
        else:
            yield from _by_parts(markdown, whole, window, room)
        headings = headings + whole.tokens if block.kind is BlockKind.HEADING else 0


def cut_piece(markdown: str, piece: Piece, fits: Callable[[str], bool], window: Window) -> Iterator[Piece]:
    """The piece in parts that each fit, for one that no sentence, line or row divides."""
    text = markdown[piece.start : piece.end]
    parts = cut_to_fit(text, fits, guess=_TYPICAL_CHARACTERS_PER_TOKEN * window.target)
    start = piece.start
    for part in parts:
        end = start + len(part)
        yield replace(
            piece,
            start=start,
            end=end,
            tokens=window.tokens(part),
            space=space_around(part),
            opens=piece.opens and start == piece.start,
            closes=piece.closes and end == piece.end,
        )
        start = end


def _by_parts(markdown: str, block: Piece, window: Window, room: int) -> Iterator[Piece]:
    """Code by lines, other text by sentences."""
    text = markdown[block.start : block.end]
    if block.kind is BlockKind.CODE:
        parts = solid_lines(text)
    else:
        parts = [text[start:end] for start, end in sentence_spans(text)]
    yield from _fitted(markdown, block, parts, window, room)


def _by_rows(markdown: str, table: Piece, window: Window, room: int) -> Iterator[Piece]:
    header, rows = table_rows(markdown[table.start : table.end])
    header_tokens = window.tokens(header)
    if not header or not rows or header_tokens > room // 2:
        parts = [header, *rows] if header else rows
        yield from _fitted(markdown, table, parts, window, room)
        return
    # A header at the end of a chunk, away from every row, would say nothing, so the first row goes with it.
    opening, rows = (
        (header + rows[0], rows[1:]) if window.tokens(header + rows[0]) <= room else (header, rows)
    )
    yield from _fitted(markdown, table, [opening], window, room)
    body = replace(table, start=table.start + len(opening), header=header, header_tokens=header_tokens)
    yield from _fitted(markdown, body, rows, window, window.limit - header_tokens)


def _fitted(markdown: str, whole: Piece, parts: Sequence[str], window: Window, room: int) -> Iterator[Piece]:
    """The parts of a block as pieces; one larger than `room` is cut, others are left whole."""
    cut_size = min(room, window.target)
    start = whole.start
    for part in parts:
        end = start + len(part)
        piece = replace(whole, start=start, end=end, tokens=window.tokens(part), space=space_around(part))
        if piece.tokens <= room:
            yield piece
        else:
            yield from cut_piece(markdown, piece, lambda text: window.tokens(text) <= cut_size, window)
        start = end


def space_around(text: str) -> int:
    """The bytes of white space before and after a text."""
    return len(text.encode()) - len(text.strip().encode())
