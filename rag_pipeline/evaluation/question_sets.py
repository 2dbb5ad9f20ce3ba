"""The question sets in `manifests/evaluations/`: read, checked, and told wrong ones by file and field."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.case import Case, QuestionSet
from rag_pipeline.query.request import told
from rag_pipeline.sources.strict_yaml import StrictYamlError, load_typed

GATES_FILE = "gates.yaml"
LARGEST_SET = 16 << 20
"""Bytes that the file of a question set may have."""

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class NamedSet:
    """A question set under the name of its file."""

    name: str
    questions: QuestionSet


def load_sets(folder: Path, names: Sequence[str] = ()) -> list[NamedSet]:
    """The named sets, or all in the folder; a name that ends in .yaml or .yml is a file anywhere.

    Raises BadQuestionSet where there is none, or one cannot be used.
    """
    if names:
        files = [
            Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml" for name in names
        ]
    else:
        files = _files(folder)
    if not files:
        raise BadQuestionSet(f"There is no question set in {folder}: write one as NAME.yaml.")
    sets = [_load(file) for file in files]
    if twice := [one.name for number, one in enumerate(sets) if one.name in {s.name for s in sets[:number]}]:
        raise BadQuestionSet(f"The question set {twice[0]} is named twice.")
    return sets


def find_case(sets: Sequence[NamedSet], name: str) -> Case:
    """The case of this id, or of `<set>/<id>`; raises BadQuestionSet where that is none, or not one alone."""
    found = [
        (named.name, case)
        for named in sets
        for case in named.questions.cases
        if name in (case.id, f"{named.name}/{case.id}")
    ]
    if len(found) == 1:
        return found[0][1]
    if found:
        raise BadQuestionSet(
            f"There are several cases {name}: say {' or '.join(f'{one}/{case.id}' for one, case in found)}."
        )
    close = difflib.get_close_matches(name, [one.id for named in sets for one in named.questions.cases])
    hint = f"; did you mean {' or '.join(close)}?" if close else "."
    raise BadQuestionSet(f"There is no case {name} in {', '.join(one.name for one in sets)}{hint}")


def has_sets(folder: Path) -> bool:
    """Whether a folder holds any question set."""
    return bool(_files(folder))


def _files(folder: Path) -> list[Path]:
    return sorted(one for one in folder.glob("*.yaml") if one.name != GATES_FILE)


def _load(file: Path) -> NamedSet:
    return NamedSet(file.stem, load_model(file, QuestionSet))


def load_model(file: Path, model: type[Model]) -> Model:
    """A YAML file as a model; raises BadQuestionSet that names the file and each wrong field."""
    try:
        if file.stat().st_size > LARGEST_SET:
            raise BadQuestionSet(f"{file} is larger than {LARGEST_SET >> 20} MiB.")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestionSet(f"{file} cannot be read: {error}.") from None
    try:
        return model.model_validate(load_typed(text))
    except StrictYamlError as error:
        raise BadQuestionSet(f"{file} {error}.") from None
    except ValidationError as error:
        raise BadQuestionSet(f"{file}: {told(error, 'the file')}.") from None
