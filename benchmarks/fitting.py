"""Fitting a calibration to XQuAD and small talk, as the defaults were."""

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.left_out import Asked
from rag_pipeline.evaluation.calibrating.regression import fit_groups, moved, rounded
from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.signals import ScriptPair, Signals
from rag_pipeline.query.results import RetrievedChunk

# Of what cannot be answered, the best chunks are the ones to tell from right ones.
_NEGATIVES_A_QUESTION = 3
# Where the threshold is laid. In one script: so that few answerable questions lose their paragraph to it.
# From one to the other, where cosines of good and bad chunks overlap: so that most others find nothing, and
# most small talk.
_LOST = 0.035
_REFUSED_ACROSS = 0.95
# What small talk weighs among what cannot be answered: it is little, and in a tone of its own.
_SMALL_TALK = 0.3
_DIGITS = 2

_PAIRS = {
    ScriptPair.NEITHER: ("en", "en"),
    ScriptPair.BOTH: ("zh", "zh"),
    ScriptPair.QUERY: ("zh", "en"),
    ScriptPair.CHUNK: ("en", "zh"),
}


def fitted(asked: Sequence[Asked], fitted_for: str) -> Calibration:
    """The calibration that tells right chunks from the best ones of unanswerable questions, threshold 0.5."""
    weights: dict[ScriptPair, Weights] = {}
    for pair, (question, passages) in _PAIRS.items():
        chosen = [one for one in asked if (one.question_language, one.languages) == (question, (passages,))]
        found = _fitted_weights(chosen)
        if question == passages:
            at = np.quantile(_right_logits(chosen, found), _LOST)
        else:
            others = [one for one in chosen if not one.answerable]
            talk = [one for one in others if not one.question.paragraph]
            at = max(np.quantile(_best_logits(some, found), _REFUSED_ACROSS) for some in (others, talk))
        weights[pair] = rounded(moved(found, -float(at)), _DIGITS)
    return Calibration(fitted_for=fitted_for, weights=weights)


def _fitted_weights(asked: Sequence[Asked]) -> Weights:
    right = [
        chunk
        for one in asked
        if one.answerable
        for chunk in one.result.chunks
        if one.is_right(chunk.document_id)
    ]
    left_out = _best_chunks(one for one in asked if not one.answerable and one.question.paragraph)
    talk = _best_chunks(one for one in asked if not one.question.paragraph)
    wrong = [(_signals(left_out), 1 - _SMALL_TALK), (_signals(talk), _SMALL_TALK)]
    return fit_groups(_signals(right), wrong)


def _signals(chunks: Iterable[RetrievedChunk]) -> list[Signals]:
    return [chunk.signals for chunk in chunks]


def _best_chunks(asked: Iterable[Asked]) -> list[RetrievedChunk]:
    return [chunk for one in asked for chunk in one.result.chunks[:_NEGATIVES_A_QUESTION]]


def _right_logits(asked: Iterable[Asked], weights: Weights) -> list[float]:
    """For each answerable question the logit of its paragraph."""
    return [
        _best((chunk for chunk in one.result.chunks if one.is_right(chunk.document_id)), weights)
        for one in asked
        if one.answerable
    ]


def _best_logits(asked: Iterable[Asked], weights: Weights) -> list[float]:
    """For each question the logit of what it finds."""
    return [_best(one.result.chunks, weights) for one in asked]


def _best(chunks: Iterable[RetrievedChunk], weights: Weights) -> float:
    return max((weights.logit(chunk.signals) for chunk in chunks), default=-np.inf)
