"""PDF files made by hand, so that tests know every word, stroke and flaw in them."""

from collections.abc import Sequence


def pdf_file(contents: Sequence[str], *, width: int = 595, height: int = 842) -> bytes:
    """A PDF with one page for each content stream; /F1 is Helvetica, /F2 its bold face."""
    fonts = "<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> >>"  # noqa: E501 - one PDF object
    kids = " ".join(f"{3 + 2 * index} 0 R" for index in range(len(contents)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>",
    ]
    for index, content in enumerate(contents):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] "
            f"/Resources << /Font {fonts} >> /Contents {4 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    body = "%PDF-1.4\n"
    offsets = []
    for number, value in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{value}\nendobj\n"
    entries = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{entries}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + table + trailer).encode("latin-1")


def text_at(x: float, y: float, text: str, *, size: float = 10, font: str = "F1") -> str:
    """A content stream that shows one line of text at a place in points from the page's bottom left."""
    return f"BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n"


def ruled_table(rows: Sequence[Sequence[str]], *, left: int = 72, top: int = 700) -> str:
    """A content stream with a table whose cells are ruled: 120 points wide, 20 high."""
    width, height = 120, 20
    right, bottom = left + width * len(rows[0]), top - height * len(rows)
    strokes = [
        f"{left} {top - height * row} m {right} {top - height * row} l S\n" for row in range(len(rows) + 1)
    ]
    strokes += [
        f"{left + width * c} {top} m {left + width * c} {bottom} l S\n" for c in range(len(rows[0]) + 1)
    ]
    cells = [
        text_at(left + 5 + width * c, top - 14 - height * r, text)
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    ]
    return "".join(strokes + cells)
