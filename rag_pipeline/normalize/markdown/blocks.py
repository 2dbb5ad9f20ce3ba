"""Finding the blocks of a Markdown text by its lines, without changing the text."""

import re
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag_pipeline.normalize.document import Block, BlockKind

_LEAVES = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
    "blockquote_open": BlockKind.QUOTE,
    "html_block": BlockKind.OTHER,
    "hr": BlockKind.OTHER,
}
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_EMPHASIS = re.compile(r"(?<![\w*])([*_]{1,3})(?=\S)([^*_]*\S)\1(?!\w)")
_LISTS = frozenset({"bullet_list_open", "bullet_list_close", "ordered_list_open", "ordered_list_close"})


class _Kind(NamedTuple):
    kind: BlockKind
    level: int = 0


def find_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a Markdown text: together they cover every character that is not white space.

    Headings, paragraphs, tables, code and quotes at the top level are blocks, and so is every list item,
    nested ones on their own; what follows a nested list inside an item belongs to a block of its own. Lines
    that Markdown shows nothing for (link definitions) are blocks of kind OTHER. Newlines must be `\\n`.
    """
    kinds = _kinds_by_first_line(_parser().parse(text))
    lines = text.split("\n")
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    borders = [*sorted({0, *kinds} - {len(lines)}), len(lines)]
    blocks = []
    for line, following in pairwise(borders):
        kind, level = kinds.get(line, _Kind(BlockKind.OTHER))
        body = text[offsets[line] : offsets[following]]
        if body.strip():
            blank = len(body) - len(body.lstrip())
            # Indentation belongs to the block: it is what makes a nested item or indented code.
            start = offsets[line] + body.rfind("\n", 0, blank) + 1
            blocks.append(Block(kind, start, offsets[line] + len(body.rstrip()), level))
    return tuple(blocks)


def first_title(text: str, blocks: tuple[Block, ...]) -> str | None:
    """The text of the first level-1 heading, without its marks; None where there is none."""
    for block in blocks:
        if block.kind is BlockKind.HEADING and block.level == 1:
            lines = text[block.start : block.end].strip().splitlines()
            return _plain(lines[0].strip("# \t")) or None
    return None


def _plain(text: str) -> str:
    """A heading's text without the marks of links, emphasis and code."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text)).replace("`", "").strip()


@cache
def _parser() -> MarkdownIt:
    # The text of the blocks is not looked into, so emphasis and links need not be parsed.
    return MarkdownIt("commonmark").enable("table").disable("inline")


def _kinds_by_first_line(tokens: list[Token]) -> dict[int, _Kind]:
    """What begins at which line; a block lasts until the next one begins.

    Where a block ends and none begins, the rest of the enclosing item follows, or what Markdown does not
    show.
    """
    begun: dict[int, _Kind] = {}
    rest: dict[int, _Kind] = {}
    lists = quotes = 0
    for token in tokens:
        quotes += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type in _LISTS:
            lists += token.nesting
        if token.map is None or (quotes and not (token.level == 0 and token.type == "blockquote_open")):
            continue
        first, end = token.map
        if token.type == "list_item_open":
            begun[first] = _Kind(BlockKind.LIST_ITEM)  # "- - a": the inner item wins
        elif token.type in _LISTS:
            # An outer list that ends at the same line was noted first, and is right.
            rest.setdefault(end, _Kind(BlockKind.LIST_ITEM if lists > 1 else BlockKind.OTHER))
        elif token.level == 0 and token.type in _LEAVES:
            level = int(token.tag[1]) if token.type == "heading_open" else 0
            begun[first] = _Kind(_LEAVES[token.type], level)
            rest.setdefault(end, _Kind(BlockKind.OTHER))
    return rest | begun
