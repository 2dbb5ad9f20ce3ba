"""What cases unfold to, as one JSON value for the page's script, with every passage in it once."""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from rag_pipeline.evaluation.report.phrases import is_imperfect
from rag_pipeline.evaluation.result import CaseResult
from rag_pipeline.query.trace import Attempt, Trace, UsedEvidence

Value = TypeVar("Value")


class _Numbered(Generic[Value]):
    """Values in the order in which they first came, each under a number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.values: list[Value] = []

    def number(self, key: Hashable, value: Value) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def trace_data(cases: Iterable[CaseResult]) -> dict[str, Any]:
    """The traces and scores of cases in their order; chunks and repeated words are told by their number.

    `chunks` are [chunk_id, document_id, text or null]; `words` names of steps, scores and reasons. A score is
    [word, score, whether it could be better]; an evidence
    [label, chunk, relevance, score, [[word, part of the score]], whether it is cited]; a rejected candidate
    [chunk, word, relevance or null]; a step [word, milliseconds].
    """
    chunks: _Numbered[list[str | None]] = _Numbered()
    words: _Numbered[str] = _Numbered()
    found = [
        {
            "scores": [
                [words.number(name, name), _rounded(value), is_imperfect(name, value)]
                for name, value in case.scores.items()
            ],
            "trace": None if case.trace is None else _trace(case.trace, case.answer, chunks, words),
        }
        for case in cases
    ]
    return {"cases": found, "chunks": chunks.values, "words": words.values}


def _trace(
    trace: Trace, answer: str, chunks: _Numbered[list[str | None]], words: _Numbered[str]
) -> dict[str, Any]:
    cited = {one for claim in trace.citations for one in claim.evidence_ids}
    told = {
        "id": trace.trace_id,
        "reason": trace.reason,
        "queries": [one for one in trace.queries if trace.queries != [trace.question]],
        "sources": trace.sources,
        "scope": trace.scope,
        "notes": trace.notes,
        "think": trace.think_note,
        "tools": trace.tool_calls,
        "conflicts": [one.model_dump(mode="json") for one in trace.conflicts],
        "attempts": [_attempt(one, answer) for one in trace.attempts],
        "evidence": [_evidence(one, one.evidence_id in cited, chunks, words) for one in trace.evidence],
        "rejected": [
            [
                # Under its id alone: its text is not known, and another case may have it as evidence.
                chunks.number(one.chunk_id, [one.chunk_id, one.document_id, None]),
                words.number(one.reason, one.reason),
                _rounded(one.relevance),
            ]
            for one in trace.rejected
        ],
        "steps": [[words.number(one.step, one.step), _rounded(one.milliseconds)] for one in trace.steps],
    }
    return {name: value for name, value in told.items() if value not in (None, "", [], {})}


def _attempt(attempt: Attempt, answer: str) -> dict[str, Any]:
    """A draft; its text only where the answer, which the page shows anyway, does not hold it."""
    told = {"by": attempt.by, "model": attempt.model, "problems": attempt.problems}
    return told if attempt.text is None or attempt.text in answer else told | {"text": attempt.text}


def _evidence(
    one: UsedEvidence, cited: bool, chunks: _Numbered[list[str | None]], words: _Numbered[str]
) -> list[Any]:
    number = chunks.number((one.chunk_id, one.text), [one.chunk_id, one.document_id, one.text])
    parts = _parts(one.reasons, words)
    return [one.label, number, _rounded(one.relevance), _rounded(one.score), parts, cited]


def _parts(reasons: Mapping[str, float], words: _Numbered[str]) -> list[Any]:
    return [[words.number(name, name), _rounded(value)] for name, value in reasons.items()]


def _rounded(value: float | None) -> float | None:
    # JSON has no number for what is not finite, and one such would keep the script from reading all others.
    return round(value, 4) if value is not None and math.isfinite(value) else None
