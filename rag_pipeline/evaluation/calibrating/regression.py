"""Weights of relevance from signals of right and wrong chunks: logistic regression by Newton's method."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.query.relevance.calibration import Weights, lift, shrunk_coverage
from rag_pipeline.query.relevance.signals import Signals

Floats = NDArray[np.float64]

_STEPS = 50
# Against weights without end where right and wrong chunks can be told apart completely.
_RIDGE = 1e-2


def features_of(signals: Sequence[Signals]) -> Floats:
    """What the weights are of, one row for each chunk; the usual cosines must have been measured."""
    return np.array([(one.dense, shrunk_coverage(one), lift(one)) for one in signals]).reshape(-1, 3)


def fit_groups(right: Sequence[Signals], wrong: Sequence[tuple[Sequence[Signals], float]]) -> Weights:
    """The weights that tell right chunks from groups of wrong ones, each with its share of what these weigh.

    Right and wrong weigh the same, however many there are of each; a group without chunks has no share.
    """
    groups = [(right, 0.5), *((some, 0.5 * share) for some, share in wrong)]
    counts = [len(some) for some, _ in groups]
    shares = np.array([share for _, share in groups])
    labels = np.repeat([1.0] + [0.0] * len(wrong), counts)
    importance = np.repeat(shares / np.maximum(counts, 1), counts)
    return fit_weights([one for some, _ in groups for one in some], labels, importance)


def moved(weights: Weights, by: float) -> Weights:
    """The same weights with something added to the logit."""
    return weights.model_copy(update={"intercept": weights.intercept + by})


def rounded(weights: Weights, digits: int) -> Weights:
    """The weights with so many decimals."""
    return Weights(**{name: round(value, digits) for name, value in weights.model_dump().items()})


def fit_weights(signals: Sequence[Signals], labels: Floats, importance: Floats) -> Weights:
    """The weights that tell chunks labelled 1 from those labelled 0, both of which there must be.

    `importance` is how much each chunk counts, and sums to 1. The logit's 0 lies where right and wrong are
    equally likely, by importance.
    """
    features = features_of(signals)
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    inputs = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    ridge = np.diag([0.0, *[_RIDGE] * features.shape[1]])
    weights = np.zeros(len(ridge))
    for _ in range(_STEPS):
        predicted = 1 / (1 + np.exp(-inputs @ weights))
        gradient = inputs.T @ (importance * (predicted - labels)) + ridge @ weights
        curvature = (inputs.T * (importance * predicted * (1 - predicted))) @ inputs + ridge
        weights -= np.linalg.solve(curvature + 1e-9 * np.eye(len(ridge)), gradient)
    slopes = weights[1:] / spread
    intercept = weights[0] - slopes @ mean
    dense, coverage, lifted = map(float, slopes)
    return Weights(intercept=float(intercept), dense=dense, coverage=coverage, lift=lifted)
