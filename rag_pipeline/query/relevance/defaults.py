"""Calibrations that hold until one is fitted to the knowledge base itself.

The numbers are what `python -m benchmarks refusing` (and `refusing_hashing`) fits on one half of XQuAD's
articles and of some small talk; the figures that it promises are measured on the other half.
"""

from collections.abc import Mapping
from typing import Any

from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.signals import ScriptPair

_E5 = Calibration(
    fitted_for="local/multilingual-e5-small",
    weights={
        ScriptPair.NEITHER: Weights(intercept=-39.6, dense=46.45, coverage=7.27),
        ScriptPair.BOTH: Weights(intercept=-55.1, dense=60.33, coverage=10.11),
        ScriptPair.QUERY: Weights(intercept=-52.06, dense=65.78, coverage=10.65),
        ScriptPair.CHUNK: Weights(intercept=-49.05, dense=63.49, coverage=4.44),
    },
)
_HASHING = Calibration(
    fitted_for="hashing/words-and-cjk",
    weights=dict.fromkeys(ScriptPair, Weights(intercept=-4.0, dense=5.0, coverage=8.0)),
)
_KNOWN = {calibration.fitted_for: calibration for calibration in (_E5, _HASHING)}

# Cosines of an unknown model mean nothing yet, but the share of the terms does: most of them, by weight.
_CAUTIOUS = dict.fromkeys(ScriptPair, Weights(intercept=-4.5, dense=0.0, coverage=10.0))


def default_calibration(model: Mapping[str, Any]) -> Calibration:
    """The calibration of a model, given as a generation's settings hold it; cautious if it is unknown."""
    name = f"{model['provider']}/{model['model']}"
    return _KNOWN.get(name) or Calibration(fitted_for=name, weights=_CAUTIOUS)
