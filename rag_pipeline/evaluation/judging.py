"""Models as judges of answers, where deterministic metrics cannot tell: optional, and never a gate alone.

A judgement that fails is counted as the judge's error and gives no score: what a judge could not say is
neither good nor bad.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from rag_pipeline.errors import ModelUnavailable
from rag_pipeline.evaluation.case import SUBSTANTIAL
from rag_pipeline.evaluation.judge_prompts import (
    JUDGE_PROMPT_VERSION,
    CorrectnessQuestion,
    FaithfulnessQuestion,
    Passage,
    tokens_of,
)
from rag_pipeline.evaluation.result import CaseResult
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.answering.replies import BadReply
from rag_pipeline.query.deadline import Deadline

FAITHFULNESS: Final = "judge_faithfulness"
"""The share of an answer's claims that its cited passages support, in the judge's view."""

CORRECTNESS: Final = "judge_correctness"
"""Whether an answer agrees with the reference: 1, one half for a part of it, or 0."""

_THREADS: Final = 4
_MOST_TOKENS: Final = 16_000


@dataclass(frozen=True, slots=True)
class JudgeError:
    """A judgement that could not be had: of which case (its key), which one, and why."""

    case: str
    judgement: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge said. `scores` are by the case's key and the judgement's name, where there is a score."""

    model: str
    prompt_version: int
    asked: int
    """How many judgements were wanted: as many as there are scores and errors."""
    scores: Mapping[str, Mapping[str, float]]
    errors: tuple[JudgeError, ...]

    @property
    def error_share(self) -> float:
        """Which part of the judgements failed, 0 to 1; 0 where none was wanted."""
        return len(self.errors) / self.asked if self.asked else 0.0

    def added_to(self, results: Sequence[CaseResult]) -> list[CaseResult]:
        """The results with the judge's scores among theirs."""
        return [
            one.model_copy(update={"scores": {**one.scores, **self.scores.get(one.key, {})}})
            for one in results
        ]


@dataclass(frozen=True, slots=True)
class _Judgement:
    case: str
    name: str
    question: FaithfulnessQuestion | CorrectnessQuestion


def judge(
    results: Sequence[CaseResult],
    model: ChatModel,
    *,
    seconds_each: float = 60.0,
    seconds_in_all: float = 1_800.0,
) -> Judged:
    """Let a model judge answers, four at a time.

    Faithfulness is judged where an answer has claims and the texts that they cite are in its trace,
    correctness where there is a reference. What holds no answer (an error, a refusal, an empty answer) is
    not judged at all. Once `seconds_in_all` are over, whatever is left counts as the judge's errors.
    """
    wanted = [one for result in results for one in _judgements(result)]
    whole = Deadline(seconds_in_all)

    def ask(one: _Judgement) -> float | str:
        return _asked(one, model, Deadline(min(seconds_each, whole.remaining)))

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="judge") as pool:
        verdicts = list(pool.map(ask, wanted))
    scores: dict[str, dict[str, float]] = {}
    errors: list[JudgeError] = []
    for one, verdict in zip(wanted, verdicts, strict=True):
        if isinstance(verdict, str):
            errors.append(JudgeError(one.case, one.name, verdict))
        else:
            scores.setdefault(one.case, {})[one.name] = verdict
    return Judged(model.name, JUDGE_PROMPT_VERSION, len(wanted), scores, tuple(errors))


def _asked(one: _Judgement, model: ChatModel, deadline: Deadline) -> float | str:
    """The score, or why there is none."""
    messages = one.question.messages
    if (tokens := tokens_of(messages)) > _MOST_TOKENS:
        # A passage that is cut might lose the very words that support a claim.
        return f"What is to be judged takes about {tokens:,} tokens, more than {_MOST_TOKENS:,}."
    try:
        return one.question.score(model.complete(messages, one.question.schema, deadline))
    except (ModelUnavailable, BadReply) as error:
        return str(error)


def _judgements(result: CaseResult) -> Iterator[_Judgement]:
    if result.error is not None or result.outcome not in SUBSTANTIAL or not result.answer.strip():
        return
    if question := _faithfulness(result):
        yield _Judgement(result.key, FAITHFULNESS, question)
    if result.reference:
        correctness = CorrectnessQuestion(result.question, result.answer, result.reference)
        yield _Judgement(result.key, CORRECTNESS, correctness)


def _faithfulness(result: CaseResult) -> FaithfulnessQuestion | None:
    """The claims with their passages; None where there is no claim, or a text is not kept."""
    texts = {one.label: one.text for one in result.trace.evidence} if result.trace else {}
    claims: dict[str, list[str]] = {}
    passages: dict[str, Passage] = {}
    for one in result.citations:
        text = texts.get(one.label)
        if text is None:
            return None
        passages[one.label] = Passage(one.label, one.title, one.section, text)
        # A side of a conflict that cannot be quoted is named by its title, which claims nothing.
        if one.claim.strip() and one.claim != one.title:
            claims.setdefault(one.claim, []).append(one.label)
    return FaithfulnessQuestion(list(claims.items()), list(passages.values())) if claims else None
