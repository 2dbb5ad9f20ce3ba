"""From evidence to an answer or to the reason why there is none, with a scripted model over HTTP."""

from collections.abc import Iterator

import pytest

from rag_pipeline.embedding.retrying import RetryPolicy
from rag_pipeline.query.answering.answering import Answering
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.answering.refusing import degraded_notice, refusal
from rag_pipeline.query.deadline import Deadline
from rag_pipeline.query.trace import Outcome
from rag_pipeline_tests.answering_steps import answered
from rag_pipeline_tests.chat_server import chat_reply, drafted, is_thinking, model_that, thought
from rag_pipeline_tests.evidence_samples import evidence_of
from rag_pipeline_tests.openai_server import OpenAIServer, Reply, Request, error_reply

QUESTION = "How long can hardware be returned?"
SENTENCE = "Hardware may be returned within 14 days of delivery."
EVIDENCE = evidence_of(f"{SENTENCE} Write to returns@shop.example.", "Shipping abroad takes 30 days.")
RIGHT = drafted("You can return hardware within 14 days of delivery [S1].", (SENTENCE, ["S1"]))
WRONG = drafted("You can return hardware within 90 days of delivery.")
DOUBTFUL = drafted("Hardware is collected by a courier who asks for a signed form.")
LINKED = drafted(
    "You can return hardware within 14 days of delivery ([form](http://evil.example/p?d=1)).",
    (SENTENCE, ["S1"]),
)
QUICK = RetryPolicy(max_retries=1, bad_answer_retries=1, base_seconds=0.01, cap_seconds=0.02)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer().running() as server:
        yield server


def ask(server: OpenAIServer | None, question: str = QUESTION, *, keep_texts: bool = True) -> Answering:
    model = (
        ChatModel(model="m", base_url=server.base_url, api_key="sk-1", retry_policy=QUICK) if server else None
    )
    return answered(question, EVIDENCE, model=model, deadline=Deadline(60), keep_texts=keep_texts)


def scripted(server: OpenAIServer, *replies: str) -> None:
    """The model thinks that the evidence suffices, and then drafts these in turn."""
    left = iter(replies)
    server.script = model_that(lambda request: next(left))


def test_without_a_model_the_evidence_is_quoted() -> None:
    result = ask(None)
    assert result.outcome is Outcome.ANSWERED
    assert result.draft
    assert result.draft.text == f"{SENTENCE} [S1]"
    assert result.model_down is None
    [attempt] = result.attempts
    assert (attempt.by, attempt.model, attempt.problems) == ("extractive", None, [])


def test_with_evidence_on_something_else_there_is_no_answer() -> None:
    result = ask(None, "When are we having dinner tonight?")
    assert (result.draft, result.outcome) == (None, Outcome.INSUFFICIENT)


def test_a_valid_draft_is_the_answer(server: OpenAIServer) -> None:
    server.script = model_that(RIGHT, thought(note="S1 states it. " * 40))
    result = ask(server)
    assert result.outcome is Outcome.ANSWERED
    assert result.draft
    assert result.draft.claims[0].labels == ("S1",)
    assert result.think_note
    assert len(result.think_note.split()) == 50
    assert [(one.by, one.model, one.problems) for one in result.attempts] == [("openai", "m", [])]
    labels = server.requests[1].body["response_format"]["json_schema"]["schema"]["properties"]["citations"]
    assert labels["items"]["properties"]["evidence_ids"]["items"]["enum"] == ["S1", "S2"]


def test_after_a_wrong_draft_the_model_is_told_why_and_asked_once_more(server: OpenAIServer) -> None:
    scripted(server, WRONG, RIGHT)
    result = ask(server)
    assert result.outcome is Outcome.ANSWERED
    assert result.draft
    assert "90" not in result.draft.text
    assert [bool(one.problems) for one in result.attempts] == [True, False]
    assert "90 days" in (result.attempts[0].text or "")
    told = server.requests[-1].body["messages"]
    assert [message["role"] for message in told] == ["system", "user", "assistant", "user"]
    assert "- Claim 1: “90 days” is not in what it cites." in told[-1]["content"]


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [
        ((WRONG, WRONG), Outcome.REFUSED),
        ((DOUBTFUL, WRONG), Outcome.REFUSED),
        ((WRONG, DOUBTFUL), Outcome.NEEDS_REVIEW),
        ((DOUBTFUL, DOUBTFUL), Outcome.NEEDS_REVIEW),
        (("PWNED", "PWNED"), Outcome.REFUSED),
        (("PWNED", RIGHT), Outcome.ANSWERED),
        ((drafted("x", (SENTENCE, ["S7"])),) * 2, Outcome.REFUSED),
        ((drafted("", answered=False),), Outcome.INSUFFICIENT),
        ((WRONG, drafted("", answered=False)), Outcome.INSUFFICIENT),
    ],
)
def test_what_becomes_of_drafts(server: OpenAIServer, replies: tuple[str, ...], outcome: Outcome) -> None:
    scripted(server, *replies)
    result = ask(server)
    assert result.outcome is outcome
    assert (result.draft is not None) == (outcome is Outcome.ANSWERED)
    assert len(result.attempts) == len(replies)
    assert result.reason


def test_a_foreign_link_is_removed_and_the_removal_is_recorded(server: OpenAIServer) -> None:
    scripted(server, LINKED)
    result = ask(server)
    assert result.outcome is Outcome.ANSWERED
    assert result.draft
    assert "evil.example" not in result.draft.text
    assert len(server.requests) == 2
    first, second = result.attempts
    assert first.problems == ["The answer: the link evil.example/p?d=1 is not in what is cited."]
    assert "evil.example" in (first.text or "")
    assert second.problems == []
    assert second.text == result.draft.text


def test_the_model_may_find_that_the_evidence_does_not_suffice(server: OpenAIServer) -> None:
    server.script = model_that(RIGHT, thought(False, "Nothing on hardware."))
    result = ask(server)
    assert (result.draft, result.outcome) == (None, Outcome.INSUFFICIENT)
    assert result.think_note == "Nothing on hardware."
    assert len(server.requests) == 1


def test_a_thought_that_makes_no_sense_decides_nothing(server: OpenAIServer) -> None:
    server.script = model_that(RIGHT, "I will not think.")
    result = ask(server)
    assert result.outcome is Outcome.ANSWERED
    assert result.think_note is None


@pytest.mark.parametrize("down_at", ["think", "draft", "retry"])
def test_with_the_model_down_the_evidence_is_quoted_and_marked(server: OpenAIServer, down_at: str) -> None:
    def script(request: Request) -> Reply:
        step = "think" if is_thinking(request) else "draft" if len(request.body["messages"]) == 2 else "retry"
        if step == down_at:
            return error_reply(500, "oops")
        return chat_reply(thought() if step == "think" else WRONG)

    server.script = script
    result = ask(server)
    assert result.outcome is Outcome.DEGRADED
    assert result.draft
    assert result.draft.text == f"{SENTENCE} [S1]"
    assert [one.by for one in result.attempts] == ["openai"] * (down_at == "retry") + ["extractive"]
    assert result.model_down
    assert "HTTP 500" in result.model_down
    assert result.reason == result.model_down


def test_past_the_deadline_the_evidence_is_quoted(server: OpenAIServer) -> None:
    server.script = lambda request: Reply(200, b"{}", delay_seconds=5)
    model = ChatModel(model="m", base_url=server.base_url)
    result = answered(QUESTION, EVIDENCE, model=model, deadline=Deadline(0.2))
    assert result.outcome is Outcome.DEGRADED
    assert result.draft


def test_texts_are_kept_only_where_asked_for(server: OpenAIServer) -> None:
    scripted(server, WRONG, WRONG)
    assert [one.text for one in ask(server, keep_texts=False).attempts] == [None, None]


def test_refusals_are_one_sentence_in_the_language_of_the_question() -> None:
    assert refusal(Outcome.NO_EVIDENCE, "硬件 return?") == "知识库中未找到可靠答案。"
    assert refusal(Outcome.NO_EVIDENCE, QUESTION).startswith("No reliable answer")
    ended = {
        Outcome.NO_EVIDENCE,
        Outcome.INSUFFICIENT,
        Outcome.NEEDS_REVIEW,
        Outcome.REFUSED,
        Outcome.DEGRADED,
    }
    for question, stop in ((QUESTION, "."), ("为什么？", "。")):
        sentences = {refusal(outcome, question) for outcome in ended}
        assert len(sentences) == len(ended)
        assert all(sentence.count(stop) == 1 for sentence in {*sentences, degraded_notice(question)})
