"""What looks like a table and is none: text in columns, lists, contents, code, formulas, forms, drawings."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Final

from rag_pipeline.normalize.tables.columns import Extent
from rag_pipeline.normalize.tables.draft import Cell, Draft, is_value
from rag_pipeline.normalize.tables.words import PageWords, Word, box_of, cell_text, rows_of, segments_of

# Between words of one ruled cell a gap this wide, in heights of a word, shows that rules are missing.
_WIDE: Final = 2.0
# A column this wide whose lines are mostly full holds running text.
_TEXT_WIDTH: Final = 11.0
# Words of one line stand closer than this; words of two cells hardly ever do.
_TIGHT: Final = 0.35
_MAY_BE_CUT: Final = 0.15
# Lines of a one-column table's cell; more is a framed text.
_FEW_LINES: Final = 4
# Cells with more lines than this on average are the parts of a page's layout.
_MANY_LINES: Final = 5
# Text of which more than this is set in equally wide letters was laid out as text: code, listings, receipts.
_MOSTLY_MONO: Final = 0.8
_MARKER: Final = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)\]]|[^\w\s]")
_BULLET: Final = re.compile(r"[•◦‣▪▫●○■□►➢✓\uf0b7\uf0a7]")
_PAGE: Final = re.compile(r"[.·…\s]*(?:\d{1,4}|[ivxlc]{1,6})")
_LEADER: Final = re.compile(r"(?:\.\s?){4}|…$|·{4}|_{4}")
_CODE: Final = re.compile(
    r"[{};]\s*$|^\s*[{}]|\(\)|[=!<>:]=|->|::|^\s*(?://|#include|def |import |return\b|SELECT\b)"
)
_EQUATION: Final = re.compile(r"\(\d{1,3}(?:\.\d{1,3})?[a-z]?\)")
_LABEL: Final = re.compile(r".*[:：]")


def ruled_well(draft: Draft, page: PageWords) -> bool:
    """Whether rules explain where the words of a raster stand.

    At least two rows have two cells with text, or a full header stands over a complete raster. Few words
    stand in cells with several divided lines, as they do where rules between columns are missing. A single
    column counts where its cells are short.
    """
    filled = draft.filled
    lines = {cell: rows_of(cell.words) for cell in filled}
    columnar = [c for c in filled if sum(len(segments_of(row, _WIDE * page.em)) > 1 for row in lines[c]) >= 3]
    if sum(len(cell.words) for cell in columnar) > 0.25 * len(draft.words):
        return False
    if _cut_lines(draft, page.em) > _MAY_BE_CUT:
        return False
    if len(draft.columns) == 1:
        few = all(len(rows) <= _FEW_LINES for rows in lines.values())
        return len(filled) >= 2 and few and not _is_code(draft, page)
    counts = _counts(filled)
    whole = sum(count >= 2 for count in counts.values())
    # A complete raster under a full header may hold pictures, or wait to be filled in.
    headed = counts[0] == len(draft.columns) and len(draft.cells) == len(draft.rows) * len(draft.columns)
    if whole < 2 and not (headed and len(counts) >= 3):
        return False
    many = sum(map(len, lines.values())) > _MANY_LINES * len(filled)
    if many and max(len(cell.words) for cell in filled) > 0.5 * len(draft.words):
        return False
    return len(filled) >= 0.2 * len(draft.cells)


def mostly_mono(words: Sequence[Word]) -> bool:
    """Whether words are set in equally wide letters, and so laid out as text."""
    return _share(word.mono for word in words) > _MOSTLY_MONO


def _cut_lines(draft: Draft, em: float) -> float:
    """The share of lines that go on over the border of a cell, as they do in drawings."""
    owners = {word.number: cell.column for cell in draft.cells for word in cell.words}
    runs = [run for row in rows_of(draft.words) for run in segments_of(row, _TIGHT * em)]
    return _share([len({owners[word.number] for word in run}) > 1 for run in runs])


def aligned_well(draft: Draft, page: PageWords, *, ruled: bool) -> bool:
    """Whether words without rules around each cell form a table and nothing that only looks like one.

    `ruled` says that rules above and below set the words off, which makes it likelier.
    """
    if len(draft.columns) < 2 or len(draft.rows) < (2 if ruled else 3):
        return False
    filled = draft.filled
    whole = sum(count >= 2 for count in _counts(filled).values())
    if whole < (2 if ruled else 3) or whole < 0.5 * len(draft.rows):
        return False
    if sum(cell.columns for cell in filled) < (0.4 if ruled else 0.5) * len(draft.rows) * len(draft.columns):
        return False
    texts = _column_texts(draft, page)
    if (
        _is_text(draft, page.em, ruled=ruled)
        or _is_contents(texts, ruled=ruled)
        or _is_code(draft, page)
        or _is_list(texts)
    ):
        return False
    if ruled:
        return True
    if _is_formula(texts) or not _edges_align(draft, page.em):
        return False
    valued = any(_share(is_value(text) for text in column[1:]) >= 0.6 for column in texts[1:])
    if len(draft.columns) == 2:
        return valued and _share(bool(_LABEL.fullmatch(text)) for text in texts[0]) < 0.5
    return valued or whole >= 4


def _counts(cells: Iterable[Cell]) -> Counter[int]:
    """How many cells reach into each row."""
    return Counter(row for cell in cells for row in range(cell.row, cell.row + cell.rows))


def _share(conditions: Iterable[bool]) -> float:
    values = list(conditions)
    return sum(values) / len(values) if values else 0.0


def _column_texts(draft: Draft, page: PageWords) -> list[list[str]]:
    """The texts of every column's own cells, from top to bottom."""
    return [
        [
            cell_text(c.words, page)
            for c in sorted(draft.filled, key=lambda c: c.row)
            if c.column == n and c.columns == 1
        ]
        for n in range(len(draft.columns))
    ]


def _is_text(draft: Draft, em: float, *, ruled: bool) -> bool:
    """Whether columns are running text: wide, with lines that mostly reach to the right edge."""
    running = []
    for number, extent in enumerate(draft.columns):
        lines = [
            row for c in draft.filled if c.column == number and c.columns == 1 for row in rows_of(c.words)
        ]
        running.append(len(lines) >= 3 and _runs(lines, extent, em))
    return sum(running) > (len(running) // 2 if ruled or len(running) > 2 else 0)


def _runs(lines: Sequence[Sequence[Word]], extent: Extent, em: float) -> bool:
    left, right = extent
    full = _share([box_of(line)[2] > right - 0.12 * (right - left) for line in lines[:-1]])
    return right - left > _TEXT_WIDTH * em and full >= 0.5


def _is_contents(texts: Sequence[Sequence[str]], *, ruled: bool) -> bool:
    """Whether the columns are titles and the pages they stand on."""
    pages = texts[-1]
    if _share([bool(_PAGE.fullmatch(text)) for text in pages]) < 0.8:
        return False
    if _share([bool(_LEADER.search(text)) for column in texts for text in column]) >= 0.2:
        return True
    if ruled:
        return False
    numbers = [int(text) for text in pages if text.isascii() and text.isdigit()]
    titles = texts[-2]
    wordy = titles and mean(len(title.split()) for title in titles) >= 2.5
    rising = len(numbers) >= 3 and numbers == sorted(numbers) and len(set(numbers)) > 0.6 * len(numbers)
    return bool(wordy) and rising and len(texts) <= 3


def _is_code(draft: Draft, page: PageWords) -> bool:
    if mostly_mono(draft.words):
        return True
    lines = [cell_text(line, page) for line in rows_of(draft.words)]
    return _share([bool(_CODE.search(line)) for line in lines]) >= 0.3


def _is_list(texts: Sequence[Sequence[str]]) -> bool:
    """Whether the first of two columns only holds list markers, or counts the lines."""
    first = texts[0]
    counted = [text for text in first if text.isdigit()]
    running = len(counted) >= max(2, len(first) - 1) and [int(text) for text in counted] == list(
        range(int(counted[0]), int(counted[0]) + len(counted))
    )
    marked = _share(bool(_MARKER.fullmatch(text) or _BULLET.match(text)) for text in first)
    return len(texts) == 2 and (marked >= 0.5 or (running and not any(map(is_value, texts[1]))))


def _is_formula(texts: Sequence[Sequence[str]]) -> bool:
    if _share([bool(_EQUATION.fullmatch(text)) for text in texts[-1]]) >= 0.6:
        return True
    tokens = [token for column in texts for text in column for token in text.split()]
    letters = [token for token in tokens if len(token) == 1 and not token.isdigit()]
    return len(letters) > 0.5 * len(tokens)


def _edges_align(draft: Draft, em: float) -> bool:
    """Whether the cells of most columns share their left or right edge or their middle."""
    aligned = 0
    for number in range(len(draft.columns)):
        boxes = [box_of(cell.words) for cell in draft.filled if cell.column == number and cell.columns == 1]
        edges = ([b[0] for b in boxes], [b[2] for b in boxes], [(b[0] + b[2]) / 2 for b in boxes])
        aligned += any(_agreeing(edge, 0.4 * em) >= 0.65 for edge in edges)
    return aligned >= 0.75 * len(draft.columns)


def _agreeing(positions: Sequence[float], slack: float) -> float:
    """The share of positions that lie within `slack` of the most common one."""
    ordered = sorted(positions)
    best, first = 0, 0
    for last, position in enumerate(ordered):
        while position - ordered[first] > 2 * slack:
            first += 1
        best = max(best, last - first + 1)
    return best / len(ordered) if ordered else 0.0
