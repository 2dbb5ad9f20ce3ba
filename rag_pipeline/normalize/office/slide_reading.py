"""PowerPoint files before docling reads them: hidden slides out; pictures, notes and comments as text.

docling reads the shapes of a slide by their positions, so what is written out is put into text boxes.
"""

from dataclasses import dataclass, field
from typing import Final

from lxml import etree  # type: ignore[import-untyped]

from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.office.chart_kinds import know_charts
from rag_pipeline.normalize.office.package import NAMESPACES, P, Package, R, XmlElement, tag
from rag_pipeline.normalize.office.prepared import Prepared
from rag_pipeline.normalize.office.removals import COMMENT, HIDDEN_SLIDE
from rag_pipeline.normalize.office.slide_comments import comment_authors, take_comments
from rag_pipeline.normalize.office.slide_places import PlaceholderPlaces
from rag_pipeline.normalize.office.slide_shapes import (
    add_below,
    describe_pictures,
    paragraphs,
    write_out_diagrams,
)

_NOTES: Final = "Speaker notes: "
_NOTES_TEXT: Final = ".//p:sp[p:nvSpPr/p:nvPr/p:ph/@type='body']//a:t[normalize-space()]"
_EMPTY: Final = (
    f'<p:{{0}} xmlns:p="{P}"><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
    "</p:nvGrpSpPr><p:grpSpPr/></p:spTree></p:cSld></p:{0}>"
)


@dataclass(slots=True)
class _Preparing:
    """A presentation while its slides are prepared one after the other."""

    package: Package
    places: PlaceholderPlaces
    authors: dict[str, str]
    keep_comments: bool
    removed: list[Removed] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def prepare_slides(data: bytes, *, comments: bool) -> Prepared:
    """The file as docling should see it; `comments` says whether comments are kept.

    A damaged slide is emptied, so that the others keep their numbers and can be read.
    """
    package = Package(data)
    main = package.main_part()
    if main is None:
        return Prepared(data)
    preparing = _Preparing(package, PlaceholderPlaces(package), comment_authors(package, main), comments)
    related = package.related(main)
    for number, entry in enumerate(package.tree(main).findall("p:sldIdLst/p:sldId", NAMESPACES), start=1):
        relationship = related.get(entry.get(tag(R, "id"), ""))
        if relationship is None or relationship.target not in package:
            entry.getparent().remove(entry)
            preparing.warnings.append(f"slide {number} is missing in the file")
        else:
            _prepare_slide(preparing, relationship.target, number)
    return Prepared(
        package.saved(),
        tuple(preparing.removed),
        tuple(preparing.warnings),
        text="\n".join(preparing.texts),
    )


def _prepare_slide(preparing: _Preparing, part: str, number: int) -> None:
    package = preparing.package
    slide = _readable(preparing, part, "sld", f"slide {number}")
    notes = [
        _readable(preparing, name, "notes", f"the notes of slide {number}")
        for name in package.related_parts(part, "notesSlide")
    ]
    texts = [text for root in notes for text in root.xpath(_NOTES_TEXT, namespaces=NAMESPACES)]
    comments = take_comments(package, part, preparing.authors)
    if slide.get("show") in ("0", "false"):
        hidden = "\n".join([*paragraphs(slide), *(text.text for text in texts), *comments])
        preparing.removed.append(Removed(HIDDEN_SLIDE, hidden, number))
        package.replace(part, _EMPTY.format("sld").encode())
        for text in texts:
            text.text = ""
        return
    for text in texts[:1]:
        text.text = f"{_NOTES}{text.text}"
    preparing.places.write_out(slide, part)
    if damaged := describe_pictures(slide, package, part):
        preparing.warnings.append(f"{damaged} pictures of slide {number} are damaged and were left out")
    write_out_diagrams(slide, package, part)
    know_charts(package, part)
    if preparing.keep_comments:
        add_below(slide, comments)
    else:
        preparing.removed += [Removed(COMMENT, text, number) for text in comments]
    preparing.texts += paragraphs(slide)


def _readable(preparing: _Preparing, part: str, kind: str, what: str) -> XmlElement:
    """A part's tree, an empty one where the part is no XML."""
    try:
        return preparing.package.tree(part)
    except etree.XMLSyntaxError:
        preparing.package.replace(part, _EMPTY.format(kind).encode())
        preparing.warnings.append(f"{what} could not be read: damaged")
        return preparing.package.tree(part)
