"""The normalized document: Markdown, and the structure that chunking and citing need."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class BlockKind(StrEnum):
    """What a block of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of the Markdown that belongs together: `markdown[start:end]`.

    `level` is a heading's level (1 to 6), 0 for other blocks. `page` counts from 1, None where the format
    has no pages. `box` is (left, top, right, bottom) in points from the page's top left, None if unknown.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    page: int | None = None
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class NormalizedDocument:
    """A document as Markdown with its blocks in reading order.

    Blocks do not overlap, are ordered by `start`, and only white space lies between them. `title` is the
    document's own title if it has one. `warnings` tells what a reader of the text should know.
    """

    markdown: str
    blocks: tuple[Block, ...]
    title: str | None = None
    page_count: int | None = None
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values, blocks as compact lists."""
        return {
            "markdown": self.markdown,
            "blocks": [[b.kind.value, b.start, b.end, b.level, b.page, b.box] for b in self.blocks],
            "title": self.title,
            "page_count": self.page_count,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "NormalizedDocument":
        """The inverse of `to_json`."""
        return cls(
            markdown=value["markdown"],
            blocks=tuple(
                Block(BlockKind(kind), start, end, level, page, tuple(box) if box else None)
                for kind, start, end, level, page, box in value["blocks"]
            ),
            title=value["title"],
            page_count=value["page_count"],
            warnings=tuple(value["warnings"]),
        )
