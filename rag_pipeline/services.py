"""The parts that the settings ask for, opened when first used."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cached_property
from typing import Any, Self

from pydantic import SecretStr
from qdrant_client import QdrantClient
from upath import UPath

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.chunking.stage import CHUNKING_VERSION
from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.index.collection_options import CollectionOptions
from rag_pipeline.index.generations import fingerprint_of
from rag_pipeline.index.kept_store import KeptStore
from rag_pipeline.index.schema import generation_settings
from rag_pipeline.index.store import StoreLocation
from rag_pipeline.ledger.generations import GenerationState
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.normalize.stage import VERSION as NORMALIZING_VERSION
from rag_pipeline.query.answering.model import ChatModel
from rag_pipeline.query.ranking import RankingRules, load_ranking
from rag_pipeline.query.record import AskOptions
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.reranking import Reranker
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline.query.spans import export_spans
from rag_pipeline.query.tracing import TraceRecorder
from rag_pipeline.settings import Settings, environment
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline.sources.manifest_folder import load_manifests

# Said outright, since the SDK would otherwise read an address of its own from the environment.
_OPENAI = "https://api.openai.com/v1"


class Services:
    """Ledger, artifacts, embedder and store, as the settings describe them.

    Nothing is opened, loaded or connected before it is used, so that a command or a sensor pays only for what
    it needs. What was opened stays open until `close`, or until the `with` block ends.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._others: dict[str, Embedder] = {}
        self._kept_store = KeptStore(self.store)
        self.baselines = Baselines()
        """What signals are measured against, for the generations that this process searched."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what was opened: the server's clients and the ledger's database."""
        self._kept_store.close()
        if "ledger" in vars(self):
            self.ledger.close()

    @cached_property
    def root(self) -> UPath:
        """Where artifacts and tables are kept."""
        if self.settings.artifacts_url:
            return UPath(self.settings.artifacts_url)
        return UPath(self.settings.home.absolute())

    @property
    def evaluation_pages(self) -> UPath:
        """The folder of evaluations' pages, which hold passages and answers."""
        return self.root / "evaluations"

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """The stages' outputs, by document."""
        return ArtifactStore(self.root / "artifacts")

    @cached_property
    def ledger(self) -> Ledger:
        """What is indexed and what failed."""
        url = self.settings.ledger_url
        if url is None:
            home = self.settings.home.absolute()
            home.mkdir(parents=True, exist_ok=True)
            return Ledger(f"sqlite:///{home / 'ledger.sqlite'}", max_attempts=self.settings.max_attempts)
        return Ledger(url.get_secret_value(), max_attempts=self.settings.max_attempts)

    @cached_property
    def trace_recorder(self) -> TraceRecorder:
        """Where traces of requests go."""
        return TraceRecorder(
            self.ledger,
            texts=self.settings.trace_texts,
            retention=timedelta(days=self.settings.trace_retention_days),
        )

    def export_spans(self) -> None:
        """Send spans to the collector that the settings name, if they name one."""
        if self.settings.otlp_endpoint:
            export_spans(self.settings.otlp_endpoint)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that the settings name."""
        return self._embedder(self.settings)

    def embedder_of(self, model: Mapping[str, Any]) -> Embedder:
        """The embedder of a generation, from the model that it was begun with.

        An endpoint's address, key and limits are those of today's settings. Raises ConfigurationError where
        that gives another model.
        """
        if model == self.embedder.identity.to_json():
            return self.embedder
        known = json.dumps(model, sort_keys=True)
        if known not in self._others:
            self._others[known] = self._embedder_like(model)
        return self._others[known]

    def _embedder_like(self, model: Mapping[str, Any]) -> Embedder:
        named = {
            "embedding_provider": model["provider"],
            "embedding_model": None if model["provider"] == "hashing" else model["model"],
            "embedding_dimensions": None if model["provider"] == "local" else model["dimensions"],
            "embedding_query_prefix": model["query_prefix"],
            "embedding_passage_prefix": model["passage_prefix"],
        }
        embedder = self._embedder(self.settings.model_copy(update=named))
        if embedder.identity.to_json() != model:
            raise ConfigurationError(
                f"The model {model} of a generation cannot be had any more; today's code gives "
                f"{embedder.identity.to_json()}. Build a new generation with `rag-pipeline reindex`."
            )
        return embedder

    def _embedder(self, settings: Settings) -> Embedder:
        match settings.embedding_provider:
            case "local":
                from rag_pipeline.embedding.local import LocalEmbedder

                return (
                    LocalEmbedder(settings.embedding_model) if settings.embedding_model else LocalEmbedder()
                )
            case "hashing":
                from rag_pipeline.embedding.hashing import HashingEmbedder

                return HashingEmbedder(settings.embedding_dimensions or 384)
            case "openai":
                return self._endpoint(settings)

    def _endpoint(self, settings: Settings) -> Embedder:
        from rag_pipeline.embedding.openai_endpoint import OpenAIEmbedder
        from rag_pipeline.embedding.retrying import RetryPolicy

        key = settings.openai_api_key
        return OpenAIEmbedder(
            model=settings.embedding_model or "text-embedding-3-small",
            base_url=settings.embedding_base_url,
            api_key=key.get_secret_value() if key else None,
            dimensions=settings.embedding_dimensions,
            send_dimensions=settings.embedding_send_dimensions,
            query_prefix=settings.embedding_query_prefix,
            passage_prefix=settings.embedding_passage_prefix,
            max_tokens=settings.embedding_max_tokens,
            tokenizer_file=settings.embedding_tokenizer_file,
            concurrency=settings.embedding_concurrency,
            timeout_seconds=settings.embedding_timeout_s,
            retry_policy=RetryPolicy(max_retries=settings.embedding_max_retries),
        )

    @cached_property
    def store(self) -> StoreLocation:
        """Where Qdrant is."""
        settings = self.settings
        key = settings.qdrant_api_key
        return StoreLocation(
            folder=settings.home.absolute() / "qdrant",
            url=settings.qdrant_url,
            grpc_port=settings.qdrant_grpc_port,
            api_key=key.get_secret_value() if key else None,
            lock_wait_seconds=settings.lock_wait_s,
            timeout_seconds=settings.qdrant_timeout_s,
        )

    def retrieval_options(self, *, limit: int = 10) -> RetrievalOptions:
        """How much a search hands on."""
        settings = self.settings
        return RetrievalOptions(
            limit=limit,
            min_relevance=settings.min_relevance,
            per_document=settings.max_per_document,
            neighbours=settings.neighbours,
            reranker=self.reranker,
        )

    @cached_property
    def reranker(self) -> Reranker | None:
        """The reranking endpoint, if one is set."""
        url, model = self.settings.rerank_url, self.settings.rerank_model
        if url is None:
            return None
        if model is None:
            raise ConfigurationError(
                "RAG_RERANK_URL is set but RAG_RERANK_MODEL is not. Set it to the name of the model there."
            )
        return Reranker(url, model, api_key=self.settings.rerank_api_key)

    @cached_property
    def collection_options(self) -> CollectionOptions:
        """How a server keeps new collections."""
        settings = self.settings
        return CollectionOptions(
            hnsw_m=settings.qdrant_hnsw_m,
            hnsw_ef_construct=settings.qdrant_hnsw_ef_construct,
            on_disk=settings.qdrant_on_disk,
            quantization=settings.qdrant_quantization,
            replication_factor=settings.qdrant_replication_factor,
            shard_number=settings.qdrant_shard_number,
        )

    @cached_property
    def chunking(self) -> ChunkingOptions:
        """How chunks are cut, within the embedding model's window."""
        window = self.embedder.max_tokens
        target = min(self.settings.chunk_target_tokens, window)
        return ChunkingOptions(
            max_tokens=window, target_tokens=target, overlap_tokens=self.settings.chunk_overlap_tokens
        )

    @cached_property
    def generation_settings(self) -> dict[str, Any]:
        """What the live generation must have been built with."""
        return generation_settings(
            model=self.embedder.identity.to_json(),
            chunking=self.chunking.to_json(),
            chunking_version=CHUNKING_VERSION,
            normalizing_version=NORMALIZING_VERSION,
        )

    @property
    def generations_lease(self) -> str:
        """The lease of whoever changes the generations of the alias."""
        return f"generations of {self.settings.alias}"

    @property
    def build_is_due(self) -> bool:
        """Whether today's settings have no generation yet, or one whose build was killed."""
        today = fingerprint_of(self.generation_settings)
        known = self.ledger.generations.of_alias(self.settings.alias)
        same = [one for one in known if one.fingerprint == today and one.state is not GenerationState.FAILED]
        # What blocks a build is for people to put right; one that says nothing was cut short, or goes on.
        unfinished = any(one.state is GenerationState.BUILDING and one.reason is None for one in same)
        return not same or (unfinished and self.generations_lease not in self.ledger.leases.held())

    @cached_property
    def asking(self) -> AskOptions:
        """The settings of asking."""
        settings = self.settings
        return AskOptions(
            alias=settings.alias,
            deadline_seconds=settings.ask_deadline_s,
            max_evidence=settings.max_evidence,
            context_tokens=settings.answer_context_tokens,
            trace_texts=settings.trace_texts,
        )

    @cached_property
    def ranking(self) -> RankingRules:
        """What decides the order of evidence."""
        return load_ranking(self.settings.ranking_file)

    @cached_property
    def chat_model(self) -> ChatModel | None:
        """The language model that words answers, if the settings name one."""
        settings = self.settings
        if settings.answer_provider == "extractive":
            return None
        if not settings.answer_model:
            raise ConfigurationError("RAG_ANSWER_PROVIDER is openai, so RAG_ANSWER_MODEL must name a model.")
        return self._chat_model(settings.answer_model, self._answering_url, settings.answer_api_key)

    @cached_property
    def judge(self) -> ChatModel | None:
        """The language model that judges answers, if the settings name one."""
        settings = self.settings
        if not settings.judge_model:
            return None
        base_url = settings.judge_base_url or self._answering_url
        key = settings.judge_api_key
        if key is None and base_url.rstrip("/") == self._answering_url.rstrip("/"):
            key = settings.answer_api_key
        return self._chat_model(settings.judge_model, base_url, key)

    @property
    def _embedding_url(self) -> str:
        return self.settings.embedding_base_url or _OPENAI

    @property
    def _answering_url(self) -> str:
        return self.settings.answer_base_url or self._embedding_url

    def _chat_model(self, model: str, base_url: str, key: SecretStr | None) -> ChatModel:
        # A key is sent only to whom it is for: any other endpoint is somebody else's.
        if key is None and base_url.rstrip("/") in {self._embedding_url.rstrip("/"), _OPENAI}:
            key = self.settings.openai_api_key
        return ChatModel(model=model, base_url=base_url, api_key=key.get_secret_value() if key else None)

    def manifests(self) -> Mapping[str, Manifest]:
        """The manifests as they are now, by source id; a broken one grants nothing."""
        return load_manifests(self.settings.sources_folder).manifests

    def open_store(self, *, wait_seconds: float) -> AbstractContextManager[QdrantClient]:
        """Qdrant for a question that somebody waits for: neither its lock nor a request takes longer."""
        return self._kept_store.open(wait_seconds=wait_seconds)

    def passwords(self, manifest: Manifest) -> tuple[str, ...]:
        """The passwords in the variables that a manifest names, from the environment or `.env`.

        Raises ConfigurationError naming a variable that is not set.
        """
        names = manifest.parsing.password_env
        values = environment()
        missing = [name for name in names if not values.get(name)]
        if missing:
            raise ConfigurationError(
                f"Source {manifest.source_id} names {', '.join(missing)} in parsing.password_env, but the "
                "environment does not set it. Set it, or remove it from the manifest."
            )
        return tuple(values[name] for name in names)
