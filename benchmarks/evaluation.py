"""Other people's question sets through a whole evaluation: what is found, answered, refused, and how fast."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.embedded import vectors_kept_in
from benchmarks.figures import Figure, at_most, none_of, noted
from benchmarks.material import BENCH_CACHE, data_root
from rag_pipeline.evaluation.case import Case, QuestionSet
from rag_pipeline.evaluation.evaluating import EvaluationOptions, evaluate
from rag_pipeline.evaluation.gates import Gates
from rag_pipeline.evaluation.importing.imported import Imported
from rag_pipeline.evaluation.importing.squad import read_squad
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.result import Dimension, Evaluation, Slice
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_TIMED_CASES = 1_000
_MOST_SECONDS = 180.0
_METRICS = ("hit@1", "hit@5", "mrr", "ndcg", "recall", "context_precision", "quotes", "correctness",
            "citation_precision", "numbers_supported", "refusal_precision")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asked:
    """A set, the knowledge base of its paragraphs, and how long its evaluation took."""

    evaluation: Evaluation
    seconds: float


def measure(folder: Path) -> Iterator[Figure]:
    """SQuAD 2.0, of which every second question has no answer, then XQuAD in English and Chinese."""
    with running_server(folder / "server") as server:
        for name, language in (("squad2.en", "en"), ("xquad.en", "en"), ("xquad.zh", "zh")):
            base, questions = _indexed(folder / name, server, name, language)
            if name == "squad2.en":
                timed = _evaluated(base, name, _every(questions.cases, _TIMED_CASES))
                yield at_most(
                    f"{_TIMED_CASES:,} cases, extractive, server", timed.seconds, _MOST_SECONDS, " s"
                )
            asked = _evaluated(base, name, questions.cases)
            yield from _figures(name, asked)
            base.services.close()


def _indexed(
    folder: Path, server: StoreLocation, name: str, language: str
) -> tuple[KnowledgeBase, QuestionSet]:
    source = name.replace(".", "_")
    base = KnowledgeBase(folder, server, alias=f"bench_{source}", embedding_provider="local")
    with vectors_kept_in(BENCH_CACHE, base, [source]):
        imported: Imported = read_squad(
            data_root() / "questions" / f"{name}.json", source_id=source, title=name, groups=[source]
        )
        base.write(source, dict(imported.documents))
        base.manifest(source, roles=[source], language=language)
        base.index(source)
    return base, imported.questions


def _every(cases: Sequence[Case], count: int) -> Sequence[Case]:
    """So many of the cases, spread evenly."""
    return [cases[index * len(cases) // count] for index in range(count)]


def _evaluated(base: KnowledgeBase, name: str, cases: Sequence[Case]) -> _Asked:
    started = time.monotonic()
    sets = [NamedSet(name, QuestionSet(title=name, cases=tuple(cases)))]
    found = evaluate(sets, base.services, Gates(), options=EvaluationOptions(lifecycle=False))
    return _Asked(found, time.monotonic() - started)


def _figures(name: str, asked: _Asked) -> Iterator[Figure]:
    found = asked.evaluation
    overall = found.overall
    yield none_of(f"{name}: leaks", _of_gate(found, "leaks"))
    yield none_of(f"{name}: errored of {overall.n:,}", overall.errored)
    yield noted(f"{name}: seconds", f"{asked.seconds:.0f}")
    for metric in _METRICS:
        if told := _told(overall, metric):
            yield noted(f"{name}: {metric}", told)
    for one in found.slices:
        if one.dimension is Dimension.CATEGORY:
            yield noted(f"{name}: {one.name}, the outcome that is right", _told(one, "outcome"))
    yield noted(f"{name}: latency, p50 and p95", f"{_latency(overall, 50)}, {_latency(overall, 95)}")


def _told(part: Slice, name: str) -> str:
    metric = part.metric(name)
    return f"{metric.value:.3f} ({metric.low:.3f} to {metric.high:.3f}, n {metric.n:,})" if metric else ""


def _latency(part: Slice, quantile: int) -> str:
    metric = part.metric(f"latency_p{quantile}_ms")
    return f"{metric.value:.0f} ms" if metric else "unknown"


def _of_gate(evaluation: Evaluation, name: str) -> int:
    [gate] = [one for one in evaluation.gates if one.name == name]
    return len(gate.cases)
