"""Shapes of a slide that docling does not read as text, written out in text boxes of the same place."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Final

from lxml import etree  # type: ignore[import-untyped]

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.office.diagrams import diagram_texts
from rag_pipeline.normalize.office.package import NAMESPACES, A, P, Package, XmlElement, tag

_PICTURE: Final = tag(P, "pic")
_DESCRIBED: Final = (_PICTURE, tag(P, "graphicFrame"), tag(P, "grpSp"))
_POSITION: Final = tag(A, "xfrm")
# A fallback repeats its choice for programs that do not know it.
_PARAGRAPHS: Final = ".//a:p[not(ancestor::mc:Fallback)]"
_DECORATIVE: Final = "./*/p:cNvPr//adec:decorative[@val='1' or @val='true']"
# Below every slide, so that what is added there comes after what the slide shows.
_BELOW: Final = 2**31


def describe_pictures(slide: XmlElement, package: Package, part: str) -> int:
    """Replace pictures by their alt texts, add those of charts and groups; returns how many are damaged."""
    related = package.related(part)
    damaged = 0
    for shape in list(slide.iter(*_DESCRIBED)):
        properties = shape.find("./*/p:cNvPr", NAMESPACES)
        decorative = shape.xpath(
            "./*/p:cNvPr//adec:decorative[@val='1' or @val='true']", namespaces=NAMESPACES
        )
        text = "" if properties is None or decorative else picture_markdown(properties.get("descr", ""))
        if text:
            shape.addprevious(_text_box([text], shape))
        if shape.tag == _PICTURE:
            images = shape.xpath(".//a:blip/@r:embed", namespaces=NAMESPACES)
            linked = shape.xpath(".//a:blip/@r:link", namespaces=NAMESPACES)
            stored = [related[image].target for image in images if image in related]
            damaged += not linked and not any(target in package for target in stored)
            shape.getparent().remove(shape)
    return damaged


def write_out_diagrams(slide: XmlElement, package: Package, part: str) -> None:
    """Add the texts of SmartArt."""
    for frame in list(slide.iter(tag(P, "graphicFrame"))):
        if texts := diagram_texts(package, part, frame):
            frame.addprevious(_text_box(texts, frame))


def add_below(slide: XmlElement, texts: Iterable[str]) -> None:
    """Add texts to a slide, after everything that it shows."""
    shapes = slide.find("p:cSld/p:spTree", NAMESPACES)
    if shapes is not None:
        for text in texts:
            shapes.append(_text_box([text]))


def paragraphs(root: XmlElement) -> list[str]:
    """The paragraphs of a part that say something, in stored order."""
    found = root.xpath(_PARAGRAPHS, namespaces=NAMESPACES)
    texts = ["".join(text.text or "" for text in paragraph.iter(tag(A, "t"))) for paragraph in found]
    return [text for text in texts if text.strip()]


def _text_box(texts: Iterable[str], shape: XmlElement | None = None) -> XmlElement:
    """A text box in the place of a shape, hidden if that is; without one, below the slide."""
    box = etree.Element(tag(P, "sp"))
    properties = etree.SubElement(box, tag(P, "nvSpPr"))
    identity = etree.SubElement(properties, tag(P, "cNvPr"), id="0", name="")
    etree.SubElement(properties, tag(P, "cNvSpPr"), txBox="1")
    own = etree.SubElement(properties, tag(P, "nvPr"))
    form = etree.SubElement(box, tag(P, "spPr"))
    for part in _place(shape, identity, own):
        form.append(part)
    body = etree.SubElement(box, tag(P, "txBody"))
    etree.SubElement(body, tag(A, "bodyPr"))
    for text in texts:
        paragraph = etree.SubElement(body, tag(A, "p"))
        etree.SubElement(etree.SubElement(paragraph, tag(A, "pPr")), tag(A, "buNone"))
        run = etree.SubElement(paragraph, tag(A, "r"))
        etree.SubElement(run, tag(A, "t")).text = text
    return box


def _place(shape: XmlElement | None, identity: XmlElement, own: XmlElement) -> Iterator[XmlElement]:
    if shape is None:
        position = etree.Element(_POSITION)
        etree.SubElement(position, tag(A, "off"), x="0", y=str(_BELOW))
        etree.SubElement(position, tag(A, "ext"), cx="1", cy="1")
        yield position
        return
    if shape.find("./*/p:cNvPr", NAMESPACES).get("hidden") in ("1", "true"):
        identity.set("hidden", "1")
    placeholder = shape.find("./*/p:nvPr/p:ph", NAMESPACES)
    if placeholder is not None:
        own.append(deepcopy(placeholder))
    found = shape.xpath("./p:spPr/a:xfrm | ./p:xfrm | ./p:grpSpPr/a:xfrm", namespaces=NAMESPACES)
    for original in found[:1]:
        position = etree.Element(_POSITION)
        position.extend(deepcopy(child) for child in original if child.tag in (tag(A, "off"), tag(A, "ext")))
        yield position
