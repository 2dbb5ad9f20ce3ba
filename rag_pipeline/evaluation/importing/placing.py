"""Where a context that somebody copied out of a document stands among what is indexed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.evaluation.quotes import without_space
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.query.scripts import HAN

_WORD: Final = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")
# Shorter ones stand in many documents by chance.
_SHORTEST_SENTENCE: Final = 20
_LONGEST_QUOTE: Final = 1_000
# Of a context, for choosing the sentence that tells most.
_MOST_READ: Final = 50_000


@dataclass(frozen=True, slots=True)
class Placed:
    """The documents that hold a context, and its sentence that says most of what is right.

    No document: it stands nowhere. Several: it cannot be told which one is meant.
    """

    documents: tuple[str, ...]
    quote: str


class Placing:
    """Finds contexts in documents, given as their texts by id. White space does not count."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents = {name: without_space(text) for name, text in documents.items()}
        self._found: dict[str, tuple[str, ...]] = {}

    def place(self, context: str, about: str) -> Placed:
        """Where a context stands. Its quote is the sentence that shares most words with `about`.

        Where the whole context stands nowhere, since tables and headings are written otherwise elsewhere, the
        sentence decides, unless it is short.
        """
        cleaned = clean(context).text
        quote = _most_telling(cleaned, about)
        documents = self._holding(cleaned)
        if not documents and len(quote) >= _SHORTEST_SENTENCE:
            documents = self._holding(quote)
        return Placed(documents, quote)

    def _holding(self, text: str) -> tuple[str, ...]:
        wanted = without_space(text)
        if wanted not in self._found:
            self._found[wanted] = tuple(
                name for name, held in self._documents.items() if wanted and wanted in held
            )
        return self._found[wanted]


def _most_telling(context: str, about: str) -> str:
    wanted = _words(about)
    read = context[:_MOST_READ]
    sentences = [read[start:end].strip() for start, end in sentence_spans(read)]
    short = [one for one in sentences if one and len(one) <= _LONGEST_QUOTE]
    # The first of equals; a long sentence shares words with anything, so that its length counts against it.
    best = max(short, key=lambda one: len(wanted & _words(one)) - len(one) / _LONGEST_QUOTE, default=read)
    return best[:_LONGEST_QUOTE].strip()


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
