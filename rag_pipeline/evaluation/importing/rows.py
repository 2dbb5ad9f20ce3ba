"""Rows of a table in CSV or JSON Lines, as Ragas writes both."""

import ast
import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.importing.reading import MOST_CASES, read_text

# A list in a cell of a CSV file: texts in brackets. Longer ones are not parsed as Python.
_LONGEST_CELL: Final = 200_000


@dataclass(frozen=True, slots=True)
class Row:
    """A row and its place in the file, for people."""

    place: str
    cells: Mapping[str, Any]


def read_rows(file: Path) -> list[Row]:
    """The rows of a file that ends in .csv or .jsonl. Raises BadQuestionSet that names the row."""
    read = {".csv": _csv_rows, ".jsonl": _json_rows}.get(file.suffix.lower())
    if read is None:
        raise BadQuestionSet(f"{file} must end in .csv or .jsonl.")
    rows = list(islice(read(file, read_text(file)), MOST_CASES + 1))
    if len(rows) > MOST_CASES:
        raise BadQuestionSet(f"{file} has more than {MOST_CASES:,} rows; split it.")
    return rows


def _csv_rows(file: Path, text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    number = 0
    try:
        for cells in reader:
            if not cells:
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                if len(set(header)) < len(header):
                    raise BadQuestionSet(f"{file}: a column is named twice in the first row.")
                continue
            number += 1
            place = f"row {number}"
            if len(cells) != len(header):
                raise BadQuestionSet(f"{file}: {place}: has {len(cells)} cells, the first row {len(header)}.")
            yield Row(place, {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip()})
    except csv.Error as error:
        raise BadQuestionSet(
            f"{file}: line {reader.line_num}: is not CSV: {error}; JSON Lines has no such limits."
        ) from None


def _json_rows(file: Path, text: str) -> Iterator[Row]:
    # Not by splitlines, which would also split at characters that JSON may hold as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested or long beyond reason"
            raise BadQuestionSet(f"{file}: {place}: is not JSON: {reason}.") from None
        if not isinstance(cells, dict):
            raise BadQuestionSet(f"{file}: {place}: must be one JSON object.")
        yield Row(place, {name: cell for name, cell in cells.items() if cell is not None})


def texts(value: object) -> list[str] | None:
    """A cell as a list of texts: a list, a list written as JSON or Python into CSV, or one text.

    None where it is something else.
    """
    if isinstance(value, str):
        value = _written_list(value.strip())
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [one.strip() for one in value if one.strip()]
    return None


def _written_list(text: str) -> object:
    if not (text.startswith("[") and text.endswith("]") and len(text) <= _LONGEST_CELL):
        return [text]
    for read in (json.loads, ast.literal_eval):
        try:
            value: object = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list):
            return value
    # A text that only happens to stand in brackets.
    return [text]
