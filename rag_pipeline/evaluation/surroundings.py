"""What a case is asked in: the deployment's services, of one generation, watched, perhaps with an outage."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any, Final, NoReturn

from qdrant_client import QdrantClient

from rag_pipeline.embedding.embedder import Embedder, Refusal, Vector
from rag_pipeline.embedding.passing_on import PassingOn
from rag_pipeline.embedding.retrying import RetryPolicy
from rag_pipeline.errors import EmbeddingUnavailable, StoreError
from rag_pipeline.evaluation.case import Outage
from rag_pipeline.evaluation.watching import WatchedClient
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.ranking import RankingRules
from rag_pipeline.query.record import AskOptions
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.relevance.term_weights import TermWeights
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline.query.trace import Trace
from rag_pipeline.services import Services
from rag_pipeline.sources.manifest import Manifest

# Nothing listens there: the discard service is not run any more, and the port is reserved for it.
_NOBODY: Final = "http://127.0.0.1:9/v1"
_ONCE: Final = RetryPolicy(max_retries=0, bad_answer_retries=0, base_seconds=0.0, cap_seconds=0.0)


class KeptTraces:
    """Keeps traces in memory: the questions of evaluations are nobody's, and must not count as theirs."""

    def __init__(self) -> None:
        self._traces: list[Trace] = []

    def record(self, trace: Trace) -> None:
        """Keep a trace, with its texts."""
        self._traces.append(trace)

    def take(self) -> Trace:
        """The newest trace; all are let go. Raises LookupError where there is none."""
        if not self._traces:
            raise LookupError("no request has left a trace")
        trace = self._traces[-1]
        self._traces.clear()
        return trace


class Surroundings:
    """The deployment's own services in all but four things: traces stay here, the generation is a named one,
    what Qdrant hands back is watched, and what a case says is down does not answer."""

    def __init__(self, services: Services, generation: str) -> None:
        self._services = services
        self._generation = generation
        self.outage: Outage | None = None
        """What is down for the next request."""
        self.trace_recorder = KeptTraces()
        self.points_seen: set[str] = set()
        """The ids of all points that Qdrant handed back since this was last emptied."""

    @cached_property
    def asking(self) -> AskOptions:
        """The deployment's, for the named generation."""
        return replace(self._services.asking, generation=self._generation)

    @property
    def ledger(self) -> Ledger:
        """The deployment's."""
        return self._services.ledger

    @property
    def ranking(self) -> RankingRules:
        """The deployment's."""
        return self._services.ranking

    @property
    def chat_model(self) -> ChatModel | None:
        """The deployment's, or one that nobody answers for."""
        return self._no_model if self.outage is Outage.MODEL else self._services.chat_model

    @cached_property
    def _no_model(self) -> ChatModel:
        return ChatModel(model="nobody", base_url=_NOBODY, retry_policy=_ONCE)

    @cached_property
    def baselines(self) -> Baselines:
        """The deployment's, but for the rarity of terms: that is searched for anew, and watched."""
        return replace(self._services.baselines, term_weights=TermWeights())

    def retrieval_options(self, *, limit: int) -> RetrievalOptions:
        """The deployment's."""
        return self._services.retrieval_options(limit=limit)

    def manifests(self) -> Mapping[str, Manifest]:
        """The deployment's, as they are now."""
        return self._services.manifests()

    def embedder_of(self, model: Mapping[str, Any]) -> Embedder:
        """The deployment's, or one that does not answer."""
        embedder = self._services.embedder_of(model)
        return _SilentEmbedder(embedder) if self.outage is Outage.EMBEDDER else embedder

    @contextmanager
    def open_store(self, *, wait_seconds: float) -> Iterator[QdrantClient]:
        """The deployment's, watched; StoreError where it is down."""
        if self.outage is Outage.STORE:
            raise StoreError("Qdrant does not answer, as the case wants it.")
        with self._services.open_store(wait_seconds=wait_seconds) as client:
            yield WatchedClient(client, self.points_seen).as_client


class _SilentEmbedder(PassingOn):
    """An embedder whose model does not answer."""

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        self._fail()

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = inf) -> list[Vector]:
        self._fail()

    @staticmethod
    def _fail() -> NoReturn:
        raise EmbeddingUnavailable("The embedding model does not answer, as the case wants it.")
