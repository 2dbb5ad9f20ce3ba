"""What of a chunk is repeated in front of the next one."""

from collections.abc import Callable

from rag_pipeline.chunking.packing import Group
from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.normalize.document import BlockKind

_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE})


def overlap(markdown: str, before: Group, tokens: Callable[[str], int], largest: int) -> str:
    """The last whole sentences of a chunk that take at most `largest` tokens together.

    Empty where its last sentence is longer, goes on in the next chunk, or is no sentence (code, a table).
    """
    if not before[-1].closes or before[-1].kind not in _PROSE:
        return ""
    first = len(before) - 1
    while first > 0 and before[first - 1].kind in _PROSE:
        first -= 1
    text = markdown[before[first].start : before[-1].end]
    spans = sentence_spans(text)
    if not before[first].opens:
        spans = spans[1:]
    taken = len(text)
    left = largest
    for start, end in reversed(spans):
        left -= tokens(text[start:end])
        if left < 0:
            break
        taken = start
    return text[taken:]
