"""A language model behind any endpoint that speaks OpenAI's chat completions."""

import json
import logging
import random
import re
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, SecretStr, ValidationError

from rag_pipeline.embedding.retrying import GaveUp, RetryPolicy, Transient, retry, retry_after_seconds
from rag_pipeline.errors import ModelUnavailable
from rag_pipeline.query.deadline import Deadline, within

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

logger = logging.getLogger(__name__)

Messages = Sequence[Mapping[str, str]]
"""A chat: the role and the content of each message."""

_CONNECT_SECONDS: Final = 5.0
_LARGEST_REPLY: Final = 1_000_000
_POLICY: Final = RetryPolicy(max_retries=2, bad_answer_retries=1, base_seconds=0.25, cap_seconds=2.0)
_PASSING: Final = {408, 409, 425, 429}
# What endpoints answer to a field that they do not know.
_UNKNOWN_FIELD: Final = {400, 404, 415, 422, 500, 501}
_NO_FORMAT: Final = re.compile(
    r"response_?format|json_?object|schema|structured|guided|grammar", re.IGNORECASE
)
_NO_TEMPERATURE: Final = re.compile(r"temperature", re.IGNORECASE)
_ADVICE: Final = {
    401: "check its API key",
    403: "check that its API key may use the model",
    404: "check its address and the model's name",
}


class _Format(IntEnum):
    """How a reply's shape is asked for, from the surest way to the one that every endpoint takes."""

    SCHEMA = 0
    OBJECT = 1
    PLAIN = 2


class _Unsupported:
    """The endpoint does not know a field of the request, which is left out from now on."""


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message


class _Completion(BaseModel):
    choices: list[_Choice]


class ChatModel:
    """Asks a language model. May be used from several threads.

    Neither the key nor anything of what is asked or replied occurs in a message, log line or repr.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str | None = None,
        proxy: str | None = None,
        retry_policy: RetryPolicy = _POLICY,
    ) -> None:
        """No request is made yet.

        The environment counts for nothing here: no key, address, organization or proxy is taken from it.
        """
        self.name = model
        self._base_url = base_url
        self._api_key = SecretStr(api_key) if api_key else None
        self._proxy = proxy
        self._policy = retry_policy
        self._format = _Format.SCHEMA
        self._temperature = True
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    def complete(self, messages: Messages, schema: dict[str, Any] | None, deadline: Deadline) -> str:
        """What the model replies; "" where it declines.

        With a schema the reply is asked to be JSON of it, in the strictest way that the endpoint knows;
        whether it is must still be checked. What fails for the moment is tried again while the deadline
        allows. Raises ModelUnavailable where there is no reply.
        """
        while True:
            outcome = retry(
                lambda: self._attempt(messages, schema, deadline),
                replace(self._policy, total_seconds=deadline.remaining),
                sleep=time.sleep,
                clock=time.monotonic,
                fraction=random.random,
            )
            if isinstance(outcome, str):
                return outcome
            if isinstance(outcome, GaveUp):
                raise ModelUnavailable(f"The language model does not answer: {outcome}.")
            if isinstance(outcome, ModelUnavailable):
                raise outcome

    def _attempt(
        self, messages: Messages, schema: dict[str, Any] | None, deadline: Deadline
    ) -> str | Transient | _Unsupported | ModelUnavailable:
        """One request. Errors are values here: those of the SDK hold the request, and with it the key."""
        import httpx2
        import openai

        seconds = deadline.remaining
        if seconds <= 0:
            return ModelUnavailable("There was no time left to ask the language model.")
        asked, with_temperature = self._format, self._temperature
        try:
            body = within(seconds, lambda: self._post(messages, schema, asked, with_temperature, seconds))
        except openai.APIStatusError as error:
            return self._refusal(error, asked if schema else None, with_temperature)
        except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError):
            return ModelUnavailable("The language model did not answer in time.")
        except (openai.APIConnectionError, httpx2.HTTPError):
            return Transient("no connection")
        except _TooLong:
            return Transient("its answer is endless", bad_answer=True)
        try:
            choices = _Completion.model_validate_json(body).choices
        except ValidationError:
            return Transient("what answers is no chat completion", bad_answer=True)
        if not choices:
            return Transient("its answer is empty", bad_answer=True)
        return choices[0].message.content or ""

    def _post(
        self,
        messages: Messages,
        schema: dict[str, Any] | None,
        asked: _Format,
        with_temperature: bool,
        seconds: float,
    ) -> bytes:
        from openai import Timeout, omit

        sent = [dict(message) for message in messages]
        if schema and asked is not _Format.SCHEMA:
            sent[-1]["content"] += (
                "\n\nReply with one JSON object of this JSON schema and with nothing else:\n"
                + json.dumps(schema, ensure_ascii=False)
            )
        no_header = {"OpenAI-Organization": omit, "OpenAI-Project": omit}
        request = self._connected().chat.completions.with_streaming_response.create(
            model=self.name,
            messages=sent,  # type: ignore[arg-type]  # the SDK has a type for each role
            temperature=0.0 if with_temperature else omit,
            response_format=_response_format(schema, asked) if schema else omit,
            extra_headers=no_header if self._api_key else no_header | {"Authorization": omit},
            timeout=Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        )
        body = bytearray()
        with request as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > _LARGEST_REPLY:
                    raise _TooLong
        return bytes(body)

    def _connected(self) -> "OpenAI":
        import httpx2
        from openai import OpenAI

        with self._lock:
            if self._client is None:
                self._client = OpenAI(
                    base_url=self._base_url,
                    # The SDK must have a key, and would look for one in the environment.
                    api_key=self._api_key.get_secret_value() if self._api_key else "none",
                    http_client=httpx2.Client(trust_env=False, proxy=self._proxy),
                    max_retries=0,
                )
                # The SDK's objects hold each other, and would leave closing to the garbage collector.
                weakref.finalize(self, self._client.close)
            return self._client

    def _refusal(
        self, error: "APIStatusError", asked: _Format | None, with_temperature: bool
    ) -> Transient | _Unsupported | ModelUnavailable:
        status, said = error.status_code, str(error.body or "")
        if status in _UNKNOWN_FIELD:
            if with_temperature and _NO_TEMPERATURE.search(said):
                self._temperature = False
                return _Unsupported()
            if asked is not None and asked is not _Format.PLAIN and _NO_FORMAT.search(said):
                # Another thread may have gone further already.
                self._format = max(self._format, _Format(asked + 1))
                logger.info("model %s: no structured output of kind %s", self.name, asked.name.lower())
                return _Unsupported()
        if error.code == "insufficient_quota":  # a 429 that waiting does not cure
            return ModelUnavailable("The quota of the language model's account is used up; raise it.")
        if status in _PASSING or status >= 500:
            return Transient(f"HTTP {status}", retry_after_seconds(error.response.headers, time.time()))
        advice = _ADVICE.get(status, "check its address and the model's name")
        return ModelUnavailable(f"The language model does not serve us (HTTP {status}); {advice}.")


class _TooLong(Exception):
    """A reply that no proper endpoint sends."""


def _response_format(schema: dict[str, Any], asked: _Format) -> Any:
    from openai import omit

    if asked is _Format.SCHEMA:
        return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
    return {"type": "json_object"} if asked is _Format.OBJECT else omit
