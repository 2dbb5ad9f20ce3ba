"""The texts of SmartArt, which Office keeps in parts of their own."""

from typing import Final

from lxml import etree  # type: ignore[import-untyped]

from rag_pipeline.normalize.office.package import DGM, NAMESPACES, A, Package, W, XmlElement, tag

_REFERENCES: Final = ".//dgm:relIds/@r:dm"
_DRAWINGS: Final = ".//w:drawing[.//dgm:relIds][not(ancestor::mc:Fallback)]"


def diagram_texts(package: Package, part: str, drawing: XmlElement) -> list[str]:
    """The texts of the diagrams that a drawing in a part refers to, in stored order."""
    related = package.related(part)
    texts = []
    for name in drawing.xpath(_REFERENCES, namespaces=NAMESPACES):
        if name in related and related[name].target in package:
            for text in package.tree(related[name].target).iter(tag(DGM, "t")):
                lines = ("".join(t.text or "" for t in p.iter(tag(A, "t"))) for p in text.iter(tag(A, "p")))
                texts += [line for line in lines if line.strip()]
    return texts


def write_out_in_word(root: XmlElement, package: Package, part: str) -> None:
    """Put each text of a diagram into a paragraph of its own, after the one that shows the diagram."""
    for drawing in root.xpath(_DRAWINGS, namespaces=NAMESPACES):
        paragraph = next(drawing.iterancestors(tag(W, "p")), None)
        if paragraph is None:
            continue
        for text in reversed(diagram_texts(package, part, drawing)):
            added = etree.Element(tag(W, "p"))
            run = etree.SubElement(added, tag(W, "r"))
            etree.SubElement(run, tag(W, "t")).text = text
            paragraph.addnext(added)
        drawing.getparent().remove(drawing)
