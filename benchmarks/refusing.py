"""Relevance: is what cannot be answered refused, and what can be answered found, at the default threshold?"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.embedded import vectors_kept_in
from benchmarks.figures import Figure, at_least, at_most, noted
from benchmarks.fitting import fitted
from benchmarks.left_out import LANGUAGES, Asked, RememberingEmbedder, ask_all, sources, write_sources
from benchmarks.material import BENCH_CACHE
from rag_pipeline.query.relevance.calibration import Calibration
from rag_pipeline.query.relevance.defaults import default_calibration
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_FOUND = {"en": 0.95, "zh": 0.92}
_REFUSED = 0.95
_REFUSED_ANSWERABLE = 0.05
_PARTS = {0: "the part that was fitted", 1: "the part that was not"}


def measure(folder: Path) -> Iterator[Figure]:
    """With the local model, on half of XQuAD's articles and of some small talk; the other half was fitted."""
    yield from _measure(folder, "local", promised=True)


def measure_hashing(folder: Path) -> Iterator[Figure]:
    """The same with the embedder that has no model."""
    yield from _measure(folder, "hashing", promised=False)


def _measure(folder: Path, provider: str, *, promised: bool) -> Iterator[Figure]:
    with running_server(folder / "server") as server:
        base = KnowledgeBase(folder, server, embedding_provider=provider, workers=2)
        questions = write_sources(base)
        with vectors_kept_in(BENCH_CACHE, base, sources()):
            for one in sources():
                base.index(one)
        embedder = RememberingEmbedder(base.services.embedder)
        asked = list(ask_all(base, questions, embedder, RetrievalOptions(min_relevance=0.0)))
    calibration = default_calibration(embedder.identity.to_json())
    for part, name in _PARTS.items():
        yield noted("questions", name)
        measured = [one for one in asked if one.question.part == part]
        yield from _figures(measured, calibration, promised=promised and part == 1)
    fit = fitted([one for one in asked if one.question.part == 0], calibration.fitted_for)
    yield noted("weights in use", calibration.model_dump_json())
    yield noted("weights that a fit would give now", fit.model_dump_json())


def _figures(asked: Sequence[Asked], calibration: Calibration, *, promised: bool) -> Iterator[Figure]:
    for language in LANGUAGES:
        own = [one for one in asked if one.languages == (language,) and one.question_language == language]
        found = _share([_finds_right(one, calibration) for one in own if one.answerable])
        refused = [
            not _finds(one, calibration) for one in own if not one.answerable and one.question.paragraph
        ]
        talk = [not _finds(one, calibration) for one in own if not one.question.paragraph]
        lost = _share([not _finds(one, calibration) for one in own if one.answerable])
        if promised:
            yield at_least(f"{language}: right paragraph among the chunks", found, _FOUND[language])
            yield at_least(f"{language}: refused of {len(refused)} left out", _share(refused), _REFUSED)
            yield at_least(f"{language}: refused of {len(talk)} lines of small talk", _share(talk), _REFUSED)
            yield at_most(f"{language}: share of answerable ones refused", lost, _REFUSED_ANSWERABLE)
        else:
            yield noted(
                language,
                f"right {found:.3f}, left out refused {_share(refused):.3f}, "
                f"small talk refused {_share(talk):.3f}, answerable refused {lost:.3f}",
            )
    for language in LANGUAGES:
        for languages in [*((other,) for other in LANGUAGES if other != language), LANGUAGES]:
            chosen = [
                one for one in asked if one.languages == languages and one.question_language == language
            ]
            found = _share([_finds_right(one, calibration) for one in chosen if one.answerable])
            away = _share([not _finds(one, calibration) for one in chosen if not one.answerable])
            yield noted(
                f"{language} questions on {' and '.join(languages)} passages",
                f"right {found:.3f}, others refused {away:.3f}",
            )


def _finds(asked: Asked, calibration: Calibration) -> bool:
    """Whether anything is above the threshold."""
    return any(calibration.relevance(chunk.signals) >= calibration.threshold for chunk in asked.result.chunks)


def _finds_right(asked: Asked, calibration: Calibration) -> bool:
    return any(
        calibration.relevance(chunk.signals) >= calibration.threshold
        for chunk in asked.result.chunks
        if asked.is_right(chunk.document_id)
    )


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values)
