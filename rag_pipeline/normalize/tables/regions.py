"""Where on a page words may form a table without rules: short pieces of lines one under the other."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rag_pipeline.normalize.document import Box
from rag_pipeline.normalize.tables.words import Word, box_of, rows_of, segments_of

# Pieces of a line are parted by more than this, in heights of a word.
_GAP: Final = 1.0
# A piece at least this wide with another one like it above or below is running text.
_TEXT_WIDTH: Final = 13.0
# Rows further apart than this, in heights of a word, are not of one table.
_MAX_DISTANCE: Final = 3.2
# So many lines in a row that are not divided end a table.
_MAX_PLAIN: Final = 2
_LEAST_ROWS: Final = 3
# Lines of one cell are closer than this.
_LINE_GAP: Final = 0.6


@dataclass(frozen=True, slots=True)
class _Piece:
    words: tuple[Word, ...]
    box: Box
    row: int


def table_regions(words: Iterable[Word], em: float) -> Iterator[list[Word]]:
    """Groups of words that may each be a table: rows with several pieces, closely one below the other."""
    pieces = [
        _Piece(tuple(segment), box_of(segment), number)
        for number, row in enumerate(rows_of(words))
        for segment in segments_of(row, em * _GAP)
    ]
    running = _running_text(pieces, em)
    rows: dict[int, list[_Piece]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        if number not in running:
            rows[piece.row].append(piece)
    texts = sorted((pieces[number].box for number in running), key=lambda box: box[1])
    tops = [box[1] for box in texts]
    block: list[list[_Piece]] = []
    for row in rows.values():
        if block and not _follows(block, row, em, texts, tops):
            yield from _trimmed(block, em)
            block = []
        block.append(row)
    yield from _trimmed(block, em)


def _running_text(pieces: Sequence[_Piece], em: float) -> set[int]:
    """The pieces of running text: wide ones that stand under or over another, and their short last lines."""
    running: set[int] = set()
    edges: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        left, top, right, _ = piece.box
        wide = right - left >= _TEXT_WIDTH * em
        for side, x in enumerate((left, right) if wide else (left,)):
            key = round(x / (2 * em))
            above = [
                other
                for near in (key - 1, key, key + 1)
                for other in edges[side, near][-2:]
                if pieces[other].row != piece.row
                and top - pieces[other].box[3] < 1.2 * em
                and abs(pieces[other].box[2 * side] - x) < 2 * em
            ]
            if wide and above:
                running |= {number, *above}
            elif any(other in running and top - pieces[other].box[3] < 0.8 * em for other in above):
                running.add(number)
        if wide:
            for side, x in enumerate((left, right)):
                edges[side, round(x / (2 * em))].append(number)
    return running


def _follows(
    block: list[list[_Piece]], row: list[_Piece], em: float, texts: Sequence[Box], tops: Sequence[float]
) -> bool:
    above = block[-1]
    bottom, top = max(piece.box[3] for piece in above), min(piece.box[1] for piece in row)
    left = min(piece.box[0] for line in block[-3:] for piece in line)
    right = max(piece.box[2] for line in block[-3:] for piece in line)
    if top - bottom > _MAX_DISTANCE * em:
        return False
    if all(len(line) == 1 for line in [*block[-_MAX_PLAIN:], row]) and len(block) >= _MAX_PLAIN:
        return False
    between = texts[bisect_left(tops, bottom - 0.3 * em) : bisect_left(tops, top + 0.3 * em)]
    return not any(box[0] < right and box[2] > left for box in between)


def _trimmed(block: list[list[_Piece]], em: float) -> Iterator[list[Word]]:
    """A block from its first to its last row with several pieces, and the lines that go on below that."""
    divided = [number for number, row in enumerate(block) if len(row) > 1]
    if len(divided) < _LEAST_ROWS:
        return
    end = divided[-1] + 1
    last = block[end - 1]
    while end < len(block) and _below_a_cell(block[end][0], last, block[end - 1], em):
        end += 1
    yield [word for row in block[divided[0] : end] for piece in row for word in piece.words]


def _below_a_cell(piece: _Piece, last: Sequence[_Piece], above: Sequence[_Piece], em: float) -> bool:
    """Whether a piece stands right below a row, under a cell that is not its first."""
    close = piece.box[1] - max(other.box[3] for other in above) < _LINE_GAP * em
    return close and any(abs(piece.box[0] - other.box[0]) < _LINE_GAP * em for other in last[1:])
