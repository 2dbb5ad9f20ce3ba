"""Ordering passages anew by a reranking model behind an OpenAI- or Cohere-style `/rerank` endpoint."""

import math
import time
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, ValidationError

from rag_pipeline.errors import RagPipelineError

_MOST_BYTES = 1_000_000


class RerankFailed(RagPipelineError):
    """The endpoint gave no usable order; says why."""


class _Ranked(BaseModel):
    index: Annotated[int, Field(ge=0)]
    relevance_score: Annotated[float, Field(allow_inf_nan=False)]


class _Answer(BaseModel):
    results: list[_Ranked]


class Reranker:
    """One endpoint and model. The key occurs in no message."""

    def __init__(
        self, base_url: str, model: str, *, api_key: SecretStr | None = None, timeout_seconds: float = 5.0
    ) -> None:
        """`base_url` is the address to which `/rerank` is added."""
        self._url = f"{base_url.rstrip('/')}/rerank"
        self._model = model
        self._api_key = api_key
        self._timeout = timeout_seconds

    def order(self, query: str, texts: Sequence[str], *, most_seconds: float = math.inf) -> list[int]:
        """The places of the texts, the most relevant one first; those that the endpoint leaves out come last.

        It waits for its own timeout, and not for more than `most_seconds`. Raises RerankFailed.
        """
        seconds = min(self._timeout, most_seconds)
        if seconds <= 0:
            raise RerankFailed("no time is left for it")
        try:
            answer = _Answer.model_validate_json(self._post(query, texts, seconds))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise RerankFailed(f"its answer is not a ranking: {first['msg']}") from None
        ranked = sorted(answer.results, key=lambda one: -one.relevance_score)
        places = list(dict.fromkeys(one.index for one in ranked))
        if not places or max(places) >= len(texts):
            raise RerankFailed("its answer ranks texts that it was not given, or none")
        return places + [place for place in range(len(texts)) if place not in set(places)]

    def _post(self, query: str, texts: Sequence[str], seconds: float) -> bytes:
        import httpx2

        headers = {"Authorization": f"Bearer {self._api_key.get_secret_value()}"} if self._api_key else {}
        asked = {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}
        deadline = time.monotonic() + seconds
        body = bytearray()
        try:
            with httpx2.stream("POST", self._url, json=asked, headers=headers, timeout=seconds) as response:
                if response.status_code != httpx2.codes.OK:
                    raise RerankFailed(f"it answered HTTP {response.status_code}")
                for part in response.iter_bytes():
                    body += part
                    # The client's own timeout starts anew with every byte that arrives.
                    if time.monotonic() > deadline or len(body) > _MOST_BYTES:
                        raise RerankFailed("its answer is too long or takes too long")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise RerankFailed(f"it cannot be reached ({type(error).__name__})") from None
        return bytes(body)
