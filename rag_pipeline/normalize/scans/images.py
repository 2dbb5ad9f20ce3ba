"""Reading images by OCR, page by page where a TIFF holds several."""

import io
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.assembling import assemble
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.layout.page_text import Line, PageText
from rag_pipeline.normalize.layout.structure import structured
from rag_pipeline.normalize.markdown.blocks import first_title
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.scans.placement import placed_back
from rag_pipeline.normalize.scans.reading import ScannedPage, read_picture
from rag_pipeline.sources.manifest import OcrMode

if TYPE_CHECKING:
    from PIL.Image import Image

    from rag_pipeline.normalize.scans.ocr import Picture

# Pillow would look for all it knows, EPS among them, which it hands to Ghostscript.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
# 50 megapixels: a page of A3 scanned at 500 dpi. Decoded it takes 150 MB.
_MAX_PIXELS = 50_000_000


def convert_image(data: bytes, options: ParsingOptions) -> NormalizedDocument:
    """Read an image's text. Boxes are in pixels, since an image's size on paper is not known."""
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    if options.ocr is OcrMode.NEVER:
        raise DocumentError(
            FailureCategory.EMPTY, "An image has text only by OCR, and `parsing.ocr` is `never`."
        )
    scans: list[ScannedPage] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of large images; the limit below is stricter
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            frames = getattr(image, "n_frames", 1)
            if image.width * image.height > _MAX_PIXELS or frames > options.max_pages:
                raise DocumentError(
                    FailureCategory.OVER_LIMIT,
                    f"The image has {image.width} x {image.height} pixels and {frames} pages; "
                    f"{_MAX_PIXELS:,} and {options.max_pages} are allowed. Scale it down or split it.",
                )
            for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
                # As a viewer shows it: cameras store the turn beside the pixels.
                picture = _pixels(_on_white(ImageOps.exif_transpose(frame)))
                scans.append(read_picture(picture, number, unit=1.0, threads=options.ocr_threads))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError) as error:
        raise DocumentError(
            FailureCategory.CORRUPT, f"The image is damaged ({error}). Upload it again."
        ) from error
    structure = structured([_cleaned(scan.text) for scan in scans if scan.text.lines])
    structure = placed_back(structure, {scan.text.number: scan.placement for scan in scans if scan.placement})
    markdown, blocks = assemble(structure.pieces)
    return NormalizedDocument(
        markdown,
        blocks,
        first_title(markdown, blocks),
        len(scans),
        tuple(warning for scan in scans for warning in scan.warnings),
        tuple(decision for scan in scans for decision in scan.decisions),
        structure.removed,
    )


def _cleaned(page: PageText) -> PageText:
    def cleaned(lines: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple(replace(line, text=clean(line.text).text) for line in lines)

    return replace(page, lines=cleaned(page.lines), words=cleaned(page.words))


def _pixels(image: "Image") -> "Picture":
    """An image's pixels as OpenCV has them."""
    import numpy as np

    return np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])


def _on_white(image: "Image") -> "Image":
    """The image as a viewer shows it: black letters on a transparent ground would be black on black."""
    from PIL import Image

    if not image.has_transparency_data:
        return image
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
