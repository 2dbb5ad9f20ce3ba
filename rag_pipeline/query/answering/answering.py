"""From evidence to an answer that may be shown: think, draft and validate, three steps over one record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rag_pipeline.errors import ModelUnavailable
from rag_pipeline.query.answering import thinking
from rag_pipeline.query.answering.draft import Claim, Draft
from rag_pipeline.query.answering.extractive import extract
from rag_pipeline.query.answering.links import links, without_links
from rag_pipeline.query.answering.model import ChatModel, Messages
from rag_pipeline.query.answering.problems import Problem, Severity
from rag_pipeline.query.answering.prompts import ANSWER_PROMPT, RETRY_PROMPT, conversation, fitting
from rag_pipeline.query.answering.replies import BadReply, answer_schema, read_draft
from rag_pipeline.query.answering.supporting import support_of
from rag_pipeline.query.answering.validating import find_problems
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.trace import Attempt, Outcome

CONTEXT_TOKENS: Final = 6_000
"""How many tokens of passages a model is given, if nothing else is said."""

_TRIES: Final = 2
# How much of a reply that was rejected is shown to the model again.
_LONGEST_ECHO: Final = 4_000


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied, and all that was said before."""

    text: str
    messages: Messages


@dataclass(frozen=True, slots=True)
class Answering:
    """A question on its way to an answer. Each step adds its part; the first outcome ends the way.

    `evidence` is in order of rank, `passages` what of it the model is shown. Without a `model`, or once
    `model_down` says why it cannot be used, the evidence is quoted. `drafted` is not validated yet; `draft`
    is the answer, valid against its evidence, or None where nothing may be shown. Then `reason` says why, for
    the trace. The attempts hold every draft that was validated, also those that were rejected.
    """

    question: str
    evidence: tuple[Evidence, ...]
    passages: tuple[Evidence, ...]
    model: ChatModel | None
    deadline: Deadline
    keep_texts: bool
    clauses: tuple[str, ...] = ()
    model_down: str | None = None
    think_note: str | None = None
    drafted: Draft | Reply | None = None
    attempts: tuple[Attempt, ...] = ()
    draft: Draft | None = None
    outcome: Outcome | None = None
    reason: str = ""

    @property
    def asks_model(self) -> bool:
        """Whether there is a model, and nothing that speaks against using it."""
        return self.model is not None and self.model_down is None


def answering(
    question: str,
    evidence: Sequence[Evidence],
    *,
    model: ChatModel | None,
    deadline: Deadline,
    context_tokens: int = CONTEXT_TOKENS,
    keep_texts: bool = False,
    clauses: Sequence[str] = (),
) -> Answering:
    """The record that the steps begin with. `keep_texts` puts the drafts' texts into the attempts.

    `clauses` are the parts of the question, where it has several.
    """
    passages = fitting(evidence, context_tokens) if model else ()
    too_long = model is not None and bool(evidence) and not passages
    return Answering(
        question,
        tuple(evidence),
        passages,
        model,
        deadline,
        keep_texts,
        tuple(clauses),
        model_down=f"The first passage alone takes more than {context_tokens} tokens." if too_long else None,
    )


def think(record: Answering) -> Answering:
    """Let the model judge whether the evidence suffices; where it does not, that is the outcome."""
    if record.model is None or not record.asks_model:
        return record
    try:
        thought = thinking.think(record.question, record.passages, record.model, record.deadline)
    except ModelUnavailable as error:
        return replace(record, model_down=str(error))
    if thought is None:
        return record
    record = replace(record, think_note=thought.note)
    if thought.sufficient:
        return record
    return _ended(record, Outcome.INSUFFICIENT, "The model finds that the evidence does not suffice.")


def draft(record: Answering) -> Answering:
    """Let the model word an answer, or quote the evidence where it cannot."""
    if record.asks_model:
        messages = conversation(ANSWER_PROMPT, record.question, record.passages)
        try:
            return replace(record, drafted=_reply(record, messages))
        except ModelUnavailable as error:
            record = replace(record, model_down=str(error))
    return replace(record, drafted=extract(record.question, record.evidence, record.clauses))


def validate(record: Answering) -> Answering:
    """Hold what was drafted against the evidence: only what is valid becomes the answer.

    A model whose draft fails is asked once more, with the reasons. If it goes down meanwhile, or was down
    before, the evidence is quoted and the outcome is degraded.
    """
    if isinstance(record.drafted, Reply):
        record = _validated_reply(record, record.drafted)
        if record.outcome is not None:
            return record
        record = replace(record, drafted=extract(record.question, record.evidence, record.clauses))
    if not isinstance(record.drafted, Draft):
        raise ValueError("an answer is drafted before it is validated")
    record = _validated_quotation(record, record.drafted)
    if record.model_down is None:
        return record
    return replace(record, outcome=Outcome.DEGRADED, reason=record.model_down)


def _validated_quotation(record: Answering, quotation: Draft) -> Answering:
    if not quotation.answered:
        return _ended(record, Outcome.INSUFFICIENT, "No sentence of the evidence answers the question.")
    found = find_problems(quotation, record.evidence, record.question)
    record = _attempted(record, "extractive", quotation.text, [problem.sentence for problem in found])
    if found:
        return _ended(record, Outcome.REFUSED, "The quotations are not valid.")
    return _accepted(record, quotation, "Sentences of the evidence answer the question.")


def _validated_reply(record: Answering, reply: Reply) -> Answering:
    """The record with its outcome, or without one where the model went down meanwhile."""
    doubtful = False
    for number in range(1, _TRIES + 1):
        try:
            draft = read_draft(reply.text)
        except BadReply as error:
            problems, doubtful = [str(error)], False
            record = _attempted(record, "openai", reply.text, problems)
        else:
            found = find_problems(draft, record.passages, record.question)
            problems = [problem.sentence for problem in found]
            record = _attempted(record, "openai", draft.text, problems)
            if found and _only(found, Severity.FOREIGN_LINK):
                draft = _without_foreign_links(draft, record.passages)
                found = find_problems(draft, record.passages, record.question)
                record = _attempted(record, "openai", draft.text, [one.sentence for one in found])
            if not found and draft.answered:
                return _accepted(record, draft, "The model's answer is valid against the evidence.")
            if not found:
                return _ended(record, Outcome.INSUFFICIENT, "The model finds no answer in the evidence.")
            doubtful = _only(found, Severity.DOUBTFUL)
        if number < _TRIES:
            try:
                reply = _reply(record, _told(reply, problems))
            except ModelUnavailable as error:
                return replace(record, model_down=str(error))
    if doubtful:
        return _ended(record, Outcome.NEEDS_REVIEW, "The evidence may not support what the model says.")
    return _ended(record, Outcome.REFUSED, "The model's answers are not valid against the evidence.")


def _reply(record: Answering, messages: Messages) -> Reply:
    """What the model replies. Raises ModelUnavailable."""
    if record.model is None:
        raise ValueError("there is no model to ask")
    schema = answer_schema([item.label for item in record.passages])
    return Reply(record.model.complete(messages, schema, record.deadline), messages)


def _told(reply: Reply, problems: Sequence[str]) -> Messages:
    """The conversation, gone on with: what was replied, and what is wrong with it."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    return (
        *reply.messages,
        {"role": "assistant", "content": reply.text[:_LONGEST_ECHO]},
        {"role": "user", "content": RETRY_PROMPT.format(problems=listed)},
    )


def _without_foreign_links(draft: Draft, evidence: Sequence[Evidence]) -> Draft:
    """The draft without links that nothing cited holds, and those of a claim that its own evidence lacks."""
    by_label = {item.label: item for item in evidence}
    given = [support_of([by_label[label] for label in claim.labels]).links for claim in draft.claims]
    unwanted = (links(draft.text) - frozenset[str]().union(*given)).union(
        *(links(claim.text) - own for claim, own in zip(draft.claims, given, strict=True))
    )
    claims = tuple(Claim(without_links(one.text, unwanted), one.labels) for one in draft.claims)
    return Draft(True, without_links(draft.text, unwanted), claims)


def _attempted(
    record: Answering, by: Literal["extractive", "openai"], text: str, problems: list[str]
) -> Answering:
    attempt = Attempt(
        by=by,
        model=record.model.name if record.model and by == "openai" else None,
        problems=problems,
        text=text if record.keep_texts else None,
    )
    return replace(record, attempts=(*record.attempts, attempt))


def _accepted(record: Answering, draft: Draft, reason: str) -> Answering:
    return replace(record, draft=draft, outcome=Outcome.ANSWERED, reason=reason)


def _ended(record: Answering, outcome: Outcome, reason: str) -> Answering:
    return replace(record, outcome=outcome, reason=reason)


def _only(problems: Sequence[Problem], severity: Severity) -> bool:
    return all(problem.severity is severity for problem in problems)
