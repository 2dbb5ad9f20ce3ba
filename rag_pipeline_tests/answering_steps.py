"""Answering from given evidence, through the steps that asking takes."""

from collections.abc import Sequence

from rag_pipeline.query.answering.answering import Answering, answering, draft, think, validate
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.evidence import Evidence


def answered(
    question: str,
    evidence: Sequence[Evidence],
    *,
    model: ChatModel | None,
    deadline: Deadline,
    keep_texts: bool = False,
) -> Answering:
    """What came of a question: the first step with an outcome is the last one."""
    record = answering(question, evidence, model=model, deadline=deadline, keep_texts=keep_texts)
    for step in (think, draft, validate):
        if record.outcome is None:
            record = step(record)
    return record
