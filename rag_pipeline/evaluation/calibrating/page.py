"""A calibration as a page that a person can read: one file, with its curves inside."""

import math

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rag_pipeline.evaluation.calibrating.curves import reliability_diagram, threshold_curve
from rag_pipeline.evaluation.calibrating.doubts import SCRIPTS_IN_WORDS
from rag_pipeline.evaluation.calibrating.fitted import Fitted
from rag_pipeline.evaluation.calibrating.proportions import Rate

_TEMPLATE = "calibration.html.jinja"
# The page has no scripts, and looks for nothing elsewhere.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(fitted: Fitted) -> str:
    """The page. It needs nothing but itself."""
    environment = Environment(
        loader=PackageLoader("rag_pipeline.evaluation.calibrating", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["rate"] = _rate
    return environment.get_template(_TEMPLATE).render(
        fitted=fitted,
        policy=_POLICY,
        words=SCRIPTS_IN_WORDS,
        threshold_curve=_markup(threshold_curve(fitted.curve, fitted.calibration.threshold)),
        reliability=_markup(reliability_diagram(fitted.reliability, 1 / (1 + math.exp(fitted.moved)))),
    )


def _rate(value: Rate | None) -> str:
    if value is None:
        return "no case"
    return f"{value.value:.1%} of {value.n} ({value.low:.1%} to {value.high:.1%})"


def _markup(svg: str) -> Markup:
    return Markup(svg)  # noqa: S704 - drawn here, of numbers and fixed words
