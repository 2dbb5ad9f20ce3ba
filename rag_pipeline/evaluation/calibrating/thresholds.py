"""The threshold for a stated rate of false refusals, and what it does to cases that were not fitted."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_pipeline.evaluation.calibrating.examples import AskedCase
from rag_pipeline.evaluation.calibrating.folds import FOLDS, fold
from rag_pipeline.evaluation.calibrating.pairs import Fit, Margins, fit_pairs
from rag_pipeline.evaluation.calibrating.regression import Floats
from rag_pipeline.query.relevance.calibration import Weights
from rag_pipeline.query.relevance.signals import ScriptPair

# Across scripts the cosines of good and bad chunks overlap: a threshold that hardly ever refused there would
# let everything through in one script. So the rate is stated for questions in the script of their documents.
SAME_SCRIPT = frozenset({ScriptPair.NEITHER, ScriptPair.BOTH})


@dataclass(frozen=True, slots=True)
class Held:
    """A case held against a threshold, by weights and a threshold that were chosen without it.

    `right` and `found` are how far the best right chunk and the best of all are above the threshold, as
    logits; minus infinity where there is none.
    """

    case: AskedCase
    right: float
    found: float


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """What is to be expected of new cases.

    `probabilities` are those of the examples to which weights were fitted, right (label 1) and wrong (0), by
    weights that were fitted to others. `threshold` is the logit to choose when all cases are fitted.
    """

    held: tuple[Held, ...]
    probabilities: Floats
    labels: Floats
    threshold: float
    by_document: bool


def cross_validate(
    cases: Sequence[AskedCase],
    pairs: Collection[ScriptPair],
    default: Mapping[ScriptPair, Weights],
    false_refusals: float,
) -> OutOfFold:
    """Fit each time without a fold's cases, and hold these against the threshold of the others.

    That threshold is chosen as the one for all cases is, from the others alone: by weights that were fitted
    without the fold and, for each of the others, without its own fold too.
    """
    folds = fold(cases)
    placed = list(zip(cases, folds.numbers, strict=True))
    fits: dict[frozenset[int], Fit] = {}

    def without(*numbers: int) -> Fit:
        left_out = frozenset(numbers)
        if left_out not in fits:
            fits[left_out] = fit_pairs([case for case, own in placed if own not in left_out], pairs, default)
        return fits[left_out]

    def threshold(*left_out: int) -> float:
        others = [(case, own) for case, own in placed if own not in left_out and case.answerable]
        right = [(case, without(own, *left_out).margins(case.right)) for case, own in others]
        return threshold_for(_telling(right), false_refusals)

    thresholds = [threshold(number) for number in range(FOLDS)]
    held: list[Held] = []
    told: list[tuple[float, float]] = []
    for case, own in placed:
        fit, at = without(own), thresholds[own]
        held.append(Held(case, fit.margins(case.right).above(at), fit.margins(case.found).above(at)))
        told += _probabilities(case, fit)
    probabilities, labels = np.array(told).reshape(-1, 2).T
    return OutOfFold(
        held=tuple(held),
        probabilities=probabilities,
        labels=labels,
        threshold=threshold(),
        by_document=folds.by_document,
    )


def threshold_for(best_right: Sequence[float], false_refusals: float) -> float:
    """The highest threshold that refuses a new case no more often than stated, from how others are placed.

    Each is the logit of a case's best right chunk. A new case is below the k-th lowest of n with a
    probability of at most k / (n + 1), whatever their distribution. Where n is too small for any k, all pass;
    of none at all, 0, where right and wrong are equally likely.
    """
    ordered = sorted(best_right)
    if not ordered:
        return 0.0
    k = math.floor(false_refusals * (len(ordered) + 1))
    return ordered[max(0, k - 1)]


def _telling(right: Sequence[tuple[AskedCase, Margins]]) -> list[float]:
    """The logits of those cases whose refusal depends on the threshold: in one script, if there are such."""
    chosen = [(case, one) for case, one in right if math.isfinite(one.fitted) and one.kept < 0]
    return [one.fitted for case, one in chosen if case.scripts in SAME_SCRIPT] or [
        one.fitted for _, one in chosen
    ]


def _probabilities(case: AskedCase, fit: Fit) -> list[tuple[float, float]]:
    """Of a case's right and wrong chunks that have fitted weights."""
    return [
        (1 / (1 + math.exp(-max(-700.0, min(700.0, weights.logit(one.signals))))), label)
        for label, some in ((1.0, case.telling), (0.0, case.wrong))
        for one in some
        if (weights := fit.fitted.get(one.signals.scripts))
    ]
