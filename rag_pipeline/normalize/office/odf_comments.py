"""Comments (annotations) of OpenDocument sheets and slides."""

from collections.abc import Iterator
from typing import Final

from rag_pipeline.normalize.office.odf_styles import DRAW, ODF, OFFICE, TABLE, TEXT, remove
from rag_pipeline.normalize.office.package import XmlElement, tag
from rag_pipeline.normalize.office.reviewing import comment_text

_SHEET: Final = tag(TABLE, "table")
_PAGE: Final = tag(DRAW, "page")
_TEXT_BODY: Final = tag(OFFICE, "text")


def take_comments(root: XmlElement, *, all_of_them: bool) -> list[str]:
    """Take the comments out of sheets and slides, and also out of texts if `all_of_them` says so."""
    pages = {page: number for number, page in enumerate(root.iter(_PAGE), start=1)}
    taken = []
    for annotation in list(root.iter(tag(OFFICE, "annotation"))):
        around = {element.tag: element for element in annotation.iterancestors()}
        if _TEXT_BODY in around and not all_of_them:
            continue
        place = None
        if _PAGE in around:
            place = f"slide {pages[around[_PAGE]]}"
        elif _TEXT_BODY not in around and _SHEET in around:
            place = f"sheet {around[_SHEET].get(tag(TABLE, 'name'), '')}"
        text = "\n".join(_paragraphs(annotation))
        if text:
            author, moment = (annotation.findtext(f"dc:{name}", None, ODF) for name in ("creator", "date"))
            taken.append(comment_text(place, author, moment, text))
        remove(annotation)
    return taken


def _paragraphs(annotation: XmlElement) -> Iterator[str]:
    for paragraph in annotation.iter(tag(TEXT, "p")):
        if text := "".join(paragraph.itertext()).strip():
            yield text
