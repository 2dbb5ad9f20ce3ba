"""XQuAD with articles left out: the same questions, once with their article in the index and once without.

The articles are dealt into four hands. For each hand there is a tenant whose sources, one a language, hold
the articles of the other three.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.material import BENCH_CACHE, data_root
from benchmarks.small_talk import SMALL_TALK
from rag_pipeline.embedding.embedder import Embedder, Vector
from rag_pipeline.embedding.passing_on import PassingOn
from rag_pipeline.query.results import QueryResult
from rag_pipeline.query.retrieval import retrieve
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline_tests.knowledge_base import KnowledgeBase, scope_of

LANGUAGES = ("en", "zh")
HANDS = 4


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `paragraph` is the path of the document that answers it, None for small talk.

    The questions of one `part` are fitted, those of the other measured; no article is in both.
    """

    text: str
    paragraph: str | None
    hand: int
    part: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked in `question_language` of passages in `languages`."""

    question: Question
    question_language: str
    languages: tuple[str, ...]
    answerable: bool
    result: QueryResult

    def is_right(self, document_id: str) -> bool:
        """Whether a document is the paragraph that the question was asked about, in whatever language."""
        return self.answerable and document_id.split("/", 1)[1] == self.question.paragraph


def source(language: str, hand: int) -> str:
    """The source that holds a language's articles of all hands but this one."""
    return f"xquad_{language}_without_{hand}"


def sources() -> list[str]:
    """All sources."""
    return [source(language, hand) for language in LANGUAGES for hand in range(HANDS)]


def write_sources(base: KnowledgeBase) -> dict[str, list[Question]]:
    """Write the paragraphs of all sources, each as a document under its article's title; the questions."""
    questions: dict[str, list[Question]] = {}
    for language in LANGUAGES:
        found = questions[language] = []
        for number, article in enumerate(_articles(language)):
            title, hand = article["title"].replace("_", " "), number % HANDS
            for place, paragraph in enumerate(article["paragraphs"]):
                path = f"{article['title']}_{place}.md"
                for other in set(range(HANDS)) - {hand}:
                    base.write(source(language, other), {path: f"# {title}\n\n{paragraph['context']}\n"})
                part = number // HANDS % 2
                found += (Question(one["question"], path, hand, part) for one in paragraph["qas"])
        lines = enumerate(SMALL_TALK[language])
        found += (Question(line, None, number % HANDS, number // HANDS % 2) for number, line in lines)
        for hand in range(HANDS):
            base.manifest(source(language, hand), roles=None, tenant=f"without_{hand}", language=language)
    return questions


def _articles(language: str) -> list[Any]:
    articles: list[Any] = json.loads((data_root() / "questions" / f"xquad.{language}.json").read_bytes())[
        "data"
    ]
    return articles


def ask_all(
    base: KnowledgeBase,
    questions: Mapping[str, Sequence[Question]],
    embedder: Embedder,
    options: RetrievalOptions,
) -> Iterator[Asked]:
    """Ask every question of passages in its own language, in the other one and in both.

    Once without its article, and once with it, unless it is small talk.
    """
    for language, asked in questions.items():
        for languages in (("en",), ("zh",), LANGUAGES):
            for hand in range(HANDS):
                without = [one for one in asked if one.hand == hand]
                with_it = [one for one in asked if one.paragraph and (one.hand + 1) % HANDS == hand]
                results = retrieve(
                    [one.text for one in (*without, *with_it)],
                    scope_of(
                        tenant=f"without_{hand}",
                        source_ids=tuple(source(one, hand) for one in languages),
                    ),
                    open_client=base.opened,
                    alias=base.settings.alias,
                    embedder_of=lambda model: embedder,
                    ledger=base.services.ledger,
                    baselines=base.services.baselines,
                    options=options,
                ).results
                for number, (one, result) in enumerate(zip((*without, *with_it), results, strict=True)):
                    yield Asked(one, language, languages, number >= len(without), result)


class RememberingEmbedder(PassingOn):
    """An embedder that keeps the vectors of questions, also from one measurement to the next."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._file = BENCH_CACHE / f"questions_{embedder.identity.key.replace('/', '_')}.npz"
        self._known: dict[str, Vector] = {}
        if self._file.exists():
            with np.load(self._file) as kept:
                self._known = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = math.inf) -> list[Vector]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors_of_new = super().embed_queries(new, timeout_seconds=timeout_seconds)
            self._known.update(zip(new, vectors_of_new, strict=True))
            vectors = np.stack(list(self._known.values()))
            np.savez(self._file, texts=np.array(list(self._known)), vectors=vectors)
        return [self._known[text] for text in texts]
