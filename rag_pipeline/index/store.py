"""Opening Qdrant: a server by URL, or the embedded store in a folder."""

import sqlite3
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import grpc
import httpx
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException

from rag_pipeline.errors import StoreError

_LOCK_POLL_SECONDS = 0.2
_MOST_BACKOFF_MS = 1_000
_STORE_FAILURES = (ApiException, QdrantException, grpc.RpcError)


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """Where Qdrant is. Without a `url` it is the embedded store in `folder`.

    `lock_wait_seconds` bounds the wait for the embedded store, which lets one process in at a time;
    `timeout_seconds` bounds each request to a server.
    """

    folder: Path
    url: str | None = None
    grpc_port: int = 6334
    api_key: str | None = field(default=None, repr=False)
    lock_wait_seconds: float = 120.0
    timeout_seconds: int = 60

    @property
    def embedded(self) -> bool:
        """Whether it is the embedded store."""
        return self.url is None

    def __str__(self) -> str:
        return self.url or f"embedded store in {self.folder}"


@contextmanager
def open_store(location: StoreLocation) -> Iterator[QdrantClient]:
    """A client, closed on the way out. Open late and close early: the embedded store is then locked.

    What the client raises inside the block leaves it as StoreError. Raises it as well where the embedded
    store stays locked.
    """
    client = _embedded(location) if location.embedded else server_client(location)
    try:
        with failures_told(location):
            yield client
    finally:
        client.close()


@contextmanager
def failures_told(location: StoreLocation) -> Iterator[None]:
    """What a client of the location raises inside the block leaves it as StoreError."""
    try:
        yield
    except _STORE_FAILURES as error:
        raise StoreError(
            f"Qdrant at {location} failed: {_reason(error)}. Nothing unconfirmed was recorded; check the "
            "server, RAG_QDRANT_URL and RAG_QDRANT_API_KEY, then run again."
        ) from error
    except sqlite3.Error as error:  # the embedded store's files
        raise StoreError(
            f"The {location} failed: {error}. Nothing unconfirmed was recorded; make room or mend that "
            "folder, then run again."
        ) from error
    except ValueError as error:
        # What a server answers with a status, the embedded store says by this.
        if not location.embedded or "not found" not in str(error):
            raise
        raise StoreError(
            f"The {location} lacks something that the ledger says is there: {error}. Run "
            "`rag-pipeline index`, which builds it again from stored vectors."
        ) from error


def _reason(error: Exception) -> str:
    # str() of a gRPC error is a page of debug text; its status and details say the same in a line.
    if isinstance(error, grpc.RpcError) and isinstance(error, grpc.Call):
        return f"{error.code().name}: {error.details()}"
    return str(error)


def server_client(location: StoreLocation) -> QdrantClient:
    """A client of the server at a location, for whoever closes it; nothing is sent yet."""
    return QdrantClient(
        url=location.url,
        grpc_port=location.grpc_port,
        prefer_grpc=True,
        api_key=location.api_key,
        timeout=location.timeout_seconds,
        # A client that is kept finds a server that was away within seconds; by itself it may wait minutes.
        grpc_options={"grpc.max_reconnect_backoff_ms": _MOST_BACKOFF_MS},
        check_compatibility=False,  # it only warns; a server that is too old refuses what it does not know
        verify=_trusted_certificates(),
    )


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """What httpx trusts by itself. Each client would read it anew, which takes longer than most requests."""
    return httpx.create_ssl_context()


def _embedded(location: StoreLocation) -> QdrantClient:
    location.folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + location.lock_wait_seconds
    while True:
        try:
            return QdrantClient(path=str(location.folder))
        except RuntimeError as error:
            if "already accessed" not in str(error):
                raise
            if time.monotonic() > deadline:
                raise StoreError(
                    f"The embedded store in {location.folder} is still in use by another process after "
                    f"{location.lock_wait_seconds:.0f} s. Wait for that run to end, or use a Qdrant server "
                    "(RAG_QDRANT_URL), which many processes can share."
                ) from error
            time.sleep(_LOCK_POLL_SECONDS)
