"""What an import gives, and writing it down: the set as YAML, the documents as files to index."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.case import QuestionSet
from rag_pipeline.evaluation.question_sets import LARGEST_SET

try:  # libyaml is ten times faster
    from yaml import CSafeDumper as _Dumper
except ImportError:
    from yaml import SafeDumper as _Dumper  # type: ignore[assignment]

_WIDTH = 110


@dataclass(frozen=True, slots=True)
class Imported:
    """Questions, and the documents that answer them: Markdown by its path below the source's folder."""

    questions: QuestionSet
    documents: Mapping[str, str]


class _WithoutAliases(_Dumper):
    """Writes every value out: question sets may hold no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def write_imported(imported: Imported, *, set_file: Path, folder: Path) -> None:
    """Write the documents into a folder for a manifest to point at, and the set as YAML.

    The folder must be new or empty: what is left of another import would be indexed too. Raises
    BadQuestionSet where it is not, where the set's file exists or where it would be too large, before
    anything is written; and where something cannot be written.
    """
    text = _set_text(imported.questions, set_file)
    try:
        if folder.exists() and any(folder.iterdir()):
            raise BadQuestionSet(f"{folder} is not empty; choose another folder for the documents.")
        for path, content in imported.documents.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadQuestionSet(f"{folder} cannot be written to: {error.strerror or error}.") from None
    _write(text, set_file)


def write_set(questions: QuestionSet, file: Path) -> None:
    """Write a set as YAML, of which `load_sets` makes the same set again.

    Raises BadQuestionSet where there is a file already, or the set is larger than one may be.
    """
    _write(_set_text(questions, file), file)


def _set_text(questions: QuestionSet, file: Path) -> bytes:
    if file.exists():
        raise BadQuestionSet(f"{file} exists already; delete it or choose another name for the set.")
    value = questions.model_dump(mode="json", exclude_defaults=True)
    text = yaml.dump(value, Dumper=_WithoutAliases, allow_unicode=True, sort_keys=False, width=_WIDTH)
    data = text.encode()
    if len(data) > LARGEST_SET:
        raise BadQuestionSet(
            f"{file}: {len(questions.cases):,} cases take {len(data) >> 20} MiB, and a set may have "
            f"{LARGEST_SET >> 20}; import fewer at a time."
        )
    return data


def _write(data: bytes, file: Path) -> None:
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(data)
        unfinished.replace(file)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise BadQuestionSet(f"{file} cannot be written: {error.strerror or error}.") from None
