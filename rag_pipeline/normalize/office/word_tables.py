"""Word tables without the parts that readers insist on."""

from typing import Final

from lxml import etree  # type: ignore[import-untyped]

from rag_pipeline.normalize.office.package import NAMESPACES, W, XmlElement, tag

_CELLS: Final = "./w:tc | ./w:sdt/w:sdtContent/w:tc"
_SPAN: Final = "string(./w:tcPr/w:gridSpan/@w:val)"


def complete_tables(root: XmlElement) -> None:
    """Give each table the properties and the grid that Word itself does without; docling would drop it."""
    for table in root.iter(tag(W, "tbl")):
        if table.find("w:tblGrid", NAMESPACES) is None:
            grid = etree.Element(tag(W, "tblGrid"))
            for _ in range(max((_width(row) for row in table.iterfind(".//w:tr", NAMESPACES)), default=1)):
                etree.SubElement(grid, tag(W, "gridCol"))
            properties = table.find("w:tblPr", NAMESPACES)
            table.insert(0 if properties is None else table.index(properties) + 1, grid)
        if table.find("w:tblPr", NAMESPACES) is None:
            table.insert(0, etree.Element(tag(W, "tblPr")))


def _width(row: XmlElement) -> int:
    spans = [cell.xpath(_SPAN, namespaces=NAMESPACES) for cell in row.xpath(_CELLS, namespaces=NAMESPACES)]
    return sum(int(span) if span.isdecimal() else 1 for span in spans)
