"""Leading boxes back from a page that was turned upright to the page as it came."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from rag_pipeline.normalize.document import Box, Place, Removed
from rag_pipeline.normalize.layout.structure import Structure

_Boxed = TypeVar("_Boxed", Place, Removed)


class Placement(NamedTuple):
    """Where a point (x, y) of the upright page is on the page: (xx x + xy y + x0, yx x + yy y + y0)."""

    xx: float
    xy: float
    x0: float
    yx: float
    yy: float
    y0: float

    def on_page(self, box: Box) -> Box:
        """The smallest upright box on the page around a box of the upright page."""
        corners = [(x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]
        xs = [self.xx * x + self.xy * y + self.x0 for x, y in corners]
        ys = [self.yx * x + self.yy * y + self.y0 for x, y in corners]
        return min(xs), min(ys), max(xs), max(ys)


def placed_back(structure: Structure, placements: Mapping[int, Placement]) -> Structure:
    """A structure with the boxes of its pages as they came; `placements` are those of the turned pages."""
    return Structure(
        tuple(
            replace(piece, places=tuple(_moved(place, placements) for place in piece.places))
            for piece in structure.pieces
        ),
        tuple(_moved(item, placements) for item in structure.removed),
    )


def _moved(item: _Boxed, placements: Mapping[int, Placement]) -> _Boxed:
    placement = placements.get(item.page) if item.page is not None else None
    if placement is None or item.box is None:
        return item
    return replace(item, box=placement.on_page(item.box))
