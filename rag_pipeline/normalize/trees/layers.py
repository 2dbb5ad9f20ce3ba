"""What docling's tree keeps apart from the body: hidden content, headers, footers. Import it late."""

from collections.abc import Iterator
from typing import Final

from docling_core.types.doc.common.content_layer import ContentLayer
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.group import GroupItem, ListGroup
from docling_core.types.doc.items.node import NodeItem
from docling_core.types.doc.items.table.table import TableItem
from docling_core.types.doc.items.text import ListItem, TextItem
from docling_core.types.doc.labels import GroupLabel

from rag_pipeline.normalize.document import Removed

_HEADER: Final = "page header"
_FOOTER: Final = "page footer"


def order_margins(document: DoclingDocument) -> None:
    """Put headers before the body and footers after it, each text once: sections repeat them."""
    seen: set[str] = set()
    groups: dict[str, list[int]] = {_HEADER: [], _FOOTER: []}
    others = []
    children = document.body.children
    for number, reference in enumerate(children):
        item = reference.resolve(document)
        if not (
            isinstance(item, GroupItem)
            and item.content_layer is ContentLayer.FURNITURE
            and item.name in groups
        ):
            others.append(number)
            continue
        text = "\n".join(_texts(document, item, {ContentLayer.FURNITURE}))
        if text not in seen:
            groups[item.name].append(number)
        seen.add(text)
    document.body.children = [children[number] for number in (*groups[_HEADER], *others, *groups[_FOOTER])]


def free_from_lists(document: DoclingDocument) -> None:
    """Put what follows a list beside it: docling makes the first heading after an early list a part of it."""
    for group in [group for group in document.groups if isinstance(group, ListGroup)]:
        strays = [child for child in group.children if not isinstance(child.resolve(document), ListItem)]
        if not strays:
            continue
        group.children = [child for child in group.children if isinstance(child.resolve(document), ListItem)]
        last: NodeItem = group
        while isinstance(around := _parent(document, last), (ListItem, ListGroup)):
            last = around
        at = around.children.index(last.get_ref()) + 1
        around.children[at:at] = strays
        for stray in strays:
            stray.resolve(document).parent = around.get_ref()


def _parent(document: DoclingDocument, item: NodeItem) -> NodeItem:
    return document.body if item.parent is None else item.parent.resolve(document)


def mark_comments(document: DoclingDocument) -> None:
    """Begin the text of each comment with the word, since its author and time alone do not say what it is."""
    for group in document.groups:
        if group.label == GroupLabel.COMMENT_SECTION:
            for reference in group.children:
                item = reference.resolve(document)
                if isinstance(item, TextItem):
                    item.text = (
                        f"Comment {item.text}" if item.text.startswith("[") else f"Comment: {item.text}"
                    )


def left_out(document: DoclingDocument, reasons: dict[ContentLayer, str]) -> list[Removed]:
    """The texts of the layers that `reasons` names, one passage for each child of the body and layer."""
    removed = []
    for reference in document.body.children:
        item = reference.resolve(document)
        for layer, reason in reasons.items():
            if text := "\n".join(_texts(document, item, {layer})):
                removed.append(Removed(reason, text, _page(document, item)))
    return removed


def _texts(document: DoclingDocument, root: NodeItem, layers: set[ContentLayer]) -> Iterator[str]:
    items = document.iterate_items(root=root, traverse_pictures=True, included_content_layers=layers)
    for item, _ in items:
        if isinstance(item, TextItem) and item.text.strip():
            yield item.text.strip()
        elif isinstance(item, TableItem):
            for row in item.data.grid:
                if any(cell.text.strip() for cell in row):
                    yield " | ".join(cell.text.strip() for cell in row)


def _page(document: DoclingDocument, root: NodeItem) -> int | None:
    for item, _ in document.iterate_items(root=root, included_content_layers=set(ContentLayer)):
        prov = getattr(item, "prov", None)
        if prov:
            return int(prov[0].page_no)
    return None
