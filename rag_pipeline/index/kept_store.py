"""Qdrant for whoever asks it again and again: to make a client takes longer than most questions do."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from qdrant_client import QdrantClient

from rag_pipeline.errors import StoreError
from rag_pipeline.index.store import StoreLocation, failures_told, open_store, server_client


class KeptStore:
    """Clients of a server that stay open until `close`. May be used from several threads.

    The embedded store lets one process in at a time, so that it is opened for each use and closed after it.
    """

    def __init__(self, location: StoreLocation) -> None:
        self._location = location
        self._clients: dict[int, QdrantClient] = {}
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def open(self, *, wait_seconds: float) -> Iterator[QdrantClient]:
        """A client for somebody who waits: neither a request nor the embedded store's lock takes longer.

        Whole seconds, rounded up, where it is a server. Raises StoreError as `open_store` does.
        """
        location = replace(
            self._location,
            lock_wait_seconds=min(self._location.lock_wait_seconds, wait_seconds),
            timeout_seconds=min(self._location.timeout_seconds, max(1, math.ceil(wait_seconds))),
        )
        if location.embedded:
            with open_store(location) as client:
                yield client
        else:
            with failures_told(location):
                yield self._kept(location)

    def close(self) -> None:
        """Close every client; requests that are under way fail, and later ones are refused."""
        with self._lock:
            self._closed = True
            clients = list(self._clients.values())
            self._clients.clear()
        for client in clients:
            client.close()

    def _kept(self, location: StoreLocation) -> QdrantClient:
        # A client for each timeout, which not all of its requests take as an argument.
        with self._lock:
            if self._closed:
                raise StoreError(f"Qdrant at {location} is asked after the services were closed.")
            if location.timeout_seconds not in self._clients:
                self._clients[location.timeout_seconds] = server_client(location)
            return self._clients[location.timeout_seconds]
