"""Calibrations that hold until one is fitted to the knowledge base itself.

The numbers of the local model are what `python -m benchmarks refusing` fits on one half of XQuAD's articles
and of some small talk; the figures that it promises are measured on the other half. Those of the hashing
embedder are set by hand: it is for tests, and tells answerable from unanswerable questions badly.
"""

from collections.abc import Mapping
from typing import Any

from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.signals import ScriptPair

_E5 = Calibration(
    fitted_for="local/multilingual-e5-small",
    weights={
        ScriptPair.NEITHER: Weights(intercept=-28.64, dense=29.24, coverage=6.46, lift=34.98),
        ScriptPair.BOTH: Weights(intercept=-40.88, dense=42.17, coverage=9.87, lift=33.46),
        ScriptPair.QUERY: Weights(intercept=-29.19, dense=31.55, coverage=16.47, lift=49.01),
        ScriptPair.CHUNK: Weights(intercept=-18.95, dense=18.08, coverage=3.35, lift=74.81),
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
