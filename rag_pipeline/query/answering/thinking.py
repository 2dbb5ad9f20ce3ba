"""Asking the model whether the evidence suffices, before it answers."""

import re
from collections.abc import Sequence

from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.answering.prompts import THINK_PROMPT, conversation
from rag_pipeline.query.answering.replies import THINK_SCHEMA, BadReply, Thought, read_thought
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.scripts import HAN

_MOST_WORDS = 50
_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")


def think(
    question: str, evidence: Sequence[Evidence], model: ChatModel, deadline: Deadline
) -> Thought | None:
    """The model's judgement, its note cut to 50 words (in Chinese, characters); None where it makes no sense.

    Raises ModelUnavailable.
    """
    try:
        thought = read_thought(
            model.complete(conversation(THINK_PROMPT, question, evidence), THINK_SCHEMA, deadline)
        )
    except BadReply:
        return None
    return thought.model_copy(update={"note": _first_words(thought.note)})


def _first_words(text: str) -> str:
    text = " ".join(text.split())
    words = list(_WORD.finditer(text))
    return text if len(words) <= _MOST_WORDS else text[: words[_MOST_WORDS - 1].end()] + "…"
