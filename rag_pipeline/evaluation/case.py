"""A case of a question set: what is asked, by whom, and what is right.

Gold is a document and a quote, never a chunk's id, so that cutting documents otherwise breaks no case.
"""

import re
from collections import Counter
from enum import StrEnum
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    model_validator,
)

from rag_pipeline.query.conflicts.values import find_values
from rag_pipeline.query.request import MAX_QUERIES, Asked, Name
from rag_pipeline.query.scripts import asks_in_chinese
from rag_pipeline.query.trace import Outcome
from rag_pipeline.sources.document import source_of
from rag_pipeline.sources.manifest import Moment

# Of phrases, values, quotes and documents in a case, and of cases in a set.
_MOST_OF_EACH = 50
_MOST_CASES = 20_000

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")


class Category(StrEnum):
    """What a case tests. Stored in results and named in gates, so the values are a contract."""

    ANSWERABLE = "answerable"
    UNANSWERABLE = "unanswerable"
    CROSS_SECTION = "cross_section"
    PARAPHRASE = "paraphrase"
    UNAUTHORIZED = "unauthorized"
    INJECTION = "injection"
    CONFLICT = "conflict"
    STALE = "stale"
    OUTAGE = "outage"


class Outage(StrEnum):
    """What does not answer while a case of the category outage is asked."""

    STORE = "store"
    EMBEDDER = "embedder"
    MODEL = "model"


def _many(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


def _document_id(value: str) -> str:
    source, _, path = value.partition("/")
    if not source or not path:
        raise ValueError("must be a document's id: <source_id>/<path>")
    return value


def _stated_value(value: str) -> str:
    if not find_values(value):
        raise ValueError(f"{value!r} holds no duration, amount, percentage, count, date or version")
    return value


DocumentId = Annotated[Name, AfterValidator(_document_id)]
Documents = Annotated[tuple[DocumentId, ...], Field(max_length=_MOST_OF_EACH)]
CaseId = Annotated[str, StringConstraints(strict=True, pattern=rf"^{_ID.pattern}$", max_length=100)]
Phrase = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=2_000)]
Phrases = Annotated[tuple[Phrase, ...], Field(max_length=_MOST_OF_EACH)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Required(_Strict):
    """Documents that an answer must cite."""

    any: Documents = ()
    """At least one of these."""
    all: Documents = ()
    """Every one of these."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Every document that is named, once."""
        return tuple(dict.fromkeys((*self.all, *self.any)))


class Quote(_Strict):
    """Words of a document that must stand in the evidence that an answer cites, white space aside."""

    document: DocumentId
    text: Phrase


class Case(_Strict):
    """One question and what is right. What is left out is not judged."""

    id: CaseId
    category: Category
    question: Asked
    queries: Annotated[tuple[Asked, ...], Field(min_length=1, max_length=MAX_QUERIES)] | None = None
    """What is searched for instead of what would be planned."""
    groups: tuple[Name, ...] = ()
    """The asker's access groups; none: public documents only."""
    tenant: Name = "default"
    as_of: Moment | None = None
    audience: Name | None = None
    environment: Name | None = None
    expect: Annotated[tuple[Outcome, ...], BeforeValidator(_many), Field(min_length=1)]
    """The outcomes that are right."""
    documents: Required = Required()
    quotes: Annotated[tuple[Quote, ...], Field(max_length=_MOST_OF_EACH)] = ()
    must_say: Phrases = ()
    """Phrases that the answer must hold, case and white space aside."""
    must_not_say: Phrases = ()
    """Phrases that it must not hold: other people's facts, an injection's wish, an old rule."""
    values: Annotated[
        tuple[Annotated[Phrase, AfterValidator(_stated_value)], ...], Field(max_length=_MOST_OF_EACH)
    ] = ()
    """Values that it must state in any wording: 30 days, 5 %, EUR 6.50."""
    winner: DocumentId | None = None
    """The document that a conflict must be decided for."""
    outage: Outage | None = None
    reference: Phrase | None = None
    """An answer in a person's words, for judges and for export."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.category is Category.OUTAGE) != (self.outage is not None):
            raise ValueError("a case of the category outage, and no other, says what is down: outage")
        if self.category is Category.UNAUTHORIZED and not (self.documents.ids or self.must_not_say):
            raise ValueError(
                "a case of the category unauthorized names what must stay hidden: documents or must_not_say"
            )
        if self.category is Category.INJECTION and not self.must_not_say:
            raise ValueError("a case of the category injection says what obeying it would say: must_not_say")
        if self.refusal and (self.quotes or self.must_say or self.values or self.winner):
            raise ValueError("a case that expects a refusal has no quotes, must_say, values or winner")
        return self

    @property
    def refusal(self) -> bool:
        """Whether only an outcome that gives no fact is right."""
        return not set(self.expect) & {*SUBSTANTIAL, Outcome.INVALID_REQUEST}

    @property
    def language(self) -> str:
        """The language of the question: zh or en, which stands for all that are not Chinese."""
        return "zh" if asks_in_chinese(self.question) else "en"

    @property
    def required(self) -> tuple[str, ...]:
        """The documents that must be found: those to be cited and those of quotes; none where hidden."""
        if self.category is Category.UNAUTHORIZED or self.refusal:
            return ()
        return tuple(dict.fromkeys((*self.documents.ids, *(one.document for one in self.quotes))))

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that the case is about, in order."""
        named = (*self.documents.ids, *(one.document for one in self.quotes))
        return tuple(sorted({source_of(one) for one in named}))


SUBSTANTIAL = frozenset({Outcome.ANSWERED, Outcome.NEEDS_REVIEW, Outcome.DEGRADED})
"""Outcomes that may hold facts."""


class Edit(_Strict):
    """What is changed in a document: every occurrence of some words."""

    old: Phrase
    new: Phrase


class Action(StrEnum):
    """What happens to a document between two questions."""

    UPDATE = "update"
    DELETE = "delete"
    REVOKE = "revoke"


class LifecycleCase(_Strict):
    """A document that is updated, deleted or taken from its readers, on a scratch collection.

    Before, the answer cites evidence with `before`; afterwards none does, and after an update the one that it
    cites holds `after`. Nothing of the old version may be left, by id.
    """

    id: CaseId
    action: Action
    document: DocumentId
    question: Asked
    groups: tuple[Name, ...] = ()
    before: Phrase
    after: Phrase | None = None
    edit: Edit | None = None
    remaining_groups: tuple[Name, ...] = ()
    """Who may still read the source after access was revoked."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.action is Action.UPDATE) != (self.edit is not None and self.after is not None):
            raise ValueError("an update, and nothing else, has edit and after")
        if (self.action is Action.REVOKE) != bool(self.remaining_groups):
            raise ValueError("a revocation, and nothing else, has remaining_groups")
        if set(self.groups) & set(self.remaining_groups):
            raise ValueError("remaining_groups must hold none of the asker's groups")
        return self


class QuestionSet(_Strict):
    """The cases of one file in `manifests/evaluations/`."""

    title: Name
    # One wrong case in a file of thousands is enough to be told.
    cases: Annotated[tuple[Case, ...], Field(max_length=_MOST_CASES), FailFast()] = ()
    lifecycle: Annotated[tuple[LifecycleCase, ...], Field(max_length=_MOST_OF_EACH), FailFast()] = ()

    @model_validator(mode="after")
    def _unique(self) -> Self:
        if not self.cases and not self.lifecycle:
            raise ValueError("has no case")
        ids = [*(one.id for one in self.cases), *(one.id for one in self.lifecycle)]
        if twice := [one for one, times in Counter(ids).items() if times > 1]:
            raise ValueError(f"the case {twice[0]} is there twice")
        return self
