"""Reading text from images with rapidocr, whose models are part of its wheel: nothing is ever downloaded."""

import logging
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_pipeline.normalize.page_text import Line

if TYPE_CHECKING:
    from PIL.Image import Image

# Below this mean confidence a reader should be told. Clean scans reach 0.95 and more.
LOW_CONFIDENCE = 0.8


class Recognized(NamedTuple):
    """The lines of an image from top to bottom, boxes in pixels, and the mean confidence (0 to 1)."""

    lines: tuple[Line, ...]
    confidence: float


def recognize(image: "Image", *, threads: int) -> Recognized:
    """The text lines of an image. One on its side is turned upright first; boxes are of the turned image."""
    upright = _read(image, threads)
    if not _on_its_side(upright):
        return upright
    # Pillow turns counterclockwise; a page that was turned either way comes upright in one of these.
    turned = [upright, *(_read(image.rotate(angle, expand=True), threads) for angle in (90, 270))]
    return max(turned, key=lambda result: result.confidence * sum(len(line.text) for line in result.lines))


def _on_its_side(result: Recognized) -> bool:
    """Whether most text stands taller than wide, as on a page turned by 90 degrees or in vertical writing."""
    long = [line for line in result.lines if len(line.text) > 2] or list(result.lines)
    return sum(line.height > 1.5 * (line.box[2] - line.box[0]) for line in long) > len(long) / 2


def _read(image: "Image", threads: int) -> Recognized:
    import numpy as np

    result = _engine(threads)(np.asarray(image.convert("RGB"))[:, :, ::-1])  # it expects BGR, as OpenCV does
    if result.txts is None or result.boxes is None:
        return Recognized((), 0.0)
    lines = [
        Line(text, (float(min(xs)), float(min(ys)), float(max(xs)), float(max(ys))))
        for text, box in zip(result.txts, result.boxes, strict=True)
        for xs, ys in [zip(*box, strict=True)]
        if text.strip()
    ]
    return Recognized(tuple(_in_rows(lines)), fmean(result.scores) if result.scores else 0.0)


def _in_rows(lines: list[Line]) -> list[Line]:
    """Lines from top to bottom, those beside each other from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box[1] + line.box[3]):
        middle = (line.box[1] + line.box[3]) / 2
        if rows and rows[-1][0].box[1] <= middle <= rows[-1][0].box[3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.box[0])]


@cache
def _engine(threads: int) -> Any:
    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
