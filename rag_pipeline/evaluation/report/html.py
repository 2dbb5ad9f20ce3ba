"""An evaluation as one page of HTML that needs nothing else: no network, no file, no server.

Questions, answers and passages are other people's text. Jinja escapes all of it, the script writes text nodes
only, and the page's Content-Security-Policy lets nothing run but that script, by its hash, and loads nothing.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rag_pipeline.evaluation.report import phrases, plots
from rag_pipeline.evaluation.report.case_views import Link, anchors, view
from rag_pipeline.evaluation.report.trace_data import trace_data
from rag_pipeline.evaluation.result import CaseResult, Dimension, Evaluation, Slice

_HERE = Path(__file__).parent
_TEMPLATE = "report.html.jinja"
_DIMENSIONS = (Dimension.CATEGORY, Dimension.LANGUAGE, Dimension.SOURCE)


def html_report(evaluation: Evaluation) -> str:
    """The whole page. It is UTF-8 and says so."""
    script = (_HERE / "report.js").read_text(encoding="utf-8")
    style = (_HERE / "report.css").read_text(encoding="utf-8")
    cases = phrases.worst_first(evaluation.cases)
    known = anchors([*cases, *evaluation.lifecycle])
    outcomes, matrix = plots.outcome_matrix(cases)
    return (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            evaluation=evaluation,
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_hash(script)}'; "
            "base-uri 'none'; form-action 'none'",
            # Both are this package's own files; everything else is escaped.
            script=Markup(script),  # noqa: S704
            style=Markup(style),  # noqa: S704
            cases=[view(one) for one in cases],
            traces=trace_data(cases),
            links=partial(_links, known=known),
            categories=_slices(evaluation, Dimension.CATEGORY),
            tables=[(one.value, _slices(evaluation, one)) for one in _DIMENSIONS if _slices(evaluation, one)],
            metric_names=list(dict.fromkeys(m.name for part in evaluation.slices for m in part.metrics)),
            filters=_filters(cases),
            outcomes=outcomes,
            matrix=matrix,
            times=[one.milliseconds for one in cases if one.error is None],
            plots=plots,
            phrases=phrases,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Chinese takes twice the room escaped; `<`, `>`, `&` and `'` are escaped all the same.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment


def _hash(script: str) -> str:
    """What a Content-Security-Policy calls a script that may run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _slices(evaluation: Evaluation, dimension: Dimension) -> list[Slice]:
    return [one for one in evaluation.slices if one.dimension is dimension]


def _filters(cases: Sequence[CaseResult]) -> dict[str, list[str]]:
    """What cases can be filtered by, and the values that there are."""
    return {
        "category": sorted({one.category.value for one in cases}),
        "language": sorted({one.language for one in cases}),
        "source": sorted({source for one in cases for source in one.sources}),
        "set": sorted({one.set_name for one in cases}),
    }


def _links(names: Sequence[str], *, known: dict[str, str]) -> list[Link]:
    return [Link(name, known.get(name)) for name in names]
