"""A web page that shows a document's pages with the boxes of its blocks, beside the text that was read.

It is for looking at how a document was read. Text of the document is escaped, the page loads nothing and
runs no script, so that a hostile document stays data.
"""

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.document import Block, Box, NormalizedDocument

if TYPE_CHECKING:
    from PIL.Image import Image

# Wide enough to read body text on.
_IMAGE_WIDTH: Final = 1_000
_MOST_IMAGES: Final = 100

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem; color: #222; background: #fff }
section { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.5rem; margin: 0 0 2rem }
svg { width: 100%; border: 1px solid #ccc; height: auto }
rect { fill-opacity: .08; stroke-width: 1; fill: var(--kind); stroke: var(--kind) }
rect.removed { stroke-dasharray: 4 2 }
a:hover rect, rect:target { fill-opacity: .35 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 .6rem; padding: .2rem .6rem;
  font: inherit; border-left: 4px solid var(--kind) }
pre:target { background: #fff3bf }
.heading { --kind: #c2255c } .paragraph { --kind: #1971c2 } .list_item { --kind: #2f9e44 }
.table { --kind: #9c36b5 } .code { --kind: #5c5f66 } .quote { --kind: #e8590c } .other { --kind: #868e96 }
.removed { --kind: #e03131; color: #e03131 }
"""


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page's picture as PNG, and the page's size in the unit of the document's boxes."""

    png: bytes
    width: float
    height: float


def page_images(data: bytes, mime_type: str, passwords: Sequence[str] = ()) -> dict[int, PageImage]:
    """The pictures of a PDF's or an image's first pages, by number; none for formats without pages."""
    if mime_type == types.PDF:
        return dict(_pdf_images(data, passwords))
    if mime_type in types.IMAGES:
        return dict(_frames(data))
    return {}


def page_view(name: str, document: NormalizedDocument, images: Mapping[int, PageImage]) -> str:
    """The whole web page. Blocks without a page stand at its end."""
    numbers = sorted(set(images) | {place.page for block in document.blocks for place in block.places})
    sections = [_section(document, number, images.get(number)) for number in numbers]
    unplaced = [_text(document, i, block) for i, block in enumerate(document.blocks) if not block.places]
    unplaced += [_removed_text(r.reason, r.text) for r in document.removed if r.page is None]
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*document.decisions, *document.warnings))
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(name)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(name)}</h1><ul>{notes}</ul>"
        f"{''.join(sections)}<div>{''.join(unplaced)}</div></body></html>\n"
    )


def _section(document: NormalizedDocument, number: int, image: PageImage | None) -> str:
    here = [(i, b) for i, b in enumerate(document.blocks) if b.page == number]
    removed = [r for r in document.removed if r.page == number]
    texts = [_text(document, i, block) for i, block in here]
    texts += [_removed_text(r.reason, r.text) for r in removed]
    picture = ""
    if image:
        boxes = [
            f'<a href="#block-{i}">{_rect(place.box, block.kind.value, "")}</a>'
            for i, block in enumerate(document.blocks)
            for place in block.places
            if place.page == number and place.box
        ]
        boxes += [_rect(r.box, "removed", r.reason) for r in removed if r.box]
        encoded = base64.b64encode(image.png).decode()
        picture = (
            f'<svg viewBox="0 0 {image.width:.1f} {image.height:.1f}"><image width="{image.width:.1f}" '
            f'height="{image.height:.1f}" href="data:image/png;base64,{encoded}"/>{"".join(boxes)}</svg>'
        )
    return f"<h2>Page {number}</h2><section><div>{picture}</div><div>{''.join(texts)}</div></section>"


def _text(document: NormalizedDocument, index: int, block: Block) -> str:
    text = escape(document.markdown[block.start : block.end])
    return f'<pre id="block-{index}" class="{block.kind.value}">{text}</pre>'


def _removed_text(reason: str, text: str) -> str:
    return f'<pre class="removed">{escape(reason)}: {escape(text)}</pre>'


def _rect(box: Box, kind: str, title: str) -> str:
    left, top, right, bottom = box
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}"><title>{escape(title or kind)}</title></rect>'
    )


def _pdf_images(data: bytes, passwords: Sequence[str]) -> Iterator[tuple[int, PageImage]]:
    from rag_pipeline.normalize.pdf.reading import opened

    with opened(data, passwords) as (document, _):
        for index in range(min(len(document), _MOST_IMAGES)):
            page = document[index]
            width, height = page.get_size()
            scale = _IMAGE_WIDTH / max(width, height, 1.0)
            yield index + 1, PageImage(_png(page.render(scale=scale).to_pil()), width, height)


def _frames(data: bytes) -> Iterator[tuple[int, PageImage]]:
    from PIL import Image, ImageOps, ImageSequence

    image = Image.open(io.BytesIO(data))
    for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
        if number > _MOST_IMAGES:
            return
        upright = ImageOps.exif_transpose(frame)
        width, height = upright.size
        shown = upright.convert("RGB")
        shown.thumbnail((_IMAGE_WIDTH, _IMAGE_WIDTH))
        yield number, PageImage(_png(shown), width, height)


def _png(image: "Image") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
