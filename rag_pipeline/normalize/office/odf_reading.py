"""OpenDocument files before docling reads them: what no reader sees is out, alt texts are written out."""

from collections.abc import Iterator
from typing import Final

from lxml import etree  # type: ignore[import-untyped]

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.office.odf_comments import take_comments
from rag_pipeline.normalize.office.odf_joints import mark_joints
from rag_pipeline.normalize.office.odf_styles import DRAW, ODF, TEXT, OdfStyles, remove
from rag_pipeline.normalize.office.odf_tables import drop_hidden_cells, show_values
from rag_pipeline.normalize.office.package import Package, XmlElement, tag
from rag_pipeline.normalize.office.prepared import Prepared
from rag_pipeline.normalize.office.removals import COMMENT, HIDDEN_SLIDE, HIDDEN_TEXT, UNREADABLE

_CONTENT: Final = "content.xml"
_STYLES: Final = "styles.xml"
_NOTES: Final = "Speaker notes: "
_PASSAGES: Final = (tag(TEXT, "span"), tag(TEXT, "p"), tag(TEXT, "h"))
_HIDDEN_MARKS: Final = (
    ".//text:hidden-text[@text:is-hidden='true'] | .//text:hidden-paragraph[@text:is-hidden='true']/.."
)


def prepare_open_document(data: bytes, *, comments: bool) -> Prepared:
    """The file as docling should see it; `comments` says whether comments are kept.

    docling places the comments of texts; those of sheets and slides come apart, since it does not know them.
    """
    package = Package(data)
    if _CONTENT not in package:
        return Prepared(data)
    root = package.tree(_CONTENT)
    roots = [root, *([package.tree(_STYLES)] if _STYLES in package else [])]
    styles = OdfStyles(roots)
    removed = [
        *_notes_of_hidden_slides(root, styles),
        *drop_hidden_cells(root, styles),
        *(passage for part in roots for passage in _hidden_text(part, styles)),
    ]
    noted = take_comments(root, all_of_them=not comments)
    if not comments:
        removed += [Removed(COMMENT, text) for text in noted]
    show_values(root)
    _number_notes(root)
    for part in roots:
        _describe_pictures(part)
        mark_joints(part, styles)
    _mark_notes(root)
    return Prepared(package.saved(), tuple(removed), comments=tuple(noted) if comments else ())


def _notes_of_hidden_slides(root: XmlElement, styles: OdfStyles) -> Iterator[Removed]:
    """Take out the speaker notes of hidden slides; docling sets the slides themselves apart."""
    for number, page in enumerate(root.iter(tag(DRAW, "page")), start=1):
        if styles.property(page.get(tag(DRAW, "style-name")), "presentation:visibility") == "hidden":
            for notes in page.findall("presentation:notes", ODF):
                for passage in _taken(notes, HIDDEN_SLIDE):
                    yield Removed(passage.reason, passage.text, number)


def _hidden_text(root: XmlElement, styles: OdfStyles) -> Iterator[Removed]:
    """Take out text that its style hides or makes unreadable, and what fields hide."""
    for element in root.xpath(_HIDDEN_MARKS, namespaces=ODF):
        yield from _taken(element, HIDDEN_TEXT)
    for element in list(root.iter(*_PASSAGES)):
        style = element.get(tag(TEXT, "style-name"))
        if styles.hides(style):
            yield from _taken(element, HIDDEN_TEXT)
        elif styles.is_tiny(style) or (styles.is_white(style) and not styles.is_painted(element)):
            yield from _taken(element, UNREADABLE)


def _taken(element: XmlElement, reason: str) -> Iterator[Removed]:
    text = "".join(element.itertext()).strip()
    remove(element)
    if text:
        yield Removed(reason, text)


def _number_notes(root: XmlElement) -> None:
    """Write `[^1]` at a note and where it is referred to; endnotes are `[^e1]`, since both count from 1."""
    for note in list(root.iter(tag(TEXT, "note"))):
        citation = (note.findtext("text:note-citation", "", ODF)).strip()
        passage = note.find("text:note-body/text:p", ODF)
        if citation and passage is not None:
            mark = f"[^{'e' if note.get(tag(TEXT, 'note-class')) == 'endnote' else ''}{citation}]"
            reference = etree.Element(tag(TEXT, "span"))
            reference.text = mark
            note.addprevious(reference)
            passage.text = f"{mark}: {passage.text or ''}"


def _describe_pictures(root: XmlElement) -> None:
    """Put the alt text in a picture's place."""
    for frame in root.xpath(".//draw:frame[draw:image]", namespaces=ODF):
        texts = [frame.findtext(name, "", ODF) for name in ("svg:desc", "svg:title")]
        described = picture_markdown(next(filter(None, texts), ""))
        for name in ("draw:image", "svg:desc", "svg:title"):
            for child in frame.findall(name, ODF):
                frame.remove(child)
        if described:
            box = etree.SubElement(frame, tag(DRAW, "text-box"))
            etree.SubElement(box, tag(TEXT, "p")).text = described


def _mark_notes(root: XmlElement) -> None:
    for notes in root.iterfind(".//presentation:notes", ODF):
        for paragraph in notes.iter(tag(TEXT, "p")):
            if "".join(paragraph.itertext()).strip():
                paragraph.text = f"{_NOTES}{paragraph.text or ''}"
                break
