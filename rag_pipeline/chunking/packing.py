"""Packing a section's pieces into chunks of about the target size."""

from collections.abc import Iterable

from rag_pipeline.chunking.pieces import Piece
from rag_pipeline.normalize.document import BlockKind

Group = list[Piece]
"""The pieces of one chunk, in order."""


def pack(pieces: Iterable[Piece], *, target: int, limit: int, minimum: int) -> list[Group]:
    """Join neighbours until the next one would exceed `target` tokens.

    A group with less than `minimum` tokens, or of headings only, is filled up to `limit`, and a last group
    with less than `minimum` joins the one before where both fit `limit`.
    """
    groups: list[Group] = []
    size = 0
    for piece in pieces:
        joined = size + piece.tokens
        if groups and (joined <= target or (joined <= limit and _is_unfinished(groups[-1], minimum))):
            groups[-1].append(piece)
            size = joined
        else:
            groups.append([piece])
            size = piece.header_tokens + piece.tokens
    if len(groups) > 1:
        last, before = groups[-1], groups[-2]
        size = before[0].header_tokens + _tokens(before) + _tokens(last)
        if _tokens(last) < minimum and size <= limit:
            groups[-2:] = [before + last]
    return groups


def _is_unfinished(group: Group, minimum: int) -> bool:
    return group[-1].kind is BlockKind.HEADING or _tokens(group) < minimum


def _tokens(group: Group) -> int:
    return sum(piece.tokens for piece in group)
