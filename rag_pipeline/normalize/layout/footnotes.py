"""Moving footnotes out of the text's way: behind the body of their page. Pure functions over blocks."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from rag_pipeline.normalize.layout.blocks import Block, Role, TableBlock, TextBlock
from rag_pipeline.normalize.layout.headings import Body

# Footnotes are smaller than the text, and below this share of the page's height.
_SMALLER: Final = 0.93
_LOWER: Final = 0.5
_MARK: Final = re.compile(r"^(?:\(?\d{1,3}[.)]?|[*∗†‡§¶※]+|\[\d{1,3}\]|[a-z]\))\s*\S")


def footnotes_last(blocks: Sequence[Block], body: Body, heights: Mapping[int, float]) -> list[Block]:
    """The blocks with each page's footnotes behind its text. `heights` are the pages', 0 if unknown."""
    ordered: list[Block] = []
    for page, group in groupby(blocks, key=_page):
        members = list(group)
        notes = _footnotes(members, body, heights.get(page, 0.0))
        for number in notes:
            block = members[number]
            if isinstance(block, TextBlock):
                block.role, block.marker = Role.FOOTNOTE, None
        ordered += [block for number, block in enumerate(members) if number not in notes]
        ordered += [block for number, block in enumerate(members) if number in notes]
    return ordered


def _page(block: Block) -> int:
    return block.page if isinstance(block, TableBlock) else block.parts[0][0]


def _footnotes(blocks: Sequence[Block], body: Body, page_height: float) -> set[int]:
    """Small text at the bottom of a column, from the first block on that a footnote's mark begins."""
    notes: set[int] = set()
    small: list[int] = []
    for number, block in enumerate(blocks):
        if small and isinstance(block, TextBlock) and block.gap is None:
            notes |= _from_mark(blocks, small)
            small = []
        if isinstance(block, TextBlock) and _is_small(block, body, page_height):
            small.append(number)
        else:
            small = []
    return notes | _from_mark(blocks, small)


def _is_small(block: TextBlock, body: Body, page_height: float) -> bool:
    return (
        block.role in (Role.TEXT, Role.ITEM)
        and block.height < body.height * _SMALLER
        and block.lines[0].box[1] > page_height * _LOWER > 0
    )


def _from_mark(blocks: Sequence[Block], small: Sequence[int]) -> set[int]:
    for place, number in enumerate(small):
        block = blocks[number]
        if isinstance(block, TextBlock) and (block.lines[0].raised or _MARK.match(block.text)):
            return set(small[place:])
    return set()
