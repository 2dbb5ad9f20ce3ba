"""How well documents are read: Markdown against reference Markdown, by kind of document."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import Figure, Skipped, at_least, noted
from benchmarks.material import data_root
from rag_pipeline.normalize.files import normalize_files
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.sources.manifest import Limits

_MEASURES: Final = ("recall", "precision", "order", "headings", "cells")
_TARGETS: Final[Mapping[str, Sequence[float]]] = {
    "all documents": (0.98, 0.96, 0.98, 0.82, 0.82),
    "born-digital PDF": (0.98, 0.96, 0.97, 0.75, 0.75),
    "scans and images": (0.97, 0.96, 0.97, 0.50, 0.60),
    "office, web, text": (0.99, 0.96, 0.99, 0.97, 0.98),
}
_GROUPS: Final = {
    "pdf": "born-digital PDF",
    "scanned": "scans and images",
    "images": "scans and images",
    "office": "office, web, text",
    "web": "office, web, text",
    "text": "office, web, text",
}


def measure(folder: Path) -> Iterator[Figure]:
    """Word recall and precision, reading order, headings and table cells, averaged over documents."""
    documents = data_root() / "documents"
    with (documents / "manifest.csv").open(encoding="utf-8", newline="") as file:
        files = [row["file"] for row in csv.DictReader(file)]
    produced = folder / "produced"
    results = normalize_files(
        [documents / file for file in files],
        produced,
        options=ParsingOptions(),
        workers=2,
        limits=Limits(),
    )
    for result in results:
        if result.error:
            yield noted(f"{result.document.path} failed", f"{result.error.category}: {result.error}")
    scores = _scores(produced, documents / "groundtruth")
    for group, targets in _TARGETS.items():
        chosen = [
            scores[f"{Path(file).name}.md"]
            for file in files
            if group in ("all documents", _GROUPS[file.split("/")[0]])
        ]
        for measure_name, target in zip(_MEASURES, targets, strict=True):
            values = [score[measure_name] for score in chosen if score[measure_name] is not None]
            name = f"{group} ({len(chosen)}): {measure_name}"
            yield at_least(name, sum(values) / len(values), target)


def _scores(produced: Path, reference: Path) -> dict[str, dict[str, Any]]:
    tool = data_root().parent / "tools" / "score_markdown.py"
    if not tool.is_file():
        raise Skipped(f"the scoring tool is not at {tool}")
    done = subprocess.run(
        [sys.executable, str(tool), str(produced), str(reference), "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    files: dict[str, dict[str, Any]] = json.loads(done.stdout)["files"]
    return files
