"""Marking in Word files where formatting changes inside a word."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from rag_pipeline.normalize.office.package import NAMESPACES, W, XmlElement, tag
from rag_pipeline.normalize.trees.joints import MARK, is_joint

_TEXT: Final = tag(W, "t")
_PARAGRAPH: Final = tag(W, "p")
_LINK: Final = tag(W, "hyperlink")
_FORMATS: Final = frozenset(tag(W, name) for name in ("b", "i", "u", "strike", "dstrike", "rStyle"))
_VAL: Final = tag(W, "val")


def mark_joints(root: XmlElement) -> None:
    """Mark both sides of each change of formatting without a space.

    Raised and lowered characters stay apart: 10 and a raised 3 must not become 103.
    """
    for paragraph in root.iter(_PARAGRAPH):
        for before, after in pairwise(_runs(paragraph)):
            if _format(before) == _format(after) or _is_raised(before) or _is_raised(after):
                continue
            left, right = before[-1], after[0 if after[0].tag == _TEXT or len(after) == 1 else 1]
            if left.tag == right.tag == _TEXT and is_joint(left.text or "", right.text or ""):
                left.text, right.text = f"{left.text}{MARK}", f"{MARK}{right.text}"


def _runs(paragraph: XmlElement) -> Iterator[XmlElement]:
    """The runs of a paragraph that show something, without those of text boxes in it."""
    for run in paragraph.iter(tag(W, "r")):
        shown = len(run) > (run.find("w:rPr", NAMESPACES) is not None)
        if shown and next(run.iterancestors(_PARAGRAPH)) is paragraph:
            yield run


def _format(run: XmlElement) -> tuple[object, ...]:
    properties = run.find("w:rPr", NAMESPACES)
    marks = () if properties is None else tuple((p.tag, p.get(_VAL)) for p in properties if p.tag in _FORMATS)
    link = next(run.iterancestors(_LINK), None)
    return (*sorted(marks, key=str), link)


def _is_raised(run: XmlElement) -> bool:
    return run.find("w:rPr/w:vertAlign", NAMESPACES) is not None
