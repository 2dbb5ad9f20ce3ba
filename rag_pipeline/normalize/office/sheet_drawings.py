"""What floats over the cells of a worksheet: charts as tables, text boxes, pictures' alt texts."""

from collections.abc import Iterator
from typing import Any, Final

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.office.package import A, Package, XmlElement, tag

_XDR: Final = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
# Rows and columns beyond the size of a page are cut off, and a sheet has no such size.
_ENDLESS: Final = 2**31
_ANCHORS: Final = tuple(tag(_XDR, f"{kind}Anchor") for kind in ("twoCell", "oneCell", "absolute"))


def floating_texts(package: Package, part: str) -> Iterator[tuple[int, str]]:
    """The texts over a sheet, `part` of the package, as Markdown, each with the row that it begins at."""
    for name in package.related_parts(part, "drawing"):
        for anchor in package.tree(name).iter(*_ANCHORS):
            row = anchor.findtext(f"{tag(_XDR, 'from')}/{tag(_XDR, 'row')}") or ""
            for text in _texts(anchor):
                yield int(row) if row.strip().isdecimal() else 0, text


def chart_texts(backend: Any, sheet: Any) -> Iterator[tuple[int, str]]:
    """The charts of a sheet as docling's `backend` reads them, as Markdown, each with its first row."""
    from docling_core.types.doc.base import Size
    from docling_core.types.doc.document import DoclingDocument

    from rag_pipeline.normalize.trees.serializing import serialized_parts

    if not sheet._charts:
        return
    tree = DoclingDocument(name="charts")
    tree.add_page(page_no=1, size=Size(width=_ENDLESS, height=_ENDLESS))
    backend.parent = None
    backend._find_chart_in_sheet(tree, sheet, 1)
    for part in serialized_parts(tree, margins=False):
        rows = [int(span.item.prov[0].bbox.t) for span in part.spans if span.item.prov]
        yield min(rows, default=0), part.text


def _texts(anchor: XmlElement) -> Iterator[str]:
    for properties in anchor.iter(tag(_XDR, "cNvPr")):
        shape = properties.getparent().getparent()
        if properties.get("hidden") in ("1", "true"):
            continue
        if shape.tag == tag(_XDR, "pic"):
            yield picture_markdown(properties.get("descr", ""))
        elif shape.tag == tag(_XDR, "sp"):
            paragraphs = shape.iter(tag(A, "p"))
            yield "\n\n".join("".join(part.text or "" for part in p.iter(tag(A, "t"))) for p in paragraphs)
