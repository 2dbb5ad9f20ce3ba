"""Loading a folder of manifests: what can be used, and what is wrong with the rest."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline.sources.strict_yaml import MAX_YAML_BYTES, StrictYamlError, load_typed


@dataclass(frozen=True, slots=True)
class ManifestProblem:
    """Why a manifest file is not used.

    `field` is a dotted path ("access_rules.allowed_roles.0"), empty where the file as a whole is wrong.
    `source_id` is the source that is stopped, None if the file does not tell.
    """

    file: Path
    field: str
    reason: str
    source_id: str | None = None

    def __str__(self) -> str:
        return ": ".join(part for part in (str(self.file), self.field, self.reason) if part)


@dataclass(frozen=True, slots=True)
class ManifestSet:
    """The manifests of a folder by source id, sorted, and the problems of the files that are not used."""

    manifests: dict[str, Manifest]
    problems: tuple[ManifestProblem, ...]


def load_manifests(folder: Path) -> ManifestSet:
    """Load every `*.yaml` and `*.yml` directly in `folder`; a broken file stops its own source only.

    A source id that two files claim is loaded from neither, even where one of them is broken. Raises
    ConfigurationError where the folder itself cannot be read.
    """
    if not folder.is_dir():
        raise ConfigurationError(
            f"the manifests folder {folder} does not exist; create it or set RAG_MANIFESTS"
        )
    try:
        files = sorted(
            file for file in folder.iterdir()
            if file.suffix in {".yaml", ".yml"} and not file.name.startswith(".")
        )  # fmt: skip
    except OSError as error:
        raise ConfigurationError(f"the manifests folder {folder} cannot be read: {error.strerror}") from error
    loaded: list[tuple[Path, Manifest]] = []
    problems: list[ManifestProblem] = []
    for file in files:
        outcome = _load_file(file)
        if isinstance(outcome, Manifest):
            loaded.append((file, outcome))
        else:
            problems += outcome
    claims = _claims(loaded, problems)
    for source_id in sorted(source_id for source_id, claimants in claims.items() if len(claimants) > 1):
        problems += _duplicate_problems(source_id, claims[source_id])
    manifests = {
        manifest.source_id: manifest for _, manifest in loaded if len(claims[manifest.source_id]) == 1
    }
    return ManifestSet(
        manifests=dict(sorted(manifests.items())),
        problems=tuple(sorted(problems, key=lambda problem: (problem.file, problem.field))),
    )


def _load_file(file: Path) -> Manifest | list[ManifestProblem]:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_YAML_BYTES + 1)
    except OSError as error:
        return [ManifestProblem(file, "", f"cannot be read: {error.strerror}")]
    if len(data) > MAX_YAML_BYTES:
        return [ManifestProblem(file, "", f"is larger than {MAX_YAML_BYTES} bytes, no manifest needs that")]
    try:
        value = load_typed(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return [ManifestProblem(file, "", "is not UTF-8 text; save it as UTF-8")]
    except StrictYamlError as error:
        return [ManifestProblem(file, "", str(error))]
    if not isinstance(value, dict):
        return [ManifestProblem(file, "", "must hold a mapping of fields (source_id: …, title: …)")]
    try:
        return Manifest.model_validate(value, context={"folder": file.parent.absolute()})
    except ValidationError as error:
        claimed = value.get("source_id")
        source_id = claimed if isinstance(claimed, str) else None
        errors = error.errors(include_url=False, include_input=False)
        deeper = {details["loc"][:-1] for details in errors}
        return [
            ManifestProblem(file, ".".join(map(str, details["loc"])), _reason(details), source_id)
            for details in errors
            # A list whose every item is wrong counts as empty too; that is not what its author did.
            if details["type"] != "too_short" or details["loc"] not in deeper
        ]


def _claims(
    loaded: Sequence[tuple[Path, Manifest]], problems: Sequence[ManifestProblem]
) -> dict[str, list[Path]]:
    """The files that claim each source id, broken ones included."""
    claims: dict[str, list[Path]] = {}
    for file, manifest in loaded:
        claims.setdefault(manifest.source_id, []).append(file)
    for file, source_id in sorted({(p.file, p.source_id) for p in problems if p.source_id is not None}):
        claims.setdefault(str(source_id), []).append(file)
    return claims


def _duplicate_problems(source_id: str, files: Iterable[Path]) -> list[ManifestProblem]:
    files = sorted(files)
    return [
        ManifestProblem(
            file,
            "source_id",
            f"'{source_id}' is also claimed by {', '.join(other.name for other in files if other != file)}; "
            "neither is loaded until one of them is renamed or removed",
            source_id,
        )
        for file in files
    ]


_PATTERN_WORDS = {
    "source_id": "must be lower-case letters, digits, '_', '.' and '-', beginning with a letter or digit",
    "allowed_roles": "must be a group name: letters, digits and _ . : @ - , beginning with a letter or digit",
    "tenant": "must be a name of letters, digits and _ . : @ - , beginning with a letter or digit",
    "language": "must be a language tag such as en or zh-Hant",
    "password_env": "must be the NAME of an environment variable (A to Z, digits, _), never a password",
}


def _reason(details: ErrorDetails) -> str:
    """Plain words for one of pydantic's errors. The value is never repeated: it may be a secret."""
    location = [part for part in details["loc"] if isinstance(part, str)]
    match details["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return "is not a field of a manifest" + _did_you_mean(location)
        case "string_pattern_mismatch":
            return _PATTERN_WORDS[location[-1]]
        case "value_error":
            return str(details["ctx"]["error"])
        case "bool_type":
            return "must be true or false, unquoted"
        case "tuple_type":
            return "must be a list"
        case "model_type" | "model_attributes_type":
            return "must be a mapping of fields"
        case "too_short":
            return "must name at least one"
    message = details["msg"]
    for opening in ("Input should be", "String should", "Value should"):
        message = message.replace(opening, "must be" if opening.endswith("be") else "must")
    return message


def _did_you_mean(location: Sequence[str]) -> str:
    known = list(_model_at(location[:-1]).model_fields)
    close = difflib.get_close_matches(location[-1], known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(known)}"


def _model_at(location: Sequence[str]) -> type[BaseModel]:
    model: type[BaseModel] = Manifest
    for name in location:
        annotation: Any = model.model_fields[name].annotation
        model = annotation if isinstance(annotation, type) else get_args(annotation)[0]
    return model
