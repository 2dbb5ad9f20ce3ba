"""Fitting a calibration to questions with known answers: logistic regression by Newton's method."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.left_out import Asked
from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.results import RetrievedChunk

_STEPS = 50
_RIDGE = 1e-2
# Of what cannot be answered, the best chunks are the ones to tell from right ones.
_NEGATIVES_A_QUESTION = 3
# Where the threshold is laid: so many answerable questions may lose their paragraph to it, and so many others
# must find nothing in the other script, where scores of good and bad chunks overlap and refusing comes first.
_LOST = 0.035
_REFUSED_IN_OTHER_SCRIPT = 0.95

Floats = NDArray[np.float64]


def fitted(asked: Sequence[Asked], fitted_for: str) -> Calibration:
    """The calibration that tells right chunks from the best ones of unanswerable questions, threshold 0.5."""
    own = [one for one in asked if one.languages == (one.question_language,)]
    other = [one for one in asked if len(one.languages) == 1 and one.languages != (one.question_language,)]
    same_script = _fitted_weights(own)
    at = np.quantile(_right_logits(own, same_script), _LOST)
    other_script = _fitted_weights(other)
    other_at = np.quantile(_best_logits(other, other_script), _REFUSED_IN_OTHER_SCRIPT)
    return Calibration(
        fitted_for=fitted_for,
        same_script=_moved(same_script, -float(at)),
        other_script=_moved(other_script, -float(other_at)),
    )


def _fitted_weights(asked: Iterable[Asked]) -> Weights:
    right: list[RetrievedChunk] = []
    wrong: list[RetrievedChunk] = []
    for one in asked:
        if one.answerable:
            right += (chunk for chunk in one.result.chunks if one.is_right(chunk.document_id))
        else:
            wrong += one.result.chunks[:_NEGATIVES_A_QUESTION]
    labels = np.repeat([1.0, 0.0], [len(right), len(wrong)])
    # Both kinds weigh the same, however many there are.
    importance = np.repeat([0.5 / len(right), 0.5 / len(wrong)], [len(right), len(wrong)])
    return _regression(_features([*right, *wrong]), labels, importance)


def _features(chunks: Sequence[RetrievedChunk]) -> Floats:
    return np.array([(chunk.signals.dense, chunk.signals.coverage) for chunk in chunks])


def _regression(features: Floats, labels: Floats, importance: Floats) -> Weights:
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    inputs = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    ridge = np.diag([0.0, _RIDGE, _RIDGE])
    weights = np.zeros(3)
    for _ in range(_STEPS):
        predicted = 1 / (1 + np.exp(-inputs @ weights))
        gradient = inputs.T @ (importance * (predicted - labels)) + ridge @ weights
        curvature = (inputs.T * (importance * predicted * (1 - predicted))) @ inputs + ridge
        weights -= np.linalg.solve(curvature + 1e-9 * np.eye(3), gradient)
    slopes = weights[1:] / spread
    intercept = weights[0] - slopes @ mean
    return Weights(intercept=float(intercept), dense=float(slopes[0]), coverage=float(slopes[1]))


def _right_logits(asked: Iterable[Asked], weights: Weights) -> list[float]:
    """For each answerable question the logit of its paragraph."""
    return [
        _best((chunk for chunk in one.result.chunks if one.is_right(chunk.document_id)), weights)
        for one in asked
        if one.answerable
    ]


def _best_logits(asked: Iterable[Asked], weights: Weights) -> list[float]:
    """For each unanswerable question the logit of what it finds."""
    return [_best(one.result.chunks, weights) for one in asked if not one.answerable]


def _best(chunks: Iterable[RetrievedChunk], weights: Weights) -> float:
    return max((weights.logit(chunk.signals) for chunk in chunks), default=-np.inf)


def _moved(weights: Weights, by: float) -> Weights:
    """The same weights, rounded, with the intercept moved so that logit 0 lies elsewhere."""
    return Weights(
        intercept=round(weights.intercept + by, 2),
        dense=round(weights.dense, 2),
        coverage=round(weights.coverage, 2),
    )
