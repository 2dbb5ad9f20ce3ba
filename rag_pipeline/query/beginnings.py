"""As much of a long query as the embedding model reads: what is longer it would refuse, or cut silently."""

import re

from rag_pipeline.embedding.embedder import Embedder

_LAST_WORD = re.compile(r"[A-Za-z0-9]+\Z")


def beginning(query: str, embedder: Embedder) -> str:
    """The query, or as many of its first characters as fit the model's window, without a part of a word."""

    def fits(characters: int) -> bool:
        text = embedder.identity.query_prefix + query[:characters]
        return embedder.count_tokens(text) <= embedder.max_tokens

    if fits(len(query)):
        return query
    most, too_many = 1, len(query)
    while too_many - most > 1:
        middle = (most + too_many) // 2
        if fits(middle):
            most = middle
        else:
            too_many = middle
    cut = query[:most]
    if query[most].isascii() and query[most].isalnum():
        cut = _LAST_WORD.sub("", cut)
    return cut.rstrip() or query[:most]
