"""How much of what is drawn on a page is no text: charts, photographs, handwriting that OCR does not find."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_pipeline.normalize.scans.ocr import Picture, Quads

# The least and the sure contrast of an edge, of 255; noise and paper have less.
_EDGE: Final = (100, 200)
# A page with fewer edges than this share of its pixels is almost empty: a stain on it is no drawing.
_DRAWN: Final = 0.005


def share_without_text(picture: "Picture", quads: "Quads") -> float:
    """The share of a picture's edges that lie outside its lines of text, 0 to 1; 0 on an almost empty page.

    Edges rather than ink: a coloured ground has much ink, and nothing that could be read.
    """
    import cv2
    import numpy as np

    edges = cv2.Canny(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), *_EDGE) > 0
    if edges.mean() < _DRAWN:
        return 0.0
    text = np.zeros(edges.shape, np.uint8)
    for quad in quads:
        cv2.fillPoly(text, [quad.round().astype(np.int32)], (1,))
    return float(edges[text == 0].sum() / edges.sum())
