"""Retrieval quality on XQuAD: is the paragraph found that a question was asked about?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.embedded import vectors_kept_in
from benchmarks.figures import Figure, at_least, noted
from benchmarks.material import BENCH_CACHE, data_root
from rag_pipeline.query.results import RetrievedChunk
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline_tests.knowledge_base import KnowledgeBase, scope_of
from rag_pipeline_tests.qdrant_server import running_server

_TARGETS = {"en": (0.95, 0.97), "zh": (0.925, 0.955)}


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    paragraph: str
    """The path of the right document in its source."""


def measure(folder: Path) -> Iterator[Figure]:
    """Each language on its own paragraphs, then Chinese questions on English paragraphs."""
    # On the server, since the embedded store takes some tenths of a second a question.
    with running_server(folder / "server") as server:
        base = KnowledgeBase(folder, server, embedding_provider="local")
        with vectors_kept_in(BENCH_CACHE, base, [_source(language) for language in _TARGETS]):
            questions = {language: _write_paragraphs(base, language) for language in _TARGETS}
            for language in _TARGETS:
                base.index(_source(language))
        yield from _measure_indexed(base, questions)


def _measure_indexed(base: KnowledgeBase, questions: Mapping[str, Sequence[_Question]]) -> Iterator[Figure]:
    for language, (hit_target, rank_target) in _TARGETS.items():
        ranks = _ranks(base, questions[language], _source(language))
        yield at_least(f"{language}: hit@1 of {len(ranks)} questions", _hits(ranks), hit_target)
        yield at_least(f"{language}: mean reciprocal rank", _mean_reciprocal(ranks), rank_target)
    crossed = _ranks(base, questions["zh"], _source("en"))
    yield noted("zh questions on en paragraphs: hit@1", f"{_hits(crossed):.3f}")
    yield noted("zh questions on en paragraphs: mean reciprocal rank", f"{_mean_reciprocal(crossed):.3f}")


def _source(language: str) -> str:
    return f"xquad_{language}"


def _write_paragraphs(base: KnowledgeBase, language: str) -> list[_Question]:
    """Write each paragraph as a document under its article's title; return the questions about them."""
    source = _source(language)
    articles = json.loads((data_root() / "questions" / f"xquad.{language}.json").read_bytes())["data"]
    questions: list[_Question] = []
    for article in articles:
        title = article["title"].replace("_", " ")
        for number, paragraph in enumerate(article["paragraphs"]):
            path = f"{article['title']}_{number}.md"
            base.write(source, {path: f"# {title}\n\n{paragraph['context']}\n"})
            questions += (_Question(one["question"], path) for one in paragraph["qas"])
    base.manifest(source, roles=[source], language=language)
    return questions


def _ranks(base: KnowledgeBase, questions: Sequence[_Question], source: str) -> list[int | None]:
    """The rank of each question's paragraph among the documents found in a source, None if not found."""
    texts = [question.text for question in questions]
    results = base.retrieve(texts, scope_of(source), options=RetrievalOptions(min_relevance=0.0))
    return [
        _rank(result.chunks, f"{source}/{question.paragraph}")
        for question, result in zip(questions, results, strict=True)
    ]


def _rank(chunks: Sequence[RetrievedChunk], document_id: str) -> int | None:
    documents = list(dict.fromkeys(chunk.document_id for chunk in chunks))
    return documents.index(document_id) + 1 if document_id in documents else None


def _hits(ranks: Sequence[int | None]) -> float:
    return ranks.count(1) / len(ranks)


def _mean_reciprocal(ranks: Sequence[int | None]) -> float:
    return sum(1 / rank for rank in ranks if rank) / len(ranks)
