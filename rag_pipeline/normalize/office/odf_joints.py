"""Marking in OpenDocument texts where formatting changes inside a word."""

from typing import Final

from rag_pipeline.normalize.office.odf_styles import TEXT, OdfStyles
from rag_pipeline.normalize.office.package import XmlElement, tag
from rag_pipeline.normalize.trees.joints import MARK, is_joint

_SPAN: Final = tag(TEXT, "span")


def mark_joints(root: XmlElement, styles: OdfStyles) -> None:
    """Mark both sides of each border of a span without a space; raised and lowered characters stay apart."""
    for span in root.iter(_SPAN):
        raised = styles.property(span.get(tag(TEXT, "style-name")), "style:text-position")
        if len(span) or not span.text or raised:
            continue
        previous, parent = span.getprevious(), span.getparent()
        before = parent.text if previous is None else previous.tail
        if is_joint(before or "", span.text):
            span.text = f"{MARK}{span.text}"
            if previous is None:
                parent.text = f"{before}{MARK}"
            else:
                previous.tail = f"{before}{MARK}"
        elif not before and _is_plain_span(previous) and is_joint(previous.text or "", span.text):
            previous.text, span.text = f"{previous.text}{MARK}", f"{MARK}{span.text}"
        if is_joint(span.text, span.tail or ""):
            span.text, span.tail = f"{span.text}{MARK}", f"{MARK}{span.tail}"


def _is_plain_span(element: XmlElement | None) -> bool:
    return element is not None and element.tag == _SPAN and not len(element)
