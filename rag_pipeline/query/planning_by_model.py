"""Planning the queries of a question by a language model."""

import logging
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from rag_pipeline.errors import ModelUnavailable
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.answering.prompts import PLAN_PROMPT, harmless
from rag_pipeline.query.answering.replies import BadReply, read_reply
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.planning import MOST_QUERIES
from rag_pipeline.query.request import Asked

logger = logging.getLogger(__name__)

# Not every endpoint knows the keywords for how many items there may be: that is checked afterwards.
PLAN_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"queries": {"type": "array", "items": {"type": "string"}}},
    "required": ["queries"],
    "additionalProperties": False,
}


class _Plan(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    queries: Annotated[list[Asked], Field(min_length=1, max_length=MOST_QUERIES)]


class ModelPlanner:
    """Asks a model for the queries of a question. There are none where it is down or replies nonsense."""

    def __init__(self, model: ChatModel, deadline: Deadline) -> None:
        self._model = model
        self._deadline = deadline
        self.asked = False
        """Whether the model was asked at all."""

    def __call__(self, question: str) -> Sequence[str]:
        self.asked = True
        messages = [
            {"role": "system", "content": PLAN_PROMPT},
            {"role": "user", "content": f"Question: {harmless(question)}"},
        ]
        try:
            return read_reply(self._model.complete(messages, PLAN_SCHEMA, self._deadline), _Plan).queries
        except (BadReply, ModelUnavailable) as error:
            logger.info("queries are planned by rule: %s", error)
            return ()
