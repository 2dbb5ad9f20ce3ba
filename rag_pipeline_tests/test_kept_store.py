"""A store that is asked again and again: one client for a server, and an embedded one only while in use."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from rag_pipeline.errors import StoreError
from rag_pipeline.index.kept_store import KeptStore
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline_tests.faulty_proxy import Fault, FaultyProxy

# Long enough for a client to have tried, and waited, a few times.
_AWAY_SECONDS = 3.0


@pytest.mark.server
def test_a_servers_client_stays_open_until_the_store_is_closed(qdrant_server: StoreLocation) -> None:
    store = KeptStore(qdrant_server)

    def used() -> int:
        with store.open(wait_seconds=20.0) as client:
            client.get_aliases()
            return id(client)

    with ThreadPoolExecutor(4) as pool:
        assert len({one.result() for one in [pool.submit(used) for _ in range(20)]}) == 1
    store.close()
    with pytest.raises(StoreError, match="closed"):
        used()


@pytest.mark.server
def test_a_client_that_was_kept_finds_a_server_that_was_away(qdrant_server: StoreLocation) -> None:
    with FaultyProxy(qdrant_server.grpc_port).running() as proxy:
        store = KeptStore(replace(qdrant_server, grpc_port=proxy.port))

        def answers() -> bool:
            try:
                with store.open(wait_seconds=20.0) as client:
                    client.get_aliases()
            except StoreError:
                return False
            return True

        assert answers()
        proxy.fail(Fault.DOWN)
        away = time.monotonic()
        while time.monotonic() < away + _AWAY_SECONDS:
            assert not answers()
            time.sleep(0.1)
        proxy.fail(Fault.NONE)
        back = time.monotonic()
        while not answers():
            assert time.monotonic() < back + 60
            time.sleep(0.1)
        store.close()


def test_an_embedded_store_is_left_to_others_between_two_uses(tmp_path: Path) -> None:
    location = StoreLocation(tmp_path / "qdrant", lock_wait_seconds=0.0)
    store = KeptStore(location)
    for _ in range(2):
        with store.open(wait_seconds=0.0) as client:
            assert client.get_collections().collections == []
        with open_store(location) as client:
            assert client.get_collections().collections == []
    store.close()
