"""One request to an OpenAI-compatible embeddings endpoint, and what its outcome means.

Outcomes are values, and no error of the SDK gets out of here: those hold the request, and with it the key.
"""

import threading
import time
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import SecretStr

from rag_pipeline.embedding.answers import BadAnswer, largest_answer, parse_answer
from rag_pipeline.embedding.batching import Refused
from rag_pipeline.embedding.embedder import Vector
from rag_pipeline.embedding.retrying import Transient, retry_after_seconds
from rag_pipeline.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

_CONNECT_SECONDS = 10.0
_SHORTEST_SECONDS = 0.001
_LONGEST_REASON = 300
_REFUSING = {400, 413, 422}
_PASSING = {408, 409, 425, 429}
_ADVICE = {
    401: "check OPENAI_API_KEY",
    403: "check that OPENAI_API_KEY may use the model in RAG_EMBEDDING_MODEL",
    404: "check RAG_EMBEDDING_BASE_URL and RAG_EMBEDDING_MODEL",
}


class Endpoint:
    """Sends batches to an embeddings endpoint. May be used from several threads."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: SecretStr | None,
        model: str,
        dimensions: int,
        send_dimensions: bool,
        timeout_seconds: float,
    ) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._model = model
        self._dimensions = dimensions
        self._send_dimensions = send_dimensions
        self._timeout = timeout_seconds
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, timeout_seconds: float) -> list[Vector] | Refused | Transient:
        """The vectors of the texts, or why there are none.

        Takes at most about twice the timeout, or the endpoint's own one where that is shorter. Raises
        EmbeddingUnavailable where no other texts and no waiting would help.
        """
        # Sockets take 0 to mean that they must not wait at all.
        outcome = self._attempt(texts, max(_SHORTEST_SECONDS, min(self._timeout, timeout_seconds)))
        if isinstance(outcome, EmbeddingUnavailable):
            raise outcome
        return outcome

    def _attempt(
        self, texts: Sequence[str], seconds: float
    ) -> list[Vector] | Refused | Transient | EmbeddingUnavailable:
        import httpx2
        import openai

        try:
            body = self._post(texts, seconds)
        except openai.APIStatusError as error:
            return self._refusal(error)
        except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError):
            return Transient(f"no answer within {seconds:.3g} s")
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            return Transient(self._public(f"no connection to the embedding endpoint ({_root_cause(error)})"))
        except BadAnswer as error:
            return Transient(f"bad answer: {error}", bad_answer=True)
        try:
            return parse_answer(body, texts=len(texts), dimensions=self._dimensions)
        except BadAnswer as error:
            return Transient(self._public(f"bad answer: {error}"), bad_answer=True)

    def _post(self, texts: Sequence[str], seconds: float) -> bytes:
        from openai import Timeout, omit

        request = self._connected().embeddings.with_streaming_response.create(
            model=self._model,
            input=list(texts),
            encoding_format="float",
            dimensions=self._dimensions if self._send_dimensions else omit,
            extra_headers=None if self._api_key else {"Authorization": omit},
            timeout=Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        )
        deadline = time.monotonic() + seconds
        body = bytearray()
        with request as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > largest_answer(len(texts), self._dimensions):
                    raise BadAnswer(f"it is longer than {len(texts)} vectors can be")
                # The client's own timeout starts anew with every byte that arrives.
                if time.monotonic() > deadline:
                    raise TimeoutError
        return bytes(body)

    def _connected(self) -> "OpenAI":
        from openai import OpenAI

        with self._lock:
            if self._client is None:
                self._client = OpenAI(
                    base_url=self._base_url,
                    # The SDK must have one, and would look for one in the environment.
                    api_key=self._api_key.get_secret_value() if self._api_key else "none",
                    max_retries=0,
                )
                # The SDK's objects hold each other, and would leave closing to the garbage collector.
                weakref.finalize(self, self._client.close)
            return self._client

    def _refusal(self, error: "APIStatusError") -> Refused | Transient | EmbeddingUnavailable:
        reason = self._public(f"HTTP {error.status_code}: {_message(error)}")
        if error.status_code in _REFUSING:
            return Refused(reason)
        if error.code == "insufficient_quota":  # a 429 that waiting does not cure
            return EmbeddingUnavailable(f"The embedding account's quota is used up ({reason}); raise it.")
        if error.status_code in _PASSING or error.status_code >= 500:
            return Transient(reason, retry_after_seconds(error.response.headers, time.time()))
        advice = _ADVICE.get(error.status_code, "check RAG_EMBEDDING_BASE_URL")
        return EmbeddingUnavailable(f"The embedding endpoint does not serve us ({reason}); {advice}.")

    def _public(self, text: str) -> str:
        """Text from outside as one short line without the key, which some servers repeat."""
        if self._api_key:
            text = text.replace(self._api_key.get_secret_value(), "[key]")
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 1] + "…"


def _message(error: "APIStatusError") -> str:
    body = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("error") or body.get("detail") or ""
    return str(body) if body else "no reason given"


def _root_cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
