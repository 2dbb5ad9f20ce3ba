"""Calibrations that hold until one is fitted to the knowledge base itself."""

from collections.abc import Mapping
from typing import Any

from rag_pipeline.query.relevance.calibration import Calibration, Weights

_KNOWN = {
    ("local", "multilingual-e5-small"): Calibration(
        fitted_for="local/multilingual-e5-small",
        same_script=Weights(intercept=-44.0, dense=48.0, coverage=8.0),
        other_script=Weights(intercept=-50.0, dense=58.0, coverage=0.0),
    ),
    ("hashing", "words-and-cjk"): Calibration(
        fitted_for="hashing/words-and-cjk",
        same_script=Weights(intercept=-5.0, dense=5.0, coverage=8.0),
        other_script=Weights(intercept=-5.0, dense=5.0, coverage=8.0),
    ),
}


def default_calibration(model: Mapping[str, Any]) -> Calibration:
    """The calibration of a model, given as a generation's settings hold it; cautious if it is unknown."""
    provider, name = model["provider"], model["model"]
    return _KNOWN.get((provider, name)) or Calibration(
        fitted_for=f"{provider}/{name}",
        same_script=Weights(intercept=-5.0, dense=0.0, coverage=10.0),
        other_script=Weights(intercept=-5.0, dense=0.0, coverage=10.0),
    )
