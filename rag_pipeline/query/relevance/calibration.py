"""From signals to relevance: a logistic model whose weights were fitted for one embedding model."""

import math
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rag_pipeline.query.relevance.signals import ScriptPair, Signals

# Terms that every query is taken to have besides its own, and that no chunk has: a chunk that has the only
# term of a short query proves less than one that has all the terms of a long one.
_ASSUMED_TERMS = 2


class Weights(BaseModel):
    """What the signals add to the logit of relevance."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    intercept: float
    dense: float
    coverage: float
    lift: float = 0.0
    """Of how much nearer the chunk is than any text in its script."""

    def logit(self, signals: Signals) -> float:
        """The logit of relevance; 0 is a relevance of one half."""
        logit = self.intercept + self.dense * signals.dense + self.coverage * shrunk_coverage(signals)
        return logit + self.lift * lift(signals) if self.lift else logit


def shrunk_coverage(signals: Signals) -> float:
    """The coverage of a query's terms, the less the fewer they are."""
    return signals.coverage * signals.terms / (signals.terms + _ASSUMED_TERMS)


def lift(signals: Signals) -> float:
    """How much nearer the chunk is to the query than any text in its script is."""
    if signals.usual is None:
        raise ValueError("the calibration weighs the lift of cosines, and no usual cosine was measured")
    return signals.dense - signals.usual


class Calibration(BaseModel):
    """Maps signals to 0..1 for vectors of one model, and says from where on a chunk is of use.

    Each pair of scripts has weights of its own: models place their cosines differently, and a query in
    another script than the chunk shares few terms with it. With the intercepts one threshold fits all.
    `fitted_for` names the model, or the fingerprint of the generation whose questions were fitted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    fitted_for: str
    weights: Mapping[ScriptPair, Weights]
    threshold: float = Field(default=0.5, ge=0, le=1)

    @field_validator("weights")
    @classmethod
    def _complete(cls, weights: Mapping[ScriptPair, Weights]) -> Mapping[ScriptPair, Weights]:
        if missing := set(ScriptPair) - weights.keys():
            raise ValueError(f"no weights for {', '.join(sorted(missing))}")
        return weights

    @property
    def needs_usual(self) -> bool:
        """Whether the usual cosines of queries have to be measured."""
        return any(weights.lift for weights in self.weights.values())

    def relevance(self, signals: Signals) -> float:
        """How likely a chunk with these signals is to be of use, 0 to 1."""
        logit = self.weights[signals.scripts].logit(signals)
        return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, logit))))
