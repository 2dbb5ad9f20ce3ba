"""Rebuilding a document from the lines of its pages: headings, paragraphs, lists, tables. Pure functions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_pipeline.normalize.assembling import Piece
from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.layout.blocks import (
    Block,
    Role,
    TableBlock,
    TextBlock,
    blocks_of,
    spacing_of,
)
from rag_pipeline.normalize.layout.flow import goes_on
from rag_pipeline.normalize.layout.footnotes import footnotes_last
from rag_pipeline.normalize.layout.frames import Frame, by_frame
from rag_pipeline.normalize.layout.furniture import furniture
from rag_pipeline.normalize.layout.headings import body_of, mark_headings
from rag_pipeline.normalize.layout.lists import Markers
from rag_pipeline.normalize.layout.order import reading_order
from rag_pipeline.normalize.layout.page_text import Line, PageText, around
from rag_pipeline.normalize.layout.pieces import pieces_of
from rag_pipeline.normalize.pdf.parsing import Bookmark
from rag_pipeline.normalize.tables.continuation import joined_tables
from rag_pipeline.normalize.tables.finding import tables_of
from rag_pipeline.normalize.tables.table import Table

# Where more of the text than this is set in a monospaced font, that font does not mark code.
_MOST_MONO: Final = 0.5
# Words of one line are hardly ever further apart, in line heights; columns have been told apart by then.
_WIDE_SPACE: Final = 2.0
# What may stand between the two parts of a paragraph that goes on in the next column or on the next page.
_FLOATS: Final = (Role.CAPTION, Role.FOOTNOTE)

Row = list[Line | Table]


@dataclass(frozen=True, slots=True)
class Structure:
    """A document's blocks in reading order, and what of its lines was left out."""

    pieces: tuple[Piece, ...]
    removed: tuple[Removed, ...]


def structured(pages: Sequence[PageText], outline: Sequence[Bookmark] = ()) -> Structure:
    """The structure of a document. Its pages' lines come in the order in which they are stored.

    Every character of a line is in one of the pieces or in what was removed, but for hyphens at line ends,
    leaders, and bullets.
    """
    pages, removed = _without_furniture(pages)
    columns = [(page, frame, rows) for page in pages for frame, rows in _columns(page)]
    lines = [line for _, _, rows in columns for row in rows for line in row if isinstance(line, Line)]
    markers = Markers(lines)
    spacing = spacing_of(_single(rows) for _, _, rows in columns)
    code = _is_code(lines)
    blocks: list[Block] = []
    for page, frame, rows in columns:
        blocks += blocks_of(rows, page=page.number, frame=frame, spacing=spacing, markers=markers, code=code)
    body = body_of(lines if _enough(lines, pages) else (line for page in pages for line in page.lines))
    mark_headings(blocks, body, outline, frozenset(page.number for page in pages if page.scanned))
    blocks = footnotes_last(blocks, body, {page.number: page.height for page in pages})
    sizes = {page.number: (page.width, page.height) for page in pages}
    blocks, headers = _joined(blocks)
    pieces, unnamed = pieces_of(blocks, sizes)
    return Structure(tuple(pieces), (*removed, *headers, *unnamed))


def page_pieces(pages: Sequence[PageText]) -> Iterator[Piece]:
    """The blocks of a document's pages in reading order, each with its pages and boxes."""
    yield from structured(pages).pieces


def _without_furniture(pages: Sequence[PageText]) -> tuple[list[PageText], list[Removed]]:
    """The pages without what is repeated from page to page."""
    found = furniture(pages)
    kept, removed = [], []
    for number, page in enumerate(pages):
        lines = tuple(
            line
            for index, line in enumerate(page.lines)
            if (number, index) not in found and line.text.strip()
        )
        removed += [
            Removed(found[number, index], line.text, page.number, line.box)
            for index, line in enumerate(page.lines)
            if (number, index) in found
        ]
        kept.append(replace(page, lines=lines) if len(lines) < len(page.lines) else page)
    return kept, removed


def _columns(page: PageText) -> Iterator[tuple[Frame, list[Row]]]:
    """The rows of a page in reading order, frame by frame; tables stand in the upright one."""
    tables = tables_of(page)
    in_table = {index for table in tables for index in table.lines}
    outside = [(index, line) for index, line in enumerate(page.lines) if index not in in_table]
    frames = by_frame(outside, page.width, page.height)
    if tables and Frame.UPRIGHT not in frames:
        frames = {Frame.UPRIGHT: [], **frames}
    for frame, lines in frames.items():
        items: list[tuple[int, Line | Table]] = [*lines]
        if frame is Frame.UPRIGHT and tables:
            # A table counts as stored where its first line is.
            items += [(min(table.lines, default=0), table) for table in tables]
            items.sort(key=lambda item: item[0])
        rtl = 2 * sum(line.rtl for _, line in lines) > len(lines)
        rows = reading_order([item.box for _, item in items], rtl=rtl)
        yield frame, [_whole([items[index][1] for index in row]) for row in rows]


def _whole(row: Row) -> Row:
    """A row whose lines are parts of one line put together: wide spaces had divided it like columns."""
    whole: Row = []
    for item in row:
        before = whole[-1] if whole else None
        if isinstance(item, Line) and isinstance(before, Line) and _is_same_line(before, item):
            box = around((before.box, item.box))
            mono = before.mono and item.mono
            whole[-1] = replace(before, text=f"{before.text} {item.text}", box=box, mono=mono)
        else:
            whole.append(item)
    return whole


def _is_same_line(before: Line, line: Line) -> bool:
    gap = max(line.box[0] - before.box[2], before.box[0] - line.box[2])
    return before.font == line.font and before.bold == line.bold and gap < _WIDE_SPACE * before.height


def _single(rows: Iterable[Row]) -> list[Line]:
    """The lines that stand alone in their row."""
    return [row[0] for row in rows if len(row) == 1 and isinstance(row[0], Line)]


def _enough(lines: Sequence[Line], pages: Sequence[PageText]) -> bool:
    """Whether enough of the pages' text is in these lines, and not in tables, to tell how text looks."""
    every = sum(len(line.text) for page in pages for line in page.lines)
    return 3 * sum(len(line.text) for line in lines) >= every


def _is_code(lines: Sequence[Line]) -> bool:
    """Whether a monospaced font marks code in a document: not where most of it is set in one."""
    characters = sum(len(line.text) for line in lines)
    return sum(len(line.text) for line in lines if line.mono) <= _MOST_MONO * characters


def _joined(blocks: Sequence[Block]) -> tuple[list[Block], list[Removed]]:
    """Blocks with what goes on in the next column or on the next page put together.

    The second result are the headers that a table's pages repeat.
    """
    joined: list[Block] = []
    headers: list[Removed] = []
    for block in blocks:
        if isinstance(block, TableBlock):
            before = _last_table(joined)
            whole = joined_tables(before.table, block.table) if before else None
            if before is None or whole is None:
                joined.append(block)
                continue
            repeated = len(before.table.rows) + len(block.table.rows) - len(whole.rows)
            headers += [
                Removed("repeated table header", " ".join(row), page, box)
                for row, (page, box) in zip(
                    block.table.rows[:repeated], block.table.places[:repeated], strict=True
                )
            ]
            before.table = whole
            continue
        unfinished = _unfinished(joined) if _may_go_on(block) else None
        if unfinished is not None and _goes_on(unfinished, block):
            unfinished.parts += block.parts
        else:
            joined.append(block)
    return joined, headers


def _last_table(blocks: Sequence[Block]) -> TableBlock | None:
    """The last block, footnotes left out, if it is a table."""
    for block in reversed(blocks):
        if isinstance(block, TableBlock):
            return block
        if block.role is not Role.FOOTNOTE:
            return None
    return None


def _may_go_on(block: TextBlock) -> bool:
    return block.gap is None and block.role is Role.TEXT


def _unfinished(blocks: Sequence[Block]) -> TextBlock | None:
    """The last paragraph or item, if nothing but floats and footnotes follow it."""
    for block in reversed(blocks):
        if isinstance(block, TextBlock):
            if block.role in (Role.TEXT, Role.ITEM):
                return block
            if block.role not in _FLOATS:
                return None
    return None


def _goes_on(before: TextBlock, block: TextBlock) -> bool:
    last, first = before.lines[-1], block.lines[0]
    alike = abs(last.height - first.height) <= 0.2 * max(last.height, first.height)
    return alike and last.bold == first.bold and goes_on(last.text, first.text)
