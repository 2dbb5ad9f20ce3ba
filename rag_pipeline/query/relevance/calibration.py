"""From signals to relevance: a logistic model whose weights were fitted for one embedding model."""

import math

from pydantic import BaseModel, ConfigDict, Field

from rag_pipeline.query.relevance.signals import Signals


class Weights(BaseModel):
    """What each signal adds to the logit of relevance."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intercept: float
    dense: float
    coverage: float

    def logit(self, signals: Signals) -> float:
        """The logit of relevance."""
        return self.intercept + self.dense * signals.dense + self.coverage * signals.coverage


class Calibration(BaseModel):
    """Maps signals to 0..1 for vectors of one model, and says from where on a chunk is of use.

    A query in another script than the chunk shares few terms with it, so that such pairs have weights of
    their own; the intercepts are such that the one threshold fits both. `fitted_for` names the model, or the
    fingerprint of the generation whose questions were fitted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    fitted_for: str
    same_script: Weights
    other_script: Weights
    threshold: float = Field(default=0.5, ge=0, le=1)

    def relevance(self, signals: Signals) -> float:
        """How likely a chunk with these signals is to be of use, 0 to 1."""
        weights = self.same_script if signals.same_script else self.other_script
        return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, weights.logit(signals)))))
