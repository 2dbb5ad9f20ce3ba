"""List items of web pages as pieces of Markdown, with their markers as they are shown."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_pipeline.normalize.assembling import Piece
from rag_pipeline.normalize.document import BlockKind

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement

_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def list_markers(parent: "HtmlElement") -> "Iterator[tuple[HtmlElement, str]]":
    """A list's children, each with the marker that it is shown with; children that are no items have none."""
    number = _number(parent.get("start"), 1)
    for child in parent:
        if child.tag != "li":
            yield child, ""
        elif parent.tag == "ol":
            number = _number(child.get("value"), number)
            yield child, f"{_label(number, parent.get('type', '1'))}."
            number += 1
        else:
            yield child, "-"


def item_pieces(marker: str, inner: Sequence[Piece]) -> list[Piece]:
    """An item's pieces: its text after the marker, nested items indented, tables on their own.

    What holds a heading is a section that only the page's layout lists, so it stays as it is. So does a list
    in an item of no text.
    """
    if not inner or inner[0].kind is BlockKind.LIST_ITEM:
        return list(inner)
    if any(piece.kind is BlockKind.HEADING for piece in inner):
        return list(inner)
    indent = " " * (len(marker) + 1)
    pieces: list[Piece] = []
    for piece in inner:
        if piece.kind is BlockKind.TABLE:
            pieces.append(piece)
        elif piece.kind is BlockKind.LIST_ITEM:
            pieces.append(Piece(BlockKind.LIST_ITEM, indented(piece.text, indent)))
        elif not pieces:
            pieces.append(
                Piece(BlockKind.LIST_ITEM, f"{marker} {indented(piece.text, indent).removeprefix(indent)}")
            )
        elif pieces[-1].kind is BlockKind.LIST_ITEM:
            pieces[-1] = replace(pieces[-1], text=f"{pieces[-1].text}\n\n{indented(piece.text, indent)}")
        else:
            pieces.append(piece)
    return pieces


def indented(text: str, indent: str) -> str:
    """Every line that is not empty moved in by `indent`."""
    return "\n".join(indent + line if line.strip() else "" for line in text.split("\n"))


def _number(value: str | None, default: int) -> int:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.lstrip("-").isdigit() and len(text) < 10 else default


def _label(number: int, kind: str) -> str:
    if number < 1 or number > 3_999 or kind not in "aAiI":
        return str(number)
    if kind in "iI":
        label = ""
        for value, digits in _ROMAN:
            label += digits * (number // value)
            number %= value
    else:
        label = ""
        while number:
            number, letter = divmod(number - 1, 26)
            label = chr(ord("a") + letter) + label
    return label.upper() if kind.isupper() else label
