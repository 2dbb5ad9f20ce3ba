"""What a caller reads in place of an answer: one sentence, in the question's language."""

from typing import Final

from rag_pipeline.query.scripts import asks_in_chinese
from rag_pipeline.query.trace import Outcome

_SENTENCES: Final = {
    Outcome.NO_EVIDENCE: (
        "No reliable answer was found in the knowledge base.",
        "知识库中未找到可靠答案。",
    ),
    Outcome.INSUFFICIENT: (
        "What the knowledge base holds on this is not enough to answer the question reliably.",
        "知识库中的相关内容不足以可靠地回答这个问题。",
    ),
    Outcome.NEEDS_REVIEW: (
        "This question cannot be answered without doubt; a person has to look at it.",
        "该问题的答案存在疑问，需要人工审核。",
    ),
    Outcome.REFUSED: (
        "No answer is given, because it could not be shown to follow from the knowledge base.",
        "由于无法证实答案出自知识库，此问题不予回答。",
    ),
    Outcome.DEGRADED: (
        "The question cannot be answered right now; please try again later.",
        "暂时无法回答这个问题，请稍后再试。",
    ),
}
_DEGRADED_ANSWER: Final = (
    "No language model was available to word this: these are passages as they stand in the knowledge base.",
    "语言模型暂时不可用，以下为知识库原文摘录。",
)


def refusal(outcome: Outcome, question: str) -> str:
    """The sentence for a request that ended without an answer. Han characters make a question Chinese."""
    return _SENTENCES[outcome][asks_in_chinese(question)]


def degraded_notice(question: str) -> str:
    """What stands before passages that are quoted because the language model is down."""
    return _DEGRADED_ANSWER[asks_in_chinese(question)]
