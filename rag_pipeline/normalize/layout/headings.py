"""Which blocks are headings, and of which level: by the outline, size, weight, font, numbering and place."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from rag_pipeline.normalize.layout.blocks import Block, Role, TextBlock
from rag_pipeline.normalize.layout.frames import Frame
from rag_pipeline.normalize.layout.page_text import Line
from rag_pipeline.normalize.pdf.parsing import Bookmark

# A heading is short: so many characters on so many lines.
_MOST_CHARACTERS: Final = 160
_MOST_LINES: Final = 3
# So many commas make a list, as of a paper's authors.
_MOST_COMMAS: Final = 3
# Signs are added up; so many make a heading.
_ENOUGH: Final = 3
# How much larger than the body text: clearly, or so little that other signs have to agree. Scanned letters
# are measured to a few per cent.
_LARGER: Final = 1.15
_SLIGHTLY_LARGER: Final = 1.06
_SMALLER: Final = 0.9
_LARGER_IN_SCAN: Final = 1.2
_SLIGHTLY_LARGER_IN_SCAN: Final = 1.08
# A size that is this much larger than the text is a heading by itself.
_MUCH_LARGER: Final = 1.35
# Fonts that this share of the text is set in are body fonts.
_BODY_FONT: Final = 0.15
# Space above a heading, in heights of the running text.
_SPACE_ABOVE: Final = 0.75
_DEEPEST: Final = 6
# Sizes that differ by less are one; those of scanned letters are measured, not told.
_SAME_SIZE: Final = 1.08
_SAME_SIZE_IN_SCAN: Final = 1.2

_SECTION: Final = re.compile(
    r"^(?:[-–]?(?P<number>\d{1,2}(?:[-.]\d{1,2}){0,4})[-–.]?\s+\S|"
    r"(?:chapter|section|part|appendix|annex|kapitel|chapitre|"
    r"capítulo|глава)\s+[\dA-Z]|第\s*[\d一二三四五六七八九十百]+\s*[章节節编編部分条]|[一二三四五六七八九十]+、|"
    r"[(（][\d一二三四五六七八九十]{1,3}[)）]|제\s*\d+\s*[장절]|[IVX]{1,5}\.\s+\S|[A-Z]\.\s+\S)",
    re.IGNORECASE,
)
_NO_END: Final = tuple(".,;:。，；：、،؛")


@dataclass(frozen=True, slots=True)
class Body:
    """What the running text of a document looks like."""

    height: float
    bold: bool
    heights: dict[str, float]
    """The height of the text by its fonts; the same size makes boxes of another height in another font."""

    def ratio(self, line: Line) -> float:
        """How many times as high as the running text a line is."""
        own = self.heights.get(line.font, 0.0)
        # A font that is common in notes only says nothing about the size of the text.
        return line.height / max(own if own >= self.height * _SMALLER else self.height, 0.1)


def body_of(lines: Iterable[Line]) -> Body:
    """The look of most of the text."""
    heights: dict[str, list[float]] = defaultdict(list)
    bold = total = 0
    for line in lines:
        heights[line.font] += [line.height] * (len(line.text) // 8 + 1)
        bold += len(line.text) * line.bold
        total += len(line.text)
    every = [height for values in heights.values() for height in values]
    if not every:
        return Body(0.0, False, {})
    common = {
        font: median(values) for font, values in heights.items() if len(values) >= _BODY_FONT * len(every)
    }
    return Body(median(every), 2 * bold > total, common)


def mark_headings(
    blocks: Sequence[Block], body: Body, outline: Sequence[Bookmark], scanned: frozenset[int]
) -> None:
    """Give the blocks that are headings their role and level. `scanned` are the pages that OCR read."""
    known = _titles(outline)
    texts = {number: block for number, block in enumerate(blocks) if isinstance(block, TextBlock)}
    upright = {block.parts[0][0] for block in texts.values() if block.parts[0][1] is Frame.UPRIGHT}
    depths: dict[int, int] = {}
    found = []
    for number, block in texts.items():
        page, frame, _ = block.parts[0]
        # What follows an item or goes before one is an item; a heading has text or a table below it.
        beside = [texts[other] for other in (number - 1, number + 1) if other in texts]
        if block.role is Role.ITEM and any(_is_item_like(block, other) for other in beside):
            continue
        # Text that is turned on a page of upright text is a stamp or a note in the margin.
        if not _possible(block) or (frame is not Frame.UPRIGHT and page in upright):
            continue
        depth = known.get((_plain(block.text), page)) or known.get((_plain(block.text), None))
        if depth is not None:
            depths[number] = depth
        if depth is not None or _signs(block, body, scanned=page in scanned) >= _ENOUGH:
            found.append(number)
    for number, level in _levels({number: texts[number] for number in found}, depths, scanned).items():
        texts[number].role = Role.HEADING
        texts[number].level = level
        texts[number].marker = None


def _is_item_like(block: TextBlock, other: TextBlock) -> bool:
    """Whether two items look alike."""
    first, second = block.lines[0], other.lines[0]
    return (
        other.role is Role.ITEM and first.font == second.font and round(first.height) == round(second.height)
    )


def _titles(outline: Sequence[Bookmark]) -> dict[tuple[str, int | None], int]:
    """How deep titles stand in the outline, by their text and page, which is None where it is open."""
    titles: dict[tuple[str, int | None], int] = {}
    for mark in outline:
        if title := _plain(mark.title):
            titles.setdefault((title, mark.page), mark.depth)
    return titles


def _plain(text: str) -> str:
    """A title without what differs between the outline and the page: case, spaces, signs, its number."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"^\s*(?:[\d.]+|chapter \d+\.?|[ivx]+\.)\s", "", text)
    return "".join(char for char in text if char.isalnum())


def _possible(block: TextBlock) -> bool:
    if block.role not in (Role.TEXT, Role.ITEM) or (block.marker and block.marker.bullet):
        return False
    text = block.text
    return (
        len(text) <= _MOST_CHARACTERS
        and len(block.lines) <= _MOST_LINES
        and any(char.isalpha() for char in text)
        and sum(text.count(comma) for comma in ",，、") < _MOST_COMMAS
        and not all(line.mono for line in block.lines)
    )


def _signs(block: TextBlock, body: Body, *, scanned: bool) -> int:
    """How much speaks for a heading."""
    text = block.text
    lines = block.lines
    ratio = median(body.ratio(line) for line in lines)
    larger, slightly = (_LARGER_IN_SCAN, _SLIGHTLY_LARGER_IN_SCAN) if scanned else (_LARGER, _SLIGHTLY_LARGER)
    if text.rstrip().endswith(_NO_END) and ratio < larger:
        return 0
    bold = all(line.bold for line in lines) and not body.bold
    if ratio < _SMALLER or (text[:1].islower() and not bold):
        return 0
    signs = 2 * (ratio >= larger) + (slightly <= ratio < larger) + (ratio >= max(_MUCH_LARGER, larger))
    signs += 2 * bold
    bold_or_larger = signs > 0
    if block.role is Role.ITEM and not bold_or_larger:
        return 0
    signs += not scanned and not any(line.font in body.heights for line in lines)
    signs += _SECTION.match(text) is not None
    signs += block.gap is None or block.gap * block.height >= _SPACE_ABOVE * body.height
    letters = [char for char in text if char.isalpha()]
    signs += len(letters) > 3 and all(char.isupper() for char in letters)
    return signs


def _levels(
    blocks: Mapping[int, TextBlock], depths: Mapping[int, int], scanned: frozenset[int]
) -> dict[int, int]:
    """Levels that agree over the document: those of the outline, else of the numbering, else of the size.

    Headings that look alike are of one level, but for their numbering.
    """
    same = _SAME_SIZE_IN_SCAN if any(one.parts[0][0] in scanned for one in blocks.values()) else _SAME_SIZE
    looks: dict[tuple[int, bool, str], list[int]] = defaultdict(list)
    for number, block in blocks.items():
        first = block.lines[0]
        looks[round(block.height), first.bold, first.font].append(number)
    ranks = _ranks([(look[0], len(members)) for look, members in looks.items()], same)
    levels: dict[int, int] = {}
    for look, members in looks.items():
        numbered = {n: depth for n in members if (depth := _depth(blocks[n].text))}
        base = min(numbered.values(), default=1)
        told = [depths[n] for n in members if n in depths]
        larger = sum(rank > look[0] * same for rank in ranks)
        level = Counter(told).most_common(1)[0][0] if told else 1 + larger
        for n in members:
            levels[n] = min(depths.get(n, level + numbered.get(n, base) - base), _DEEPEST)
    return levels


def _ranks(sizes: Iterable[tuple[int, int]], same: float) -> list[int]:
    """The sizes that make a level of their own: the largest one, and those that several headings have.

    Sizes that differ by less than the factor `same` are one.
    """
    clusters: list[list[int]] = []
    for size, count in sorted(sizes, reverse=True):
        if clusters and size * same >= clusters[-1][0]:
            clusters[-1][1] += count
        else:
            clusters.append([size, count])
    return [size for number, (size, count) in enumerate(clusters) if number == 0 or count > 1]


def _depth(text: str) -> int:
    """How deep a number such as 2.1.3 is; 0 for a title without one."""
    match = _SECTION.match(text)
    number = match["number"] if match else None
    return number.count(".") + number.count("-") + 1 if number else 0
