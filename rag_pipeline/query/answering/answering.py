"""From evidence to an answer that may be shown, or to the reason why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_pipeline.errors import ModelUnavailable
from rag_pipeline.query.answering.draft import Claim, Draft
from rag_pipeline.query.answering.extractive import extract
from rag_pipeline.query.answering.links import links, without_links
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.answering.problems import Problem, Severity
from rag_pipeline.query.answering.prompts import ANSWER_PROMPT, RETRY_PROMPT, conversation, fitting
from rag_pipeline.query.answering.replies import BadReply, answer_schema, read_draft
from rag_pipeline.query.answering.supporting import support_of
from rag_pipeline.query.answering.thinking import think
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
class Answered:
    """What became of a question.

    `draft` is the answer, valid against its evidence, or None where nothing may be shown; then `reason` says
    why, for the trace. `degraded` marks an answer quoted because the model was down. The attempts hold every
    draft that was made, also those that were rejected.
    """

    draft: Draft | None
    outcome: Outcome
    reason: str
    attempts: tuple[Attempt, ...] = ()
    think_note: str | None = None
    degraded: bool = False


def answer(
    question: str,
    evidence: Sequence[Evidence],
    *,
    model: ChatModel | None,
    deadline: Deadline,
    context_tokens: int = CONTEXT_TOKENS,
    keep_texts: bool = False,
) -> Answered:
    """Answer from the evidence, which is in order of rank: by the model, or by quoting where there is none.

    A model first judges whether the evidence suffices. Its draft is validated; after one that fails it is
    asked once more, with the reasons. With the model down or too slow, the evidence is quoted and the outcome
    is degraded. `keep_texts` puts the drafts' texts into the attempts.
    """
    if not evidence:
        return Answered(None, Outcome.NO_EVIDENCE, "There is no evidence.")
    if model is None:
        return _quoted(question, evidence, keep_texts)
    passages = fitting(evidence, context_tokens)
    asking = _Asking(question, passages, model, deadline, keep_texts)
    try:
        if not passages:
            raise ModelUnavailable(f"The first passage alone takes more than {context_tokens} tokens.")
        return asking.result()
    except ModelUnavailable as error:
        quoted = _quoted(question, evidence, keep_texts)
        return replace(
            quoted,
            outcome=Outcome.DEGRADED,
            reason=str(error),
            attempts=(*asking.attempts, *quoted.attempts),
            think_note=asking.think_note,
            degraded=True,
        )


def _quoted(question: str, evidence: Sequence[Evidence], keep_texts: bool) -> Answered:
    draft = extract(question, evidence)
    if not draft.answered:
        return Answered(
            None, Outcome.INSUFFICIENT, "No sentence of the evidence shares words with the question."
        )
    problems = find_problems(draft, evidence, question)
    attempt = Attempt(
        by="extractive",
        model=None,
        problems=[problem.sentence for problem in problems],
        text=draft.text if keep_texts else None,
    )
    if problems:
        return Answered(None, Outcome.REFUSED, "The quotations are not valid.", (attempt,))
    return Answered(draft, Outcome.ANSWERED, "Sentences of the evidence answer the question.", (attempt,))


class _Asking:
    """One question put to a model, and all that came of it so far."""

    def __init__(
        self,
        question: str,
        evidence: Sequence[Evidence],
        model: ChatModel,
        deadline: Deadline,
        keep_texts: bool,
    ) -> None:
        self._question = question
        self._evidence = evidence
        self._model = model
        self._deadline = deadline
        self._keep_texts = keep_texts
        self.attempts: list[Attempt] = []
        self.think_note: str | None = None

    def result(self) -> Answered:
        """Think, draft, validate, and draft once more if need be. Raises ModelUnavailable."""
        thought = think(self._question, self._evidence, self._model, self._deadline)
        self.think_note = thought.note if thought else None
        if thought and not thought.sufficient:
            return self._ended(
                None, Outcome.INSUFFICIENT, "The model finds that the evidence does not suffice."
            )
        messages = conversation(ANSWER_PROMPT, self._question, self._evidence)
        schema = answer_schema([item.label for item in self._evidence])
        doubtful = False
        for _ in range(_TRIES):
            reply = self._model.complete(messages, schema, self._deadline)
            try:
                draft = read_draft(reply)
            except BadReply as error:
                problems, doubtful = [str(error)], False
                self._record(reply, problems)
            else:
                found = find_problems(draft, self._evidence, self._question)
                problems = [problem.sentence for problem in found]
                self._record(draft.text, problems)
                if found and _only(found, Severity.FOREIGN_LINK):
                    draft, found = self._without_foreign_links(draft)
                if not found:
                    return self._accepted(draft)
                doubtful = _only(found, Severity.DOUBTFUL)
            listed = "\n".join(f"- {problem}" for problem in problems)
            messages += [
                {"role": "assistant", "content": reply[:_LONGEST_ECHO]},
                {"role": "user", "content": RETRY_PROMPT.format(problems=listed)},
            ]
        if doubtful:
            return self._ended(
                None, Outcome.NEEDS_REVIEW, "The evidence may not support what the model says."
            )
        return self._ended(None, Outcome.REFUSED, "The model's answers are not valid against the evidence.")

    def _without_foreign_links(self, draft: Draft) -> tuple[Draft, tuple[Problem, ...]]:
        """The draft without the links that are not in the evidence, as an attempt of its own."""
        unwanted = _foreign_links(draft, self._evidence)
        claims = tuple(Claim(without_links(one.text, unwanted), one.labels) for one in draft.claims)
        shorter = Draft(True, without_links(draft.text, unwanted), claims)
        found = find_problems(shorter, self._evidence, self._question)
        self._record(shorter.text, [problem.sentence for problem in found])
        return shorter, found

    def _accepted(self, draft: Draft) -> Answered:
        if draft.answered:
            return self._ended(draft, Outcome.ANSWERED, "The model's answer is valid against the evidence.")
        return self._ended(None, Outcome.INSUFFICIENT, "The model finds no answer in the evidence.")

    def _record(self, text: str, problems: list[str]) -> None:
        self.attempts.append(
            Attempt(
                by="openai",
                model=self._model.name,
                problems=problems,
                text=text if self._keep_texts else None,
            )
        )

    def _ended(self, draft: Draft | None, outcome: Outcome, reason: str) -> Answered:
        return Answered(draft, outcome, reason, tuple(self.attempts), self.think_note)


def _only(problems: Sequence[Problem], severity: Severity) -> bool:
    return all(problem.severity is severity for problem in problems)


def _foreign_links(draft: Draft, evidence: Sequence[Evidence]) -> frozenset[str]:
    """The links of the answer that nothing cited holds, and those of claims that what they cite lacks."""
    by_label = {item.label: item for item in evidence}
    given = [support_of([by_label[label] for label in claim.labels]).links for claim in draft.claims]
    foreign = links(draft.text) - frozenset[str]().union(*given)
    return foreign.union(*(links(claim.text) - own for claim, own in zip(draft.claims, given, strict=True)))
