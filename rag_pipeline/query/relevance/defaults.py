"""Calibrations that hold until one is fitted to the knowledge base itself.

The numbers of the local model were fitted on one half of XQuAD's articles and of some small talk; `python -m
benchmarks refusing` measures what it promises on the other half, and prints what a fit would give now. Those
of the hashing embedder are set by hand: it is for tests, and tells answerable from unanswerable questions
badly.
"""

from collections.abc import Mapping
from typing import Any

from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.signals import ScriptPair

_E5 = Calibration(
    fitted_for="local/multilingual-e5-small",
    weights={
        ScriptPair.NEITHER: Weights(intercept=-27.55, dense=27.98, coverage=6.19, lift=34.88),
        ScriptPair.BOTH: Weights(intercept=-41.35, dense=42.19, coverage=9.83, lift=33.09),
        ScriptPair.QUERY: Weights(intercept=-26.01, dense=27.76, coverage=15.49, lift=46.18),
        ScriptPair.CHUNK: Weights(intercept=-16.35, dense=15.0, coverage=3.27, lift=70.32),
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
