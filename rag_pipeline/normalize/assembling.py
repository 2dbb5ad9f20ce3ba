"""Putting pieces of Markdown together so that every block knows its exact place."""

from collections.abc import Iterable
from dataclasses import dataclass

from rag_pipeline.normalize.document import Block, BlockKind


@dataclass(frozen=True, slots=True)
class Piece:
    """One block's Markdown before it has a place; the fields mean what they mean in `Block`."""

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None
    box: tuple[float, float, float, float] | None = None


def assemble(pieces: Iterable[Piece]) -> tuple[str, tuple[Block, ...]]:
    """Join pieces into Markdown and blocks: list items by a newline, everything else by an empty line.

    Pieces of white space only are left out.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for piece in pieces:
        text = piece.text.rstrip() if piece.kind is BlockKind.LIST_ITEM else piece.text.strip("\n").rstrip()
        if not text.strip():
            continue
        if blocks:
            in_list = blocks[-1].kind is piece.kind is BlockKind.LIST_ITEM
            separator = "\n" if in_list else "\n\n"
            parts.append(separator)
            at += len(separator)
        parts.append(text)
        blocks.append(Block(piece.kind, at, at + len(text), piece.level, piece.page, piece.box))
        at += len(text)
    return "".join(parts), tuple(blocks)


def table_markdown(rows: Iterable[Iterable[str]]) -> str:
    """Rows of cells as a Markdown table whose first row is the header; short rows are filled up."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " - |" * width, *lines[1:]]) if lines else ""


def code_markdown(text: str, language: str = "") -> str:
    """A fenced code block whose fence is longer than any run of backticks inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
