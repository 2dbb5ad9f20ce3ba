"""The parts of an Office Open XML file: read, changed and put together again, all in memory."""

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree  # type: ignore[import-untyped]

XmlElement = Any
"""An element of lxml, which has no types."""

W: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
A: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"
P: Final = "http://schemas.openxmlformats.org/presentationml/2006/main"
R: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PIC: Final = "http://schemas.openxmlformats.org/drawingml/2006/picture"
WP: Final = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
W14: Final = "http://schemas.microsoft.com/office/word/2010/wordml"
DGM: Final = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
MC: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006"
V: Final = "urn:schemas-microsoft-com:vml"
NAMESPACES: Final = {
    "w": W, "a": A, "p": P, "r": R, "pic": PIC, "wp": WP, "w14": W14, "dgm": DGM, "mc": MC, "v": V,
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "adec": "http://schemas.microsoft.com/office/drawing/2017/decorative",
}  # fmt: skip

_CONTENT_TYPES: Final = "[Content_Types].xml"
# Templates, slide shows and files with macros are read like the plain documents that they are otherwise.
_VARIANT: Final = re.compile(
    rb"application/vnd\.(?:ms-(word|powerpoint)\.\w+\.macroEnabled\w*"
    rb"|openxmlformats-officedocument\.(wordprocessingml|presentationml)\.(?:template|slideshow))\.main\+xml"
)
_WORD: Final = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_SLIDES: Final = b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
_PLAIN: Final = {
    b"word": _WORD, b"wordprocessingml": _WORD, b"powerpoint": _SLIDES, b"presentationml": _SLIDES,
}  # fmt: skip
_PACKAGE_RELATIONSHIP: Final = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
# Neither readers nor the rules here know the namespaces of ISO 29500 Strict.
_STRICT: Final = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL: Final = rb"http://schemas.openxmlformats.org/\1/2006/"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A reference of one part to another, or to something outside, which is never followed."""

    kind: str
    target: str
    external: bool


class Package:
    """A zip of parts, unpacked when asked for. Trees that were asked for are written back by `saved`."""

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._names = {name for name in self._archive.namelist() if not name.endswith("/")}
        self._trees: dict[str, XmlElement] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def content(self, name: str) -> bytes:
        """A part as it is stored, with the namespaces of ISO 29500 Strict replaced by the usual ones."""
        content = self._archive.read(name)
        if name.endswith((".xml", ".rels")) and b"purl.oclc.org/ooxml" in content:
            return _STRICT.sub(_TRANSITIONAL, content)
        return content

    def tree(self, name: str) -> XmlElement:
        """The root of an XML part, without comments and processing instructions; change it in place.

        Raises lxml's XMLSyntaxError where it is not well-formed.
        """
        if name not in self._trees:
            self._trees[name] = etree.fromstring(self.content(name), safe_parser())
        return self._trees[name]

    def replace(self, name: str, content: bytes) -> None:
        """Put another XML part in the place of one."""
        self._trees[name] = etree.fromstring(content, safe_parser())

    def related(self, name: str) -> dict[str, Relationship]:
        """The relationships of a part by their id; targets inside are names of parts."""
        folder, base = posixpath.split(name)
        rels = posixpath.join(folder, "_rels", f"{base}.rels")
        if rels not in self:
            return {}
        found = {}
        for item in etree.fromstring(self.content(rels), safe_parser()).iter(_PACKAGE_RELATIONSHIP):
            target, external = item.get("Target", ""), item.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = item.get("Type", "").rpartition("/")[2]
            found[item.get("Id", "")] = Relationship(kind, target, external)
        return found

    def related_parts(self, name: str, kind: str) -> list[str]:
        """The existing parts that a part refers to by relationships of a kind (`footnotes`, `slide`)."""
        return [
            relationship.target
            for relationship in self.related(name).values()
            if relationship.kind == kind and not relationship.external and relationship.target in self
        ]

    def main_part(self) -> str | None:
        """The part that the package as a whole begins with: document, workbook or presentation."""
        return next(iter(self.related_parts("", "officeDocument")), None)

    def saved(self) -> bytes:
        """The package as a zip; not compressed, since it is read again at once, and without its pictures."""
        output = io.BytesIO()
        with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:
            for name in dict.fromkeys(self._archive.namelist()):
                if name in self._names:
                    archive.writestr(name, self._saved_part(name))
        return output.getvalue()

    def _saved_part(self, name: str) -> bytes:
        if name in self._trees:
            root = self._trees[name]
            return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))
        if name == _CONTENT_TYPES:
            return _VARIANT.sub(lambda match: _PLAIN[match[1] or match[2]], self.content(name))
        return b"" if "/media/" in name else self.content(name)


def safe_parser() -> etree.XMLParser:
    """A parser that expands no entities, loads nothing, and drops what no reader sees."""
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )


def tag(namespace: str, name: str) -> str:
    """An element's or attribute's name as lxml writes it."""
    return f"{{{namespace}}}{name}"
