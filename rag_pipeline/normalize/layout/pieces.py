"""Writing blocks of lines as Markdown in which every character knows where it stands on its page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rag_pipeline.normalize.assembling import Piece, code_markdown
from rag_pipeline.normalize.document import BlockKind, Place, Removed
from rag_pipeline.normalize.layout.blocks import Block, Role, TableBlock, TextBlock
from rag_pipeline.normalize.layout.flow import flow
from rag_pipeline.normalize.layout.frames import turned_back
from rag_pipeline.normalize.layout.lists import Nesting, item_markdown
from rag_pipeline.normalize.layout.page_text import Line, around

_MARKDOWN_START: Final = re.compile(r"^(?=[#>+|]|[-*+]\s|\d+[.)]\s|```|~~~)")
# A gap of more than this many line heights between lines of code is an empty line.
_EMPTY_LINE: Final = 1.8
_MOST_INDENT: Final = 40
_KINDS: Final = {
    Role.HEADING: BlockKind.HEADING,
    Role.ITEM: BlockKind.LIST_ITEM,
    Role.ENTRY: BlockKind.LIST_ITEM,
}

Sizes = Mapping[int, tuple[float, float]]


def pieces_of(blocks: Iterable[Block], sizes: Sizes) -> tuple[list[Piece], list[Removed]]:
    """The blocks as Markdown, and the list markers that were left out because they are no text.

    `sizes` are the pages' widths and heights.
    """
    pieces: list[Piece] = []
    removed: list[Removed] = []
    nesting = Nesting()
    for block in blocks:
        if isinstance(block, TableBlock):
            nesting.end()
            pieces.append(block.table.piece)
            continue
        if block.role is not Role.ITEM:
            nesting.end()
        if block.marker and block.marker.bullet and any(char.isalnum() for char in block.marker.text):
            page, _, lines = block.parts[0]
            removed.append(Removed("sign of a list", block.marker.text.strip(), page, lines[0].box))
        pieces.append(_code(block, sizes) if block.role is Role.CODE else _text(block, sizes, nesting))
    return pieces, removed


def _text(block: TextBlock, sizes: Sizes, nesting: Nesting) -> Piece:
    lines = block.lines
    texts = [line.text for line in lines]
    prefix = ""
    if block.role is Role.HEADING:
        prefix = "#" * block.level + " "
    elif block.role is Role.ENTRY:
        prefix = "- "
    elif block.marker:
        first = lines[0]
        texts[0] = texts[0][len(block.marker.text) :]
        left = -first.box[2] if first.rtl else first.box[0]
        prefix = nesting.indent(left, first.height, block.marker) + item_markdown(block.marker, "")
    running = flow(texts)
    if not prefix and _MARKDOWN_START.match(running.text):
        prefix = "\\"
    kind = _KINDS.get(block.role, BlockKind.PARAGRAPH)
    return Piece(kind, prefix + running.text, block.level, _places(block, running.spans, len(prefix), sizes))


def _places(
    block: TextBlock, spans: Sequence[tuple[int, int]], shift: int, sizes: Sizes
) -> tuple[Place, ...]:
    """One place for each part of a block; together they cover it from its first character to its last."""
    places: list[Place] = []
    at = 0
    for page, frame, lines in block.parts:
        width, height = sizes.get(page, (0.0, 0.0))
        box = turned_back(around(line.box for line in lines), frame, width, height)
        end = spans[at + len(lines) - 1][1] + shift
        places.append(Place(places[-1].end if places else 0, end, page, box))
        at += len(lines)
    return tuple(places)


def _code(block: TextBlock, sizes: Sizes) -> Piece:
    """Lines of code with their indentation and the empty lines between them."""
    left = min(line.box[0] for line in block.lines)
    written: list[str] = []
    places: list[Place] = []
    for page, frame, lines in block.parts:
        start = sum(len(text) + 1 for text in written)
        above: Line | None = None
        for line in lines:
            if above is not None and line.box[3] - above.box[3] > _EMPTY_LINE * line.height:
                written.append("")
            letter = line.width / max(len(line.text), 1)
            indent = min(round((line.box[0] - left) / letter) if letter else 0, _MOST_INDENT)
            written.append(" " * indent + line.text)
            above = line
        width, height = sizes.get(page, (0.0, 0.0))
        box = turned_back(around(line.box for line in lines), frame, width, height)
        places.append(Place(start, sum(len(text) + 1 for text in written), page, box))
    markdown = code_markdown("\n".join(written))
    shift = markdown.index("\n") + 1
    return Piece(
        BlockKind.CODE,
        markdown,
        places=tuple(
            Place(
                0 if n == 0 else place.start + shift,
                len(markdown) if n == len(places) - 1 else place.end + shift,
                place.page,
                place.box,
            )
            for n, place in enumerate(places)
        ),
    )
