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
    """Fit each time without a fold's cases, and hold these against the threshold of the others."""
    folds = fold(cases)
    right: list[Margins] = [Margins(-math.inf, -math.inf)] * len(cases)
    found = list(right)
    probabilities: list[float] = []
    labels: list[float] = []
    for number in range(FOLDS):
        others = [case for case, own in zip(cases, folds.numbers, strict=True) if own != number]
        fit = fit_pairs(others, pairs, default)
        for place, case in enumerate(cases):
            if folds.numbers[place] == number:
                right[place], found[place] = fit.margins(case.right), fit.margins(case.found)
                told = _probabilities(case, fit)
                probabilities += [probability for probability, _ in told]
                labels += [label for _, label in told]
    telling = _telling(cases, right)
    held: list[Held] = []
    for place, case in enumerate(cases):
        elsewhere = [one for one in telling if folds.numbers[one] != folds.numbers[place]]
        at = threshold_for([right[one].fitted for one in elsewhere or telling], false_refusals)
        held.append(Held(case, right[place].above(at), found[place].above(at)))
    return OutOfFold(
        held=tuple(held),
        probabilities=np.array(probabilities),
        labels=np.array(labels),
        threshold=threshold_for([right[one].fitted for one in telling], false_refusals),
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


def _telling(cases: Sequence[AskedCase], right: Sequence[Margins]) -> list[int]:
    """The cases whose refusal depends on the threshold: in one script, if there are such."""
    chosen = [
        number
        for number, (case, one) in enumerate(zip(cases, right, strict=True))
        if case.answerable and math.isfinite(one.fitted) and one.kept < 0
    ]
    return [number for number in chosen if cases[number].scripts in SAME_SCRIPT] or chosen


def _probabilities(case: AskedCase, fit: Fit) -> list[tuple[float, float]]:
    """Of a case's right and wrong chunks that have fitted weights."""
    return [
        (1 / (1 + math.exp(-max(-700.0, min(700.0, weights.logit(one.signals))))), label)
        for label, some in ((1.0, case.telling), (0.0, case.wrong))
        for one in some
        if (weights := fit.fitted.get(one.signals.scripts))
    ]
