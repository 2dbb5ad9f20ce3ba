"""Putting pieces of Markdown together so that every block knows its exact place."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rag_pipeline.normalize.document import Block, BlockKind, Box, Place


@dataclass(frozen=True, slots=True)
class Piece:
    """One block's Markdown before it has a place in the whole; the fields mean what they mean in `Block`.

    The `places` count characters from the beginning of `text`.
    """

    kind: BlockKind
    text: str
    level: int = 0
    places: tuple[Place, ...] = ()


def placed(kind: BlockKind, text: str, page: int, box: Box | None = None, *, level: int = 0) -> Piece:
    """A piece that stands as a whole in one place."""
    return Piece(kind, text, level, (Place(0, len(text), page, box),))


def assemble(pieces: Iterable[Piece]) -> tuple[str, tuple[Block, ...]]:
    """Join pieces into Markdown and blocks: list items by a newline, everything else by an empty line.

    Pieces of white space only are left out.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for piece in pieces:
        in_list = piece.kind is BlockKind.LIST_ITEM
        text = piece.text.rstrip() if in_list else piece.text.strip("\n").rstrip()
        if not text.strip():
            continue
        if blocks:
            separator = "\n" if in_list and blocks[-1].kind is BlockKind.LIST_ITEM else "\n\n"
            parts.append(separator)
            at += len(separator)
        parts.append(text)
        shift = at - piece.text.index(text)
        places = _shifted(piece.places, shift, at, at + len(text))
        blocks.append(Block(piece.kind, at, at + len(text), piece.level, places))
        at += len(text)
    return "".join(parts), tuple(blocks)


def _shifted(places: Iterable[Place], shift: int, first: int, last: int) -> tuple[Place, ...]:
    """The places moved by `shift` characters, kept within `first` and `last`."""
    return tuple(
        replace(place, start=max(place.start + shift, first), end=min(place.end + shift, last))
        for place in places
    )


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
