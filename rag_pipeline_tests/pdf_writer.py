"""A tiny PDF writer, so that tests know every word, place, colour and stroke of the files they read."""

from dataclasses import dataclass, field
from typing import Final

FONTS: Final = {
    "regular": "Helvetica",
    "bold": "Helvetica-Bold",
    "italic": "Helvetica-Oblique",
    "mono": "Courier",
    "serif": "Times-Roman",
}


@dataclass
class Page:
    """One page; places are in points from its top left, texts are Latin-1."""

    width: float = 595
    height: float = 842
    rotate: int = 0
    operators: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 10,
        font: str = "regular",
        colour: tuple[float, float, float] = (0, 0, 0),
        mode: int = 0,
        matrix: str = "1 0 0 1",
    ) -> None:
        """Show a line whose baseline begins at (x, y); `mode` is its render mode, `matrix` its turn."""
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        red, green, blue = colour
        self.operators.append(
            f"BT {red} {green} {blue} rg {mode} Tr /{font} {size} Tf "
            f"{matrix} {x} {self.height - y} Tm ({escaped}) Tj ET"
        )

    def lines(
        self, x: float, y: float, *texts: str, size: float = 10, leading: float = 1.2, font: str = "regular"
    ) -> None:
        """Show lines below each other, the first one's baseline at (x, y)."""
        for number, text in enumerate(texts):
            self.text(x, y + number * size * leading, text, size=size, font=font)

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Draw a thin stroke."""
        self.operators.append(f"{x0} {self.height - y0} m {x1} {self.height - y1} l S")

    def box(
        self, left: float, top: float, right: float, bottom: float, colour: tuple[float, float, float]
    ) -> None:
        """Fill a box."""
        red, green, blue = colour
        self.operators.append(
            f"q {red} {green} {blue} rg {left} {self.height - bottom} {right - left} {bottom - top} re f Q"
        )

    def clip(self, left: float, top: float, right: float, bottom: float) -> None:
        """Show nothing outside a box from here on."""
        self.operators.append(f"{left} {self.height - bottom} {right - left} {bottom - top} re W n")


def write_pdf(*pages: Page, outline: list[tuple[str, int]] | None = None) -> bytes:
    """A PDF of these pages; `outline` lists bookmarks as title and page, counted from 1."""
    fonts = " ".join(
        f"/{key} << /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
        for key, name in FONTS.items()
    )
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R" + (f" /Outlines {3 + 2 * len(pages)} 0 R >>" if outline else " >>"),
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    for number, page in enumerate(pages):
        content = "\n".join(page.operators)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page.width} {page.height}] /Rotate {page.rotate} "
            f"/Resources << /Font << {fonts} >> >> /Contents {4 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    if outline:
        objects += _outline(outline, root=len(objects) + 1)
    body = "%PDF-1.4\n"
    offsets = []
    for number, value in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{value}\nendobj\n"
    entries = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{entries}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + table + trailer).encode("latin-1")


def _outline(entries: list[tuple[str, int]], root: int) -> list[str]:
    objects = [
        f"<< /Type /Outlines /First {root + 1} 0 R /Last {root + len(entries)} 0 R /Count {len(entries)} >>"
    ]
    for number, (title, page) in enumerate(entries, start=1):
        links = f" /Prev {root + number - 1} 0 R" if number > 1 else ""
        links += f" /Next {root + number + 1} 0 R" if number < len(entries) else ""
        objects.append(
            f"<< /Title ({title}) /Parent {root} 0 R{links} /Dest [{1 + 2 * page} 0 R /XYZ null null null] >>"
        )
    return objects
