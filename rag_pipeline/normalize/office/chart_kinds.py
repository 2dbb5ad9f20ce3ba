"""Kinds of charts that python-pptx does not know, as the kinds that hold their data in the same way."""

from typing import Final

from rag_pipeline.normalize.office.package import Package, tag

_CHART: Final = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_KNOWN: Final = {
    tag(_CHART, kind): tag(_CHART, known)
    for kind, known in {
        "bar3DChart": "barChart",
        "line3DChart": "lineChart",
        "area3DChart": "areaChart",
        "pie3DChart": "pieChart",
        "ofPieChart": "pieChart",
        "stockChart": "lineChart",
    }.items()
}


def know_charts(package: Package, part: str) -> None:
    """Let the charts that a part shows be of kinds whose data are read."""
    for name in package.related_parts(part, "chart"):
        for plot in list(package.tree(name).iter(*_KNOWN)):
            plot.tag = _KNOWN[plot.tag]
