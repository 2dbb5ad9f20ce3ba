"""A document's sections: runs of blocks under one heading path."""

import re
from dataclasses import dataclass, replace

from rag_pipeline.normalize.document import Block, BlockKind, NormalizedDocument

_HEADING_LEVELS = 6

_MARKERS = re.compile(r"\A[ \t]{0,3}#{1,6}(?=\s|\Z)|\s#+\s*\Z|\n[ \t]{0,3}(?:=+|-+)\s*\Z")
_ATTRIBUTES = re.compile(r"\{[:#.][^{}]*\}\s*\Z")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*{1,3}(?=\S)|(?<=\S)\*{1,3}|`+)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive blocks under one heading path, outermost heading first, its own heading included.

    The blocks touch: each one holds the white space after it. Headings come first: those of empty
    sections just before, if any, then the section's own.
    """

    path: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def start(self) -> int:
        """Where the section starts in the Markdown."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Where it ends, white space after its last block included."""
        return self.blocks[-1].end


def sections_of(document: NormalizedDocument) -> list[Section]:
    """The sections in order; together they cover the whole Markdown. None where there is only white space."""
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    blocks: list[Block] = []

    def close() -> None:
        if blocks:
            sections.append(Section(tuple(text for _, text in above if text), tuple(blocks)))
            blocks.clear()

    for block in _touching_blocks(document):
        if block.kind is BlockKind.HEADING:
            # A section without content would be a chunk that answers nothing, so its heading goes with the
            # content below it; a longer run of them than nesting explains (a bare outline) does not.
            if len(blocks) >= _HEADING_LEVELS or any(b.kind is not BlockKind.HEADING for b in blocks):
                close()
            while above and above[-1][0] >= block.level:
                above.pop()
            above.append((block.level, heading_text(document.markdown[block.start : block.end])))
        blocks.append(block)
    close()
    return sections


def heading_text(markdown: str) -> str:
    """A heading's words without its Markdown: no marks, links, tags, attributes or escapes."""
    text = _MARKERS.sub("", markdown.strip())
    text = _TAG.sub("", _ATTRIBUTES.sub("", text))
    text = _EMPHASIS.sub("", _LINK.sub(r"\1", text))
    return " ".join(_ESCAPE.sub(r"\1", text).split())


def _touching_blocks(document: NormalizedDocument) -> list[Block]:
    """The blocks that hold text, widened over the white space after them (the first also before it)."""
    markdown = document.markdown
    solid = [block for block in document.blocks if not _is_blank(markdown, block)]
    starts = [0, *(block.start for block in solid[1:])]
    ends = [*starts[1:], len(markdown)]
    return [replace(block, start=s, end=e) for block, s, e in zip(solid, starts, ends, strict=False)]


def _is_blank(markdown: str, block: Block) -> bool:
    return not markdown[block.start : block.end].strip()
