"""How good a fit is, in numbers: shares with their intervals, and scores of probabilities."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from rag_pipeline.evaluation.calibrating.regression import Floats

# Of a normal distribution, 95 % lie within so many standard deviations.
_WITHIN = 1.959964
_BINS = 10
_LEAST = 1e-12


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Rate(_Record):
    """A share of `n` cases, with Wilson's 95 % interval."""

    n: int
    value: float
    low: float
    high: float


class Bin(_Record):
    """Chunks of about the same probability: what was predicted, and which share of them was right."""

    predicted: float
    observed: float
    n: int


class Scores(_Record):
    """How good probabilities of being right are, right and wrong chunks weighing the same."""

    auc: float
    """How likely a right chunk has a higher one than a wrong chunk; 0.5 by chance."""
    log_loss: float
    """0.69 by chance, less is better."""
    brier: float
    """The mean squared error; 0.25 by chance."""
    calibration_error: float
    """The mean distance of what is predicted from what is observed."""


def wilson_interval(part: int, whole: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, which says something where all are alike, too; of none, 0 to 1."""
    if not whole:
        return 0.0, 1.0
    share, squared = part / whole, _WITHIN**2
    middle = (share + squared / (2 * whole)) / (1 + squared / whole)
    spread = math.sqrt(share * (1 - share) / whole + squared / (4 * whole * whole))
    half = _WITHIN / (1 + squared / whole) * spread
    # Where all are alike, rounding would put the bound beside the share itself.
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def rate(outcomes: Iterable[bool]) -> Rate | None:
    """The share of true ones; None of nothing."""
    values = list(outcomes)
    if not values:
        return None
    low, high = wilson_interval(sum(values), len(values))
    return Rate(n=len(values), value=sum(values) / len(values), low=low, high=high)


def scores(probabilities: Floats, labels: Floats) -> tuple[Scores, tuple[Bin, ...]]:
    """The scores of probabilities, given with what was true of each (0 or 1), and the bins of their diagram.

    There must be right and wrong ones.
    """
    right = labels.sum()
    importance = np.where(labels == 1, 0.5 / right, 0.5 / (len(labels) - right))
    numbers = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    bins: list[Bin] = []
    error = 0.0
    for number in sorted(set(numbers.tolist())):
        chosen = numbers == number
        weight = importance[chosen]
        predicted = float(np.average(probabilities[chosen], weights=weight))
        observed = float(np.average(labels[chosen], weights=weight))
        error += float(weight.sum()) * abs(predicted - observed)
        bins.append(Bin(predicted=predicted, observed=observed, n=int(chosen.sum())))
    sure = np.clip(np.where(labels == 1, probabilities, 1 - probabilities), _LEAST, None)
    found = Scores(
        auc=_auc(probabilities[labels == 1].tolist(), probabilities[labels == 0].tolist()),
        log_loss=float(-(importance * np.log(sure)).sum()),
        brier=float((importance * (probabilities - labels) ** 2).sum()),
        calibration_error=error,
    )
    return found, tuple(bins)


def _auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    below = np.searchsorted(np.sort(wrong), right, side="left").sum()
    at_most = np.searchsorted(np.sort(wrong), right, side="right").sum()
    return float(below + at_most) / (2 * len(right) * len(wrong))
