"""What OpenAIServer must reply to act as a language model."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from rag_pipeline_tests.openai_server import Reply, Request, Script


def chat_reply(content: str | None, **fields: Any) -> Reply:
    """A chat completion with this content."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "test",
        "choices": [choice],
        **fields,
    }
    return Reply(200, json.dumps(body).encode(), {"content-type": "application/json"})


def thought(sufficient: bool = True, note: str = "They state it.") -> str:
    """A judgement as the model gives it."""
    return json.dumps({"sufficient": sufficient, "note": note})


def drafted(answer: str, *citations: tuple[str, Sequence[str]], answered: bool = True) -> str:
    """A draft as the model gives it; without citations the answer is its only claim, citing S1."""
    cited = citations or ((answer, ["S1"]),)
    rows = [{"claim": claim, "evidence_ids": list(labels)} for claim, labels in cited]
    return json.dumps({"answered": answered, "answer": answer, "citations": rows}, ensure_ascii=False)


def is_thinking(request: Request) -> bool:
    """Whether the model is asked to judge the evidence, and not to answer."""
    return '"sufficient"' in request.body["messages"][0]["content"]


def is_planning(request: Request) -> bool:
    """Whether the model is asked to split the question, before anything is searched."""
    return '"queries"' in request.body["messages"][0]["content"]


def planned(*queries: str) -> str:
    """A plan as the model gives it."""
    return json.dumps({"queries": queries}, ensure_ascii=False)


def model_that(draft: Callable[[Request], str] | str, think: str | None = None) -> Script:
    """A script by which the server thinks, plans nothing, and answers every other request with this draft."""

    def script(request: Request) -> Reply:
        if is_planning(request):
            return chat_reply(planned())
        if is_thinking(request):
            return chat_reply(thought() if think is None else think)
        return chat_reply(draft if isinstance(draft, str) else draft(request))

    return script


def judging(supported: bool = True, verdict: str = "agrees") -> Script:
    """A script by which the server judges every claim and answer alike."""

    def script(request: Request) -> Reply:
        claims = re.findall(r"^<<<CLAIM (\d+)", what_is_judged(request), re.MULTILINE)
        if claims:
            judged = [{"claim": int(one), "supported": supported} for one in claims]
            return chat_reply(json.dumps({"claims": judged}))
        return chat_reply(json.dumps({"verdict": verdict}))

    return script


def what_is_judged(request: Request) -> str:
    """The data that a judge is shown."""
    return str(request.body["messages"][1]["content"])
