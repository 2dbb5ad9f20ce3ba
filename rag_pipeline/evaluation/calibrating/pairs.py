"""The weights of each pair of scripts: fitted where there are enough examples, else the model's default."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_pipeline.evaluation.calibrating.examples import AskedCase, Seen, examples_of
from rag_pipeline.evaluation.calibrating.regression import fit_groups
from rag_pipeline.query.relevance.calibration import Weights
from rag_pipeline.query.relevance.signals import ScriptPair

# Right chunks and wrong ones that a pair needs for four weights of its own.
LEAST_EXAMPLES = 20

# What the wrong chunks of answerable questions weigh among the wrong ones. Those of unanswerable questions
# are what must be refused; the others help where there are few of these, and do no harm where there are many.
_SHARE_OF_ANSWERABLE = 0.2


@dataclass(frozen=True, slots=True)
class Margins:
    """How far the best of some chunks is above the threshold, as logits; minus infinity where there is none.

    For chunks whose weights were fitted, above a threshold that is still to be chosen; for the others, above
    the one of the default.
    """

    fitted: float
    kept: float

    def above(self, threshold: float) -> float:
        """How far the best of all is above it."""
        return max(self.fitted - threshold, self.kept)


@dataclass(frozen=True, slots=True)
class Fit:
    """The fitted weights, whose logit 0 says that right and wrong are equally likely, and the kept ones."""

    fitted: Mapping[ScriptPair, Weights]
    kept: Mapping[ScriptPair, Weights]

    def margins(self, found: Iterable[Seen]) -> Margins:
        """Of the best of some chunks."""
        best = {True: -np.inf, False: -np.inf}
        for one in found:
            scripts = one.signals.scripts
            weights = self.fitted.get(scripts) or self.kept[scripts]
            own = scripts in self.fitted
            best[own] = max(best[own], weights.logit(one.signals))
        return Margins(fitted=best[True], kept=best[False])


def pairs_with_enough(cases: Sequence[AskedCase]) -> list[ScriptPair]:
    """The pairs of scripts that can be fitted."""
    return [pair for pair in ScriptPair if min(map(len, examples_of(cases, pair))) >= LEAST_EXAMPLES]


def fit_pairs(
    cases: Sequence[AskedCase], pairs: Collection[ScriptPair], default: Mapping[ScriptPair, Weights]
) -> Fit:
    """Fit these pairs, and keep the default of the others, and of one that has no example here."""
    fitted = {pair: weights for pair in pairs if (weights := _fit_pair(cases, pair))}
    return Fit(fitted, {pair: weights for pair, weights in default.items() if pair not in fitted})


def _fit_pair(cases: Sequence[AskedCase], pair: ScriptPair) -> Weights | None:
    right, wrong_of_answerable = examples_of([one for one in cases if one.answerable], pair)
    _, wrong_of_others = examples_of([one for one in cases if not one.answerable], pair)
    if not right or not (wrong_of_answerable or wrong_of_others):
        return None
    share = _SHARE_OF_ANSWERABLE if wrong_of_others else 1.0
    share = share if wrong_of_answerable else 0.0
    return fit_groups(right, [(wrong_of_others, 1 - share), (wrong_of_answerable, share)])
