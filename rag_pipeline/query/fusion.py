"""Fusing the ranked lists of several searches into one, by reciprocal rank."""

import math
from collections.abc import Sequence

Leg = Sequence[tuple[str, float]]
"""What one search found: (id, score), best first. Scores of different legs need not be comparable."""

# How slowly lower ranks lose weight. Small, since only the first few ranks say much: 60, which is common for
# fusing many lists, costs up to half a point of MRR on XQuAD.
_RANK_CONSTANT = 2
# A leg's score for what it did not find: three standard deviations below its mean.
_NOT_FOUND = -3.0


def fuse(legs: Sequence[Leg]) -> list[tuple[str, float]]:
    """Every found id with its fused score, the sum of 1 / (1 + rank) over the legs, best first.

    Ranks count from 1. With two legs equal scores are common: a passage that is first and second ties with
    one that is second and first, for one question in 25. What decides between them is how far each stands out
    among its leg's scores, and in the end the id, so that the same lists always give the same order.
    """
    scores: dict[str, float] = {}
    prominence: dict[str, float] = {}
    for leg in legs:
        for rank, ((found, _), standard) in enumerate(zip(leg, _standard_scores(leg), strict=True)):
            scores[found] = scores.get(found, 0.0) + 1.0 / (rank + _RANK_CONSTANT)
            prominence[found] = prominence.get(found, 0.0) + standard - _NOT_FOUND
    order = sorted((-round(score, 9), -prominence[found], found) for found, score in scores.items())
    return [(found, scores[found]) for _, _, found in order]


def _standard_scores(leg: Leg) -> list[float]:
    """The scores as their distances from the leg's mean, in standard deviations."""
    # Not by the statistics module, whose exact fractions take longer than everything else here.
    scores = [score for _, score in leg]
    mean = math.fsum(scores) / max(1, len(scores))
    distances = [score - mean for score in scores]
    spread = math.sqrt(math.fsum([one * one for one in distances]) / max(1, len(scores)))
    return [one / spread if spread else 0.0 for one in distances]
