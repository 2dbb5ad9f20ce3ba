"""How a document was read, in words: what was detected, chosen and removed, and why."""

from collections import Counter
from collections.abc import Iterator

from rag_pipeline.normalize.document import Block, BlockKind, NormalizedDocument, Removed

_EXCERPT = 80
_INDENT = 11


def explain(document: NormalizedDocument) -> str:
    """Lines for a terminal: decisions, warnings, blocks by kind, the outline, and every removal."""
    return "\n".join(f"  {label:<{_INDENT}}{text}" for label, text in _lines(document))


def _lines(document: NormalizedDocument) -> Iterator[tuple[str, str]]:
    yield "title", document.title or "(none)"
    if document.page_count is not None:
        yield "pages", str(document.page_count)
    for decision in document.decisions:
        yield "decided", decision
    for warning in document.warnings:
        yield "warning", warning
    yield "blocks", _counted(document.blocks)
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            heading = document.markdown[block.start : block.end].lstrip("# ")
            yield "outline", "  " * (block.level - 1) + _excerpt(heading) + _on_page(block.page)
    for removed in document.removed:
        yield "removed", _removal(removed)


def _counted(blocks: tuple[Block, ...]) -> str:
    counts = Counter(block.kind.value for block in blocks)
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common()) or "none"


def _removal(removed: Removed) -> str:
    return f"{removed.reason}{_on_page(removed.page)}: {_excerpt(removed.text)}"


def _on_page(page: int | None) -> str:
    return f" (page {page})" if page is not None else ""


def _excerpt(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"
