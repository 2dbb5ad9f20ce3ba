"""Where the placeholders of slides stand, which their layouts and masters say.

docling asks for the place of a shape again for each of its paragraphs, and python-pptx searches layout and
master each time: written into the shapes, the places make long presentations several times faster to read.
"""

from copy import deepcopy
from typing import Final

from rag_pipeline.normalize.office.package import NAMESPACES, Package, XmlElement

_PLACEHOLDERS: Final = ".//p:sp[p:nvSpPr/p:nvPr/p:ph][p:spPr]"
_OWN_KINDS: Final = frozenset({"title", "dt", "ftr", "sldNum"})


class PlaceholderPlaces:
    """The places that the layouts of a presentation give."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._by_layout: dict[str, dict[str, XmlElement]] = {}

    def write_out(self, slide: XmlElement, part: str) -> None:
        """Give each placeholder of a slide, `part` of the package, the place that it inherits."""
        layout = next(iter(self._package.related_parts(part, "slideLayout")), None)
        if layout is None:
            return
        places = self._places(layout)
        for shape in slide.xpath(_PLACEHOLDERS, namespaces=NAMESPACES):
            form = shape.find("p:spPr", NAMESPACES)
            place = places.get(_mark(shape).get("idx", "0"))
            if place is not None and form.find("a:xfrm", NAMESPACES) is None:
                form.insert(0, deepcopy(place))

    def _places(self, layout: str) -> dict[str, XmlElement]:
        """The places of a layout's placeholders by their index, its master's where it has none itself."""
        if layout not in self._by_layout:
            masters = self._package.related_parts(layout, "slideMaster")
            of_master = {
                _kind(shape): place
                for shape, place in self._placed(next(iter(masters), None))
                if place is not None
            }
            self._by_layout[layout] = {
                _mark(shape).get("idx", "0"): found
                for shape, place in self._placed(layout)
                if (found := of_master.get(_kind(shape)) if place is None else place) is not None
            }
        return self._by_layout[layout]

    def _placed(self, part: str | None) -> list[tuple[XmlElement, XmlElement | None]]:
        shapes = self._package.tree(part).xpath(_PLACEHOLDERS, namespaces=NAMESPACES) if part else []
        return [(shape, shape.find("p:spPr/a:xfrm", NAMESPACES)) for shape in shapes]


def _mark(shape: XmlElement) -> XmlElement:
    return shape.find("p:nvSpPr/p:nvPr/p:ph", NAMESPACES)


def _kind(shape: XmlElement) -> str:
    """What a placeholder is to a master, which knows five kinds."""
    kind = str(_mark(shape).get("type", "obj"))
    if kind == "ctrTitle":
        return "title"
    return kind if kind in _OWN_KINDS else "body"
