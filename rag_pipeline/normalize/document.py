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


Box = tuple[float, float, float, float]
"""(left, top, right, bottom) in points from the page's top left; in pixels on images."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the characters `start` to `end` of a text stand: on `page`, counted from 1, within `box`.

    `box` is None where only the page is known.
    """

    start: int
    end: int
    page: int
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A run of the Markdown that belongs together: `markdown[start:end]`.

    `level` is a heading's level (1 to 6), 0 for other blocks. `places` are in order; a paragraph that goes on
    in the next column or on the next page has several, and a block of a format without pages none.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    places: tuple[Place, ...] = ()

    @property
    def page(self) -> int | None:
        """The page that the block begins on."""
        return self.places[0].page if self.places else None


@dataclass(frozen=True, slots=True)
class Removed:
    """Text of the document that is left out of the Markdown, and why: repeated headers, hidden rows, …"""

    reason: str
    text: str
    page: int | None = None
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class NormalizedDocument:
    """A document as Markdown with its blocks in reading order.

    Blocks do not overlap, are ordered by `start`, and only white space lies between them. `title` is the
    document's own title if it has one. `warnings` tells what a reader of the text should know, `decisions`
    how it was read (its type, its charset, the pages that OCR read), `removed` what was left out.
    """

    markdown: str
    blocks: tuple[Block, ...]
    title: str | None = None
    page_count: int | None = None
    warnings: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values, blocks as compact lists."""
        return {
            "markdown": self.markdown,
            "blocks": [
                [b.kind.value, b.start, b.end, b.level, [[p.start, p.end, p.page, p.box] for p in b.places]]
                for b in self.blocks
            ],
            "title": self.title,
            "page_count": self.page_count,
            "warnings": list(self.warnings),
            "decisions": list(self.decisions),
            "removed": [[r.reason, r.text, r.page, r.box] for r in self.removed],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "NormalizedDocument":
        """The inverse of `to_json`."""
        return cls(
            markdown=value["markdown"],
            blocks=tuple(
                Block(
                    BlockKind(kind),
                    start,
                    end,
                    level,
                    tuple(Place(first, last, page, _box(box)) for first, last, page, box in places),
                )
                for kind, start, end, level, places in value["blocks"]
            ),
            title=value["title"],
            page_count=value["page_count"],
            warnings=tuple(value["warnings"]),
            decisions=tuple(value["decisions"]),
            removed=tuple(
                Removed(reason, text, page, _box(box)) for reason, text, page, box in value["removed"]
            ),
        )


def _box(value: list[float] | None) -> Box | None:
    if value is None:
        return None
    left, top, right, bottom = value
    return left, top, right, bottom
