"""The words of a text that carry its matter, so that two texts can be compared by what they speak of."""

import re
from collections.abc import Iterator
from functools import lru_cache

from rag_pipeline.embedding.text import valid_text
from rag_pipeline.index.sparse import query_terms
from rag_pipeline.query.scripts import HAN

_HAN_RUN = re.compile(f"[{HAN}]+")
_WORD = re.compile(rf"[^\W_{HAN}]+(?:['’][^\W\d_]+)?")
# Words that questions and answers are built with. Those that BM25 leaves out anyway are not named.
_FUNCTION_WORDS = """
about after again all also am any are be been before being can could did do does doing done each get
gets got had has have having he her his how i if in is it's its just may me might more most much
many must my of on only or other our own please same shall she should so some tell than that's their
them then there's these they those upon us used using very was we were what what's when where which
while who whom whose why will within would yes you your
"""
_SKIPPED = frozenset(_FUNCTION_WORDS.split())
# Where runs of Han characters are cut before they are taken two by two. Longest first.
_HAN_FUNCTION_WORDS = re.compile(
    "为什么|什么时候|有没有|是不是|什么|多少|多久|哪些|哪个|哪里|怎么|怎样|如何|是否|能否|可否|请问|以及|或者|因为|所以|但是|如果|"
    "他们|她们|它们|我们|你们|这个|那个|这些|那些|一个|一些|的|了|是|在|和|与|及|或|吗|呢|吧|啊|把|被|也|都|就|还|而|之|其|"
    "我|你|他|她|它|这|那|谁|哪|几|请|应|须|需"
)
_FIRST = re.compile(rf"{_WORD.pattern}|[{HAN}]{{1,2}}")

Terms = frozenset[int | str]
"""Numbers for stemmed words, pairs of characters for Han text."""


@lru_cache(maxsize=4_096)
def content_terms(text: str) -> Terms:
    """The stemmed words and pairs of Han characters of a text, without function words.

    Latin words are stemmed as the search stems them. Chinese is taken by pairs of neighbouring characters:
    where its words end depends on what stands around them, and a claim puts them elsewhere than its source.
    """
    text = valid_text(text)
    words = [word for word in _WORD.findall(text.lower()) if word not in _SKIPPED]
    return frozenset(query_terms(" ".join(words)).indices) | frozenset(_han_pairs(text))


def _han_pairs(text: str) -> Iterator[str]:
    for run in _HAN_RUN.findall(text):
        for part in _HAN_FUNCTION_WORDS.split(run):
            if len(part) == 1:
                yield part
            yield from (part[at : at + 2] for at in range(len(part) - 1))


def first_term(text: str) -> Terms:
    """The first content word of a text, or nothing."""
    for match in _FIRST.finditer(valid_text(text)):
        if terms := content_terms(match[0]):
            return terms
    return Terms()
