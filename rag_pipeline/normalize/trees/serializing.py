"""docling's Markdown serializer as this project uses it. Import it late: it imports docling-core."""

from typing import Any

from docling_core.transforms.serializer.base import SerializationResult
from docling_core.transforms.serializer.markdown import (
    MarkdownDocSerializer,
    MarkdownFallbackSerializer,
    MarkdownInlineSerializer,
    MarkdownParams,
    MarkdownTableSerializer,
)
from docling_core.types.doc.common.content_layer import ContentLayer
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.group import GroupItem
from docling_core.types.doc.items.node import NodeItem

from rag_pipeline.normalize.trees.joints import joined

_SHEET = "sheet: "
"""What docling begins the name of a sheet's group with; Excel workbooks are not read by it."""


class _SheetHeadings(MarkdownFallbackSerializer):
    """Names each sheet of a workbook by a heading; without it, tables of different sheets run together."""

    def serialize(self, *, item: NodeItem, **kwargs: Any) -> SerializationResult:
        result = super().serialize(item=item, **kwargs)
        if isinstance(item, GroupItem) and item.name.startswith(_SHEET) and result.text.strip():
            result.text = f"## {item.name.removeprefix(_SHEET)}\n\n{result.text}"
        return result


class _EscapedTables(MarkdownTableSerializer):
    """Writes a bar inside a cell as Markdown does, not as an HTML entity, and joins the parts of a cell."""

    def serialize(self, **kwargs: Any) -> SerializationResult:
        result = super().serialize(**kwargs)
        result.text = joined(result.text).replace("&#124;", "\\|")
        return result


class _JoinedInline(MarkdownInlineSerializer):
    """Puts the parts of a paragraph together without the spaces that the document does not have."""

    def serialize(self, **kwargs: Any) -> SerializationResult:
        result = super().serialize(**kwargs)
        result.text = joined(result.text)
        return result


def serialized_parts(document: DoclingDocument, *, margins: bool) -> list[SerializationResult]:
    """The document's Markdown in parts, in reading order, each with the items that it came from.

    Speaker notes and comments are part of it, and headers, footers and footnotes if `margins` says so. No
    HTML entities and no escaped underscores are written: what is stored is what the document says.
    """
    layers = {ContentLayer.BODY, ContentLayer.NOTES}
    params = MarkdownParams(
        layers=layers | {ContentLayer.FURNITURE} if margins else layers,
        escape_html=False,
        escape_underscores=False,
        compact_tables=True,
        image_placeholder="",
        indent=2,
    )
    serializer = MarkdownDocSerializer(
        doc=document,
        params=params,
        fallback_serializer=_SheetHeadings(),
        table_serializer=_EscapedTables(),
        inline_serializer=_JoinedInline(),
    )
    return serializer.get_parts()
