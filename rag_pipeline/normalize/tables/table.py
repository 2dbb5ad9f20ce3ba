"""A table that was found on a page, or over several."""

from dataclasses import dataclass

from rag_pipeline.normalize.assembling import Piece, table_markdown
from rag_pipeline.normalize.document import BlockKind, Box, Place


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cell texts, the first one the header.

    `page` and `box` tell where it begins; `places` the page and box of every row. `lines` are the places in
    `PageText.lines` of that page's lines whose text the table holds; `columns` their (left, right) there.
    """

    page: int
    box: Box
    rows: tuple[tuple[str, ...], ...]
    places: tuple[tuple[int, Box], ...]
    lines: frozenset[int]
    columns: tuple[tuple[float, float], ...]

    @property
    def markdown(self) -> str:
        """The table as Markdown."""
        return table_markdown(self.rows)

    @property
    def piece(self) -> Piece:
        """The table as a block of Markdown that knows the place of each row."""
        places = []
        at = 0
        text = self.markdown
        for number, line in enumerate(text.split("\n")):
            if number != 1:  # the line below the header stands on no page
                page, box = self.places[max(number - 1, 0)]
                places.append(Place(at, at + len(line), page, box))
            at += len(line) + 1
        return Piece(BlockKind.TABLE, text, places=tuple(places))
