"""Two evaluations of the same cases: what became better, what worse, and whether that may be chance.

The test is a paired permutation test (Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005):
if both were equally good, each case might as well have had its two scores the other way round.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from rag_pipeline.evaluation.metrics import Floats, scores_by_name
from rag_pipeline.evaluation.result import CaseResult, Comparison
from rag_pipeline.evaluation.scoring import LOWER_IS_BETTER, PASSED

_PERMUTATIONS: Final = 2_000
_SEED: Final = 20261130


def compare(here: Sequence[CaseResult], there: Sequence[CaseResult], other: str) -> Comparison:
    """How the results here differ from those there, on the cases of the same name that both have.

    A metric is compared on the cases to which it applies in both.
    """
    ours, theirs = scores_by_name(here), scores_by_name(there)
    passed, before = ours.get(PASSED, {}), theirs.get(PASSED, {})
    shared = [key for key in passed if key in before]
    metrics = {}
    for name in ours.keys() & theirs.keys():
        keys = [key for key in ours[name] if key in theirs[name]]
        if keys:
            metrics[name] = _paired(
                [ours[name][key] for key in keys], [theirs[name][key] for key in keys], name
            )
    return Comparison(
        other=other,
        n=len(shared),
        better=tuple(key for key in shared if passed[key] > before[key]),
        worse=tuple(key for key in shared if passed[key] < before[key]),
        metrics=dict(sorted(metrics.items())),
    )


def loss(name: str, here: float, there: float) -> float:
    """How much worse a score or a mean is here than there; negative where it is better."""
    return here - there if name in LOWER_IS_BETTER else there - here


def _paired(here: Sequence[float], there: Sequence[float], name: str) -> tuple[float, float, float]:
    losses = np.array([loss(name, ours, theirs) for ours, theirs in zip(here, there, strict=True)])
    return float(np.mean(here)), float(np.mean(there)), _chance_of_loss(losses)


def _chance_of_loss(losses: Floats) -> float:
    """How probable such a mean loss is, or a greater one, where neither is better; 1 where none was lost."""
    differing = losses[losses != 0]
    if not len(differing) or losses.mean() <= 0:
        return 1.0
    if len(differing) == 1:
        return 0.5  # either way round is as likely
    from scipy.stats import permutation_test

    return float(
        permutation_test(
            (differing,),
            np.mean,
            permutation_type="samples",
            alternative="greater",
            n_resamples=_PERMUTATIONS,
            rng=np.random.default_rng(_SEED),
        ).pvalue
    )
