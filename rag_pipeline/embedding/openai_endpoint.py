"""Embedding by any endpoint that speaks the OpenAI embeddings API."""

import logging
import math
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from rag_pipeline.embedding.batching import Refused, embed_isolating, split_batches
from rag_pipeline.embedding.embedder import ModelIdentity, Refusal, Vector
from rag_pipeline.embedding.endpoint import Endpoint
from rag_pipeline.embedding.retrying import GaveUp, RetryPolicy, Transient, retry
from rag_pipeline.embedding.text import unfit, valid_text
from rag_pipeline.embedding.tokens import ByteBoundCounter, TokenCounter, TokenizerFileCounter
from rag_pipeline.errors import ConfigurationError, EmbeddingUnavailable

logger = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
MAX_REQUEST_ITEMS = 2_048
MAX_REQUEST_TOKENS = 300_000

# Vector sizes of OpenAI's models. All of them read 8,192 tokens.
_OPENAI_SIZES = {
    "text-embedding-3-small": 1_536,
    "text-embedding-3-large": 3_072,
    "text-embedding-ada-002": 1_536,
}
_OPENAI_WINDOW = 8_192


class OpenAIEmbedder:
    """Vectors from an OpenAI-compatible endpoint: batched, in parallel, retried, checked.

    May be used from several threads. The key occurs in no message, log line or repr.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        send_dimensions: bool = False,
        query_prefix: str = "",
        passage_prefix: str = "",
        max_tokens: int | None = None,
        tokenizer_file: Path | None = None,
        batch_items: int = 64,
        concurrency: int = 4,
        timeout_seconds: float = 60.0,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        """No request is made yet.

        `dimensions` and `max_tokens` (the model's window) may be left out for OpenAI's own models only.
        `dimensions` is part of the request where one of those is to be shortened, or with `send_dimensions`:
        many compatible servers refuse it. `batch_items` is at most 2,048; smaller ones are what can run in
        parallel. Raises ConfigurationError for what cannot work.
        """
        url = _checked_url(base_url or OPENAI_URL)
        if not api_key and base_url is None:
            raise ConfigurationError(
                "OPENAI_API_KEY is not set. Set it, or name another endpoint in RAG_EMBEDDING_BASE_URL."
            )
        if not 1 <= batch_items <= MAX_REQUEST_ITEMS:
            raise ConfigurationError(
                f"The embedding batch size is {batch_items}; it must be 1 to {MAX_REQUEST_ITEMS}."
            )
        known_size = _OPENAI_SIZES.get(model)
        size = dimensions or known_size
        window = max_tokens or (_OPENAI_WINDOW if known_size else None)
        if size is None or window is None:
            raise ConfigurationError(
                f"The embedding model {model!r} is not known here: set RAG_EMBEDDING_DIMENSIONS to the "
                "length of its vectors and RAG_EMBEDDING_MAX_TOKENS to the tokens it reads."
            )
        self.identity = ModelIdentity("openai", model, size, query_prefix, passage_prefix)
        self._counter: TokenCounter = (
            TokenizerFileCounter(tokenizer_file, window) if tokenizer_file else ByteBoundCounter(window)
        )
        self._endpoint = Endpoint(
            base_url=url,
            api_key=_checked_key(api_key) if api_key else None,
            model=model,
            dimensions=size,
            send_dimensions=send_dimensions or (known_size is not None and size != known_size),
            timeout_seconds=timeout_seconds,
        )
        self._batch_items = batch_items
        self._concurrency = concurrency
        self._policy = retry_policy or RetryPolicy()

    @property
    def max_tokens(self) -> int:
        """With a tokenizer file the model's window; without one a quarter of it (see tokens.py)."""
        return self._counter.max_tokens

    @property
    def batch_texts(self) -> int:
        """A request for each that may be in flight."""
        return self._batch_items * self._concurrency

    def count_tokens(self, text: str) -> int:
        """Exact with a tokenizer file; without one an estimate that still keeps passages in the window."""
        return self._counter.count(self._passage(text))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        passages = [self._passage(text) for text in texts]
        results = {
            index: refusal
            for index, text in enumerate(texts)
            if (refusal := unfit(text, self._counter.count(passages[index]), self.max_tokens))
        }
        fitting = [index for index in range(len(texts)) if index not in results]
        answers = self._embed([passages[index] for index in fitting])
        by_index: dict[int, Vector | Refusal] = {**results, **dict(zip(fitting, answers, strict=True))}
        return [by_index[index] for index in range(len(texts))]

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = math.inf) -> list[Vector]:
        questions = [self.identity.query_prefix + valid_text(text) for text in texts]
        vectors: list[Vector] = []
        for answer in self._embed(questions, until=time.monotonic() + timeout_seconds):
            if isinstance(answer, Refusal):
                raise EmbeddingUnavailable(f"The embedding endpoint refuses the question: {answer.reason}")
            vectors.append(answer)
        return vectors

    def _passage(self, text: str) -> str:
        return self.identity.passage_prefix + valid_text(text)

    def _embed(self, texts: Sequence[str], *, until: float = math.inf) -> list[Vector | Refusal]:
        """The answers, or none if there are not all of them by a moment of the monotonic clock."""
        bounds = [self._counter.bound(text) for text in texts]
        batches = [
            texts[batch.start : batch.stop]
            for batch in split_batches(bounds, max_items=self._batch_items, max_tokens=MAX_REQUEST_TOKENS)
        ]
        stop = threading.Event()
        embed = partial(embed_isolating, ask=partial(self._ask, stop=stop, until=until))
        if len(batches) < 2:
            return [answer for batch in batches for answer in embed(batch)]
        pool = ThreadPoolExecutor(min(self._concurrency, len(batches)), thread_name_prefix="embed")
        try:
            return [answer for answers in pool.map(embed, batches) for answer in answers]
        finally:
            # After a failure or an interrupt, whoever waits to try again must not keep us waiting.
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _ask(self, texts: Sequence[str], *, stop: threading.Event, until: float) -> list[Vector] | Refused:
        def attempt() -> list[Vector] | Refused | Transient:
            if stop.is_set():
                raise EmbeddingUnavailable("Given up, because another batch failed.")
            outcome = self._endpoint.embed(texts, timeout_seconds=until - time.monotonic())
            if isinstance(outcome, Transient):
                logger.warning(
                    "embedding %d texts with %s: %s", len(texts), self.identity.model, outcome.reason
                )
            return outcome

        total = min(self._policy.total_seconds, until - time.monotonic())
        outcome: list[Vector] | Refused | GaveUp = retry(
            attempt,
            replace(self._policy, total_seconds=total),
            sleep=stop.wait,
            clock=time.monotonic,
            fraction=random.random,
        )
        if not isinstance(outcome, GaveUp):
            return outcome
        if outcome.last.bad_answer:
            return Refused(str(outcome))
        raise EmbeddingUnavailable(
            f"The embedding endpoint failed: {outcome}. What is embedded is kept; run again when it is back, "
            "or check RAG_EMBEDDING_BASE_URL."
        )


def _checked_key(key: str) -> SecretStr:
    # The HTTP client would quote a key that cannot stand in a header in its error.
    if not all("!" <= character <= "~" for character in key):
        raise ConfigurationError("OPENAI_API_KEY holds a blank, a line break or a letter no key has.")
    return SecretStr(key)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError("RAG_EMBEDDING_BASE_URL must be an address like https://host/v1.")
    if parts.username or parts.password:
        # The HTTP client logs addresses.
        raise ConfigurationError(
            "RAG_EMBEDDING_BASE_URL must not hold a password; put the key into OPENAI_API_KEY."
        )
    return url
