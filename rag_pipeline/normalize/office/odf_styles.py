"""What the styles of an OpenDocument file say about the visibility of text."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rag_pipeline.normalize.office.package import XmlElement, tag

_PREFIX: Final = "urn:oasis:names:tc:opendocument:xmlns"
OFFICE: Final = f"{_PREFIX}:office:1.0"
TEXT: Final = f"{_PREFIX}:text:1.0"
TABLE: Final = f"{_PREFIX}:table:1.0"
DRAW: Final = f"{_PREFIX}:drawing:1.0"
ODF: Final = {
    "office": OFFICE,
    "text": TEXT,
    "table": TABLE,
    "draw": DRAW,
    "style": f"{_PREFIX}:style:1.0",
    "presentation": f"{_PREFIX}:presentation:1.0",
    "fo": f"{_PREFIX}:xsl-fo-compatible:1.0",
    "svg": f"{_PREFIX}:svg-compatible:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
}

_POINTS: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)pt")
_TINY_POINTS: Final = 1.0
# What may be painted behind text, with the attribute that names its style.
_BACKGROUNDS: Final = {
    tag(TEXT, "span"): tag(TEXT, "style-name"),
    tag(TEXT, "p"): tag(TEXT, "style-name"),
    tag(TEXT, "h"): tag(TEXT, "style-name"),
    tag(TABLE, "table-cell"): tag(TABLE, "style-name"),
    tag(TABLE, "table-row"): tag(TABLE, "style-name"),
    tag(TABLE, "table"): tag(TABLE, "style-name"),
}
_NO_PAINT: Final = frozenset({"transparent", "#ffffff"})


class OdfStyles:
    """The named and automatic styles of a file's parts."""

    def __init__(self, roots: Sequence[XmlElement]) -> None:
        self._styles: dict[str, XmlElement] = {}
        for root in roots:
            for style in root.iter(tag(ODF["style"], "style")):
                self._styles.setdefault(style.get(tag(ODF["style"], "name"), ""), style)

    def property(self, name: str | None, attribute: str) -> str | None:
        """The value of an attribute (`fo:color`) in a style's properties, or else in those of its parents."""
        prefix, _, local = attribute.partition(":")
        key = tag(ODF[prefix], local)
        for style in self._chain(name):
            for properties in style:
                if key in properties.attrib:
                    return str(properties.get(key))
        return None

    def hides(self, name: str | None) -> bool:
        """Whether a style hides its text."""
        return self.property(name, "text:display") == "none"

    def is_tiny(self, name: str | None) -> bool:
        """Whether a style's text is too small to be read."""
        size = _POINTS.fullmatch(self.property(name, "fo:font-size") or "")
        return size is not None and float(size[1]) <= _TINY_POINTS

    def is_white(self, name: str | None) -> bool:
        """Whether a style's text is white."""
        return self.property(name, "fo:color") == "#ffffff"

    def is_painted(self, element: XmlElement) -> bool:
        """Whether something is painted behind an element; of drawn shapes that is taken for granted."""
        for around in (element, *element.iterancestors()):
            if around.tag.startswith(f"{{{DRAW}}}"):
                return True
            name = around.get(_BACKGROUNDS[around.tag]) if around.tag in _BACKGROUNDS else None
            if (self.property(name, "fo:background-color") or "transparent").lower() not in _NO_PAINT:
                return True
        return False

    def _chain(self, name: str | None) -> Iterator[XmlElement]:
        seen: set[str] = set()
        while name is not None and name in self._styles and name not in seen:
            seen.add(name)
            yield self._styles[name]
            name = self._styles[name].get(tag(ODF["style"], "parent-style-name"))


def remove(element: XmlElement) -> None:
    """Take an element out of its parent, but leave the text that follows it."""
    parent, tail = element.getparent(), element.tail
    if parent is None:
        return
    previous = element.getprevious()
    if tail and previous is not None:
        previous.tail = (previous.tail or "") + tail
    elif tail:
        parent.text = (parent.text or "") + tail
    parent.remove(element)
