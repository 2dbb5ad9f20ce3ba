"""What may be asked for: the request's body, checked before anything is done with it.

Who asks is never part of it. Its filters can only narrow what the caller may see.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from rag_pipeline.errors import InvalidRequest
from rag_pipeline.sources.manifest import Moment, SourceId, SourceType

MAX_QUESTION = 2_000
"""Characters that a question may have."""

MAX_QUERIES = 5

# Of what is wrong with a request, and of each name in it.
_MOST_TOLD = 5
_MOST_SHOWN = 50

# Tabs and line breaks are written by people; the rest of the control characters, and those that reorder text
# for the eye, are not.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _asked(value: str) -> str:
    if found := _CONTROL.search(value):
        raise ValueError(f"must not hold the control character U+{ord(found[0]):04X}")
    if _SURROGATE.search(value):
        raise ValueError("must be valid Unicode")
    if not any(character.isalnum() for character in value):
        raise ValueError("must hold at least one letter or digit")
    return value


def _many(value: object) -> object:
    return [value] if isinstance(value, str) else value


Asked = Annotated[
    str,
    StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=MAX_QUESTION),
    AfterValidator(_asked),
]
Name = Annotated[
    str,
    StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=500),
    AfterValidator(_asked),
]
SessionId = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9_.:@-]+$", max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Filters(_Strict):
    """What a request narrows its search to. An empty list narrows to nothing, so it is refused."""

    sources: (
        Annotated[tuple[SourceId, ...], BeforeValidator(_many), Field(min_length=1, max_length=100)] | None
    ) = None
    """Only these sources."""
    documents: (
        Annotated[tuple[Name, ...], BeforeValidator(_many), Field(min_length=1, max_length=100)] | None
    ) = None
    """Only these documents, by id."""
    source_types: (
        Annotated[tuple[SourceType, ...], BeforeValidator(_many), Field(min_length=1, max_length=20)] | None
    ) = None
    """Only sources of these types."""
    languages: (
        Annotated[tuple[Name, ...], BeforeValidator(_many), Field(min_length=1, max_length=20)] | None
    ) = None
    """Only documents in these languages, as their manifests or front matter name them."""


class AskRequest(_Strict):
    """One question and its bounds."""

    question: Asked
    """The question, at most 2,000 characters."""
    session_id: SessionId | None = None
    """Ties the requests of one conversation together in the traces."""
    queries: Annotated[tuple[Asked, ...], Field(min_length=1, max_length=MAX_QUERIES)] | None = None
    """What is searched for instead of what is planned from the question, 1 to 5 queries."""
    audience: Name | None = None
    """Only what is written for this audience."""
    environment: Name | None = None
    """Only what holds in this environment, such as production."""
    as_of: Moment | None = None
    """The moment whose rules are asked for; now if left out. A date means 00:00 UTC of that day."""
    filters: Filters = Filters()
    """What the search is narrowed to."""


def parse_request(body: Mapping[str, Any]) -> AskRequest:
    """The request in a body; raises InvalidRequest that names each wrong field, never its value."""
    try:
        return AskRequest.model_validate(body)
    except ValidationError as error:
        raise InvalidRequest(told(error, "request")) from None


def told(error: ValidationError, whole: str) -> str:
    """What is wrong with something from outside, by field: the first few problems, and how many more.

    `whole` is what it is called where no field is to blame.
    """
    # The names of fields are the sender's too: however many and long they are, what is told of them is short.
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [
        f"{'.'.join(map(_shown, one['loc'])) or whole}: {one['msg'].removeprefix('Value error, ')}"
        for one in problems[:_MOST_TOLD]
    ]
    if more := len(problems) - len(lines):
        lines.append(f"and {more} more")
    return "; ".join(lines)


def _shown(part: str | int) -> str:
    text = "".join(one if one.isprintable() else "\ufffd" for one in str(part)[: _MOST_SHOWN + 1])
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
