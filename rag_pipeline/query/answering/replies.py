"""What a language model is asked to reply with, and reading what it really replies."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from rag_pipeline.query.answering.draft import Claim, Draft

_BEFORE_JSON = re.compile(r"\s*(?:<think>.*?</think>\s*)?(?:```(?:json)?\s*)?", re.DOTALL | re.IGNORECASE)
_AFTER_JSON = re.compile(r"\s*(?:```\s*)?")
# JSON can spell NUL and halves of surrogate pairs; databases and UTF-8 have no place for them.
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
# Far beyond five sentences: what is longer is no answer, and takes long to check.
_LONGEST_ANSWER: Final = 8_000
_MOST_CLAIMS: Final = 50

THINK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sufficient": {"type": "boolean"}, "note": {"type": "string"}},
    "required": ["sufficient", "note"],
    "additionalProperties": False,
}


def answer_schema(labels: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an answer, by which no label but these can even be spelled."""
    citation = {
        "type": "object",
        "properties": {
            "claim": {"type": "string"},
            "evidence_ids": {"type": "array", "items": {"type": "string", "enum": list(labels)}},
        },
        "required": ["claim", "evidence_ids"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "answered": {"type": "boolean"},
            "answer": {"type": "string"},
            "citations": {"type": "array", "items": citation},
        },
        "required": ["answered", "answer", "citations"],
        "additionalProperties": False,
    }


class BadReply(ValueError):
    """A reply that is not what was asked for; the message says what is wrong with it, without quoting it."""


def _storable(text: str) -> str:
    if _NOT_STORABLE.search(text):
        raise ValueError("it holds characters that cannot be stored")
    return text


_Text = Annotated[str, AfterValidator(_storable)]


class Thought(BaseModel):
    """Whether the evidence suffices, in the model's view."""

    model_config = ConfigDict(strict=True, extra="forbid")

    sufficient: bool
    note: _Text


class _Citation(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    claim: _Text
    evidence_ids: list[_Text]


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    answered: bool
    answer: _Text
    citations: list[_Citation]


def read_draft(reply: str) -> Draft:
    """The draft that a reply holds; whether it is any good is not looked at. Raises BadReply."""
    answer = read_reply(reply, _Answer)
    if not answer.answered:
        return Draft(False, "", ())
    claimed = sum(len(one.claim) for one in answer.citations)
    if max(len(answer.answer), claimed) > _LONGEST_ANSWER or len(answer.citations) > _MOST_CLAIMS:
        raise BadReply(
            f"The answer is longer than {_LONGEST_ANSWER} characters or has more than {_MOST_CLAIMS} claims."
        )
    claims = (Claim(one.claim.strip(), tuple(dict.fromkeys(one.evidence_ids))) for one in answer.citations)
    return Draft(True, answer.answer.strip(), tuple(claims))


def read_thought(reply: str) -> Thought:
    """The judgement that a reply holds. Raises BadReply."""
    return read_reply(reply, Thought)


_Reply = TypeVar("_Reply", bound=BaseModel)


def read_reply(reply: str, kind: type[_Reply]) -> _Reply:
    """One JSON object, which may stand in a code block and follow a model's reasoning. Raises BadReply."""
    before = _BEFORE_JSON.match(reply)
    start = before.end() if before else 0
    try:
        value, end = json.JSONDecoder().raw_decode(reply, start)
    except (ValueError, RecursionError):
        raise BadReply("The reply is not a JSON object.") from None
    if not _AFTER_JSON.fullmatch(reply, end):
        raise BadReply("The reply holds more than one JSON object.")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        # An unknown key is the model's own word, a known one is ours.
        place = "" if first["type"] == "extra_forbidden" else ".".join(str(part) for part in first["loc"])
        raise BadReply(f"The reply does not fit the schema: {place or 'a key'}: {first['msg']}.") from None
