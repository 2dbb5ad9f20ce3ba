"""Tracked changes of a Word part, accepted: insertions stay, deletions and the old places of moves go."""

from collections.abc import Iterator
from typing import Final

from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.office.package import NAMESPACES, W, XmlElement, tag
from rag_pipeline.normalize.office.removals import REVISION

_DELETED: Final = (tag(W, "del"), tag(W, "moveFrom"))
_KEPT: Final = (tag(W, "ins"), tag(W, "moveTo"))
_PARAGRAPH: Final = tag(W, "p")
_PROPERTIES: Final = tag(W, "pPr")
_TEXTS: Final = (tag(W, "t"), tag(W, "delText"))


def accept_revisions(root: XmlElement) -> list[Removed]:
    """Change a part as if all its revisions were accepted; returns the texts that went."""
    removed = [Removed(REVISION, text) for text in _dropped_rows(root)]
    merged = [p for p in root.iter(_PARAGRAPH) if _mark_is_deleted(p)]
    for element in list(root.iter(*_DELETED)):
        if text := _text(element):
            removed.append(Removed(REVISION, text))
        _drop(element)
    for element in list(root.iter(*_KEPT)):
        _unwrap(element)
    for paragraph in merged:
        _join_with_next(paragraph)
    return removed


def _dropped_rows(root: XmlElement) -> Iterator[str]:
    """Take out table rows and cells that were deleted as such, yielding their texts."""
    rows = root.xpath(".//w:tr[w:trPr/w:del] | .//w:tc[w:tcPr/w:cellDel]", namespaces=NAMESPACES)
    for row in rows:
        if text := _text(row):
            yield text
        _drop(row)


def _mark_is_deleted(paragraph: XmlElement) -> bool:
    marks = paragraph.find("w:pPr/w:rPr", NAMESPACES)
    return marks is not None and any(mark.tag in _DELETED for mark in marks)


def _join_with_next(paragraph: XmlElement) -> None:
    """A paragraph without its mark runs on in the next one, whose formatting then holds for both."""
    following = paragraph.getnext()
    content = [child for child in paragraph if child.tag != _PROPERTIES]
    if following is None or following.tag != _PARAGRAPH:
        if not content and paragraph.getparent() is not None and paragraph.getparent().tag != tag(W, "tc"):
            _drop(paragraph)
        return
    at = 1 if len(following) and following[0].tag == _PROPERTIES else 0
    following[at:at] = content
    _drop(paragraph)


def _text(element: XmlElement) -> str:
    return "".join(text.text or "" for text in element.iter(*_TEXTS)).strip()


def _drop(element: XmlElement) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _unwrap(element: XmlElement) -> None:
    parent = element.getparent()
    if parent is None:
        return
    at = parent.index(element)
    parent[at : at + 1] = list(element)
