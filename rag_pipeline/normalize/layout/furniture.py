"""Finding what is repeated from page to page and is no part of the text: headers, footers, page numbers."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rag_pipeline.normalize.layout.page_text import Line, PageText

# On fewer pages than this, what is repeated may well be text: a form filled in twice, a duplicate page.
_LEAST_PAGES: Final = 3
# Headers and footers are among this many lines from the page's edge, within this share of its height.
_MARGIN_LINES: Final = 4
_MARGIN: Final = 0.15
# What stands at the same height of this share of pages is furniture if its text or number says so.
_MOST_PAGES: Final = 0.5
# This share of the lines at one height have numbers that count the pages, where they do at all.
_MOST_COUNTING: Final = 0.6
# Lines of one paragraph have the same height, and less than this many heights between them.
_SAME_HEIGHT: Final = 0.1
_PARAGRAPH_GAP: Final = 0.6
# Places that differ by less than this many points are the same.
_SAME_PLACE: Final = 2.0
# Text at these angles was turned to fit; at others it is stamped across the page.
_STRAIGHT: Final = frozenset({0, 90, 180, 270})

_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_PAGE_NUMBER: Final = re.compile(
    r"^(?:[-–—]\s*\d{1,4}\s*[-–—]"
    r"|(?:page|p\.|seite|página|pagina|стр\.?|страница|صفحه|صفحة)\s*\d{1,4}(?:\s*(?:of|/|von|de|di|sur|из|من|از)\s*\d{1,4})?"
    r"|\d{1,4}\s*(?:of|/|von|sur|из)\s*\d{1,4}"
    r"|第\s*\d{1,4}\s*[页頁]?(?:\s*[,，/]?\s*共\s*\d{1,4}\s*[页頁])?"
    r"|\d{1,4}\s*(?:ページ|쪽))$",
    re.IGNORECASE,
)


class _Found(NamedTuple):
    """A line near a page's edge: its page, its place there, and whether it is in the margin."""

    page: int
    place: int
    line: Line
    margin: bool = True


def furniture(pages: Sequence[PageText]) -> dict[tuple[int, int], str]:
    """Which lines are no part of the text, as (index of the page, index of the line), and why.

    Lines near the top or bottom that are the same on three pages but for their numbers, or whose numbers
    count the pages; text stamped at an angle across three pages. A line that says that it is a page number
    (`Page 7 of 9`) needs no second page.
    """
    found: dict[tuple[int, int], str] = {}
    margins = [_margin_lines(number, page) for number, page in enumerate(pages)]
    for line in (line for top, bottom in margins for line in (*top[:1], *bottom[:1])):
        if line.margin and _PAGE_NUMBER.match(line.line.text.strip()):
            found[line.page, line.place] = "page number"
    if len(pages) >= _LEAST_PAGES:
        for which, reason in ((0, "repeated header"), (1, "repeated footer")):
            edges = [margin[which] for margin in margins]
            repeated = {(line.page, line.place) for line in _repeated(edges)}
            left_out = [line for edge in edges for line in _detached(edge, repeated)]
            for line in (*left_out, *_beside_numbers(edges, left_out)):
                found.setdefault((line.page, line.place), reason)
        for stamped in _stamped(pages):
            found.setdefault((stamped.page, stamped.place), "watermark")
    elif len(pages) == 2:
        found.update(_two_numbers(margins))
    return found


def _margin_lines(number: int, page: PageText) -> tuple[list[_Found], list[_Found]]:
    """The lines nearest to the page's top and to its bottom, from the edge inwards."""
    upright = [(index, line) for index, line in enumerate(page.lines) if not line.angle]
    height = page.height or max((line.box[3] for _, line in upright), default=0.0)
    top = sorted(upright, key=lambda item: item[1].box[1])[: _MARGIN_LINES + 1]
    bottom = sorted(upright, key=lambda item: -item[1].box[3])[: _MARGIN_LINES + 1]
    return (
        [_Found(number, index, line, line.box[3] < height * _MARGIN) for index, line in top],
        [_Found(number, index, line, line.box[1] > height * (1 - _MARGIN)) for index, line in bottom],
    )


def _detached(edge: list[_Found], repeated: set[tuple[int, int]]) -> list[_Found]:
    """The repeated lines of a page's edge, without those that are lines of a paragraph of its own."""
    lines = [found for found in edge if (found.page, found.place) in repeated]
    others = [found for found in edge if (found.page, found.place) not in repeated]
    while others:
        attached = [found for found in lines if any(_close(found.line, other.line) for other in others)]
        lines = [found for found in lines if found not in attached]
        others = attached
    return lines


def _beside_numbers(edges: list[list[_Found]], left_out: list[_Found]) -> Iterator[_Found]:
    """What stands beside a page number on its line: the running head of a chapter of one page."""
    numbers = {
        (found.page, round(found.line.box[3]))
        for found in left_out
        if _NUMBER.fullmatch(found.line.text.strip())
    }
    for found in (found for edge in edges for found in edge if found.margin):
        if any((found.page, round(found.line.box[3]) + step) in numbers for step in (-1, 0, 1)):
            yield found


def _close(line: Line, other: Line) -> bool:
    """Whether two lines are as high and as near as those of a paragraph."""
    gap = max(line.box[1], other.box[1]) - min(line.box[3], other.box[3])
    height = max(line.height, other.height)
    alike = abs(line.height - other.height) < _SAME_HEIGHT * height
    return alike and -height / 2 < gap < _PARAGRAPH_GAP * height


def _repeated(edges: list[list[_Found]]) -> Iterator[_Found]:
    """Lines that share their height on the page and their text but for numbers, or that count the pages."""
    slots: dict[int, list[_Found]] = defaultdict(list)
    for found in (found for edge in edges for found in edge if found.margin):
        slots[round(found.line.box[3] / _SAME_PLACE)].append(found)
    for slot in list(slots):
        near = [*slots[slot], *slots.get(slot + 1, ())]
        texts: dict[str, list[_Found]] = defaultdict(list)
        for found in near:
            texts[_NUMBER.sub("#", found.line.text).casefold()].append(found)
        same = [
            found
            for group in texts.values()
            if len({found.page for found in group}) >= _LEAST_PAGES
            for found in group
        ]
        yield from same
        yield from (found for group in texts.values() for found in _twice(group, edges))
        if len({found.page for found in near}) >= max(_LEAST_PAGES, len(edges) * _MOST_PAGES):
            # The running head of a chapter of one page stands where those of the others do.
            yield from _counting(near)


def _twice(group: list[_Found], edges: list[list[_Found]]) -> list[_Found]:
    """A header of left or right pages that is on two only: outermost there, and what follows differs."""
    if len(group) != 2 or group[0].page == group[1].page:
        return []
    one, other = (edges[member.page] for member in group)
    outermost = one[0] is group[0] and other[0] is group[1] and len(one) > 1 and len(other) > 1
    same_box = all(
        abs(a - b) < _SAME_PLACE for a, b in zip(group[0].line.box, group[1].line.box, strict=True)
    )
    return group if outermost and same_box and one[1].line.text != other[1].line.text else []


def _counting(lines: list[_Found]) -> list[_Found]:
    """The lines whose numbers, at their beginning, their end or either of them, grow from page to page."""
    for read in (_end_number, _first_number, _last_number):
        numbered = sorted((found.page, number, found) for found in lines if (number := read(found.line.text)))
        growing = _growing([number for _, number, _ in numbered])
        if len(growing) >= max(_LEAST_PAGES, len(lines) * _MOST_COUNTING):
            return [numbered[n][2] for n in growing]
    return []


def _growing(numbers: Sequence[int]) -> list[int]:
    """The indices of the longest run of numbers, others left out, of which each is larger than the last."""
    ends: list[int] = []
    before: list[int] = []
    for n, number in enumerate(numbers):
        at = bisect_left(ends, number, key=numbers.__getitem__)
        before.append(ends[at - 1] if at else -1)
        ends[at : at + 1] = [n]
    chain = ends[-1:]
    while chain and before[chain[-1]] >= 0:
        chain.append(before[chain[-1]])
    return chain[::-1]


def _first_number(text: str) -> int | None:
    match = re.match(r"\D?\s*(\d{1,4})\b", text)
    return int(match[1]) if match else None


def _last_number(text: str) -> int | None:
    match = re.search(r"\b(\d{1,4})\s*\D?$", text)
    return int(match[1]) if match else None


def _end_number(text: str) -> int | None:
    """The number at either end: left pages have it on the left, right pages on the right."""
    return value if (value := _first_number(text)) is not None else _last_number(text)


def _stamped(pages: Sequence[PageText]) -> Iterator[_Found]:
    """Lines stamped across at least three pages: at an angle, at the same place, with the same text."""
    places: dict[tuple[str, int, int], list[_Found]] = defaultdict(list)
    for number, page in enumerate(pages):
        for index, line in enumerate(page.lines):
            if line.angle not in _STRAIGHT:
                left, top, _, _ = line.box
                key = (line.text, round(left / 10), round(top / 10))
                places[key].append(_Found(number, index, line))
    for group in places.values():
        if len({found.page for found in group}) >= _LEAST_PAGES:
            yield from group


def _two_numbers(margins: list[tuple[list[_Found], list[_Found]]]) -> dict[tuple[int, int], str]:
    """Two pages: nothing but numbers at the same place, the second one higher than the first by one."""
    found = {}
    for which in (0, 1):
        for one in margins[0][which]:
            for other in margins[1][which]:
                near = all(
                    abs(a - b) < 5 * _SAME_PLACE for a, b in zip(one.line.box, other.line.box, strict=True)
                )
                first, second = one.line.text.strip(), other.line.text.strip()
                if (
                    near
                    and one.margin
                    and first.isdecimal()
                    and second.isdecimal()
                    and int(second) == int(first) + 1
                ):
                    found[one.page, one.place] = found[other.page, other.place] = "page number"
    return found
