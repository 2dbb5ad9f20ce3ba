"""Opening Qdrant and keeping the live generation behind its alias, embedded and on a real server."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from rag_pipeline.errors import ConfigurationError, StoreError
from rag_pipeline.index.generations import aliased_collection, create_collection
from rag_pipeline.index.live import ensure_live
from rag_pipeline.index.scanning import existing, points_of_documents, stored_points
from rag_pipeline.index.schema import BM25, DENSE, PAYLOAD_INDEXES, generation_settings
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline_tests.qdrant_server import free_ports

PROJECT = Path(__file__).parents[1]
DIMENSIONS = 4

# A process that has the embedded store open until its standard input ends.
HOLDER = """
import sys
from pathlib import Path
from rag_pipeline.index.store import StoreLocation, open_store
with open_store(StoreLocation(Path(sys.argv[1]))):
    print("open", flush=True)
    sys.stdin.read()
"""


def settings_of(**model: Any) -> dict[str, Any]:
    return generation_settings(
        model={"name": "stub", "dimensions": DIMENSIONS} | model,
        chunking={"target_tokens": 320},
        normalizing_version=1,
        chunking_version=1,
    )


def put(client: QdrantClient, collection: str, point: str, **payload: Any) -> None:
    vector = {DENSE: [1.0, 0.0, 0.0, 0.0], BM25: models.SparseVector(indices=[1], values=[1.0])}
    client.upsert(collection, [models.PointStruct(id=point, vector=vector, payload=payload)], wait=True)


def point_name(number: int) -> str:
    return f"00000000-0000-0000-0000-{number:012d}"


@contextmanager
def another_process_inside(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.stdin.close()


def test_what_is_written_is_there_when_the_store_is_opened_again(
    store_location: StoreLocation, alias: str
) -> None:
    with open_store(store_location) as client:
        create_collection(client, alias, dimensions=DIMENSIONS)
        put(client, alias, point_name(1), source_id="handbook", published=True)
    with open_store(store_location) as client:
        assert existing(client, alias, [point_name(1), point_name(2)]) == {point_name(1)}


def test_a_locked_embedded_store_says_who_has_it_and_what_else_to_use(tmp_path: Path) -> None:
    folder = tmp_path / "qdrant"
    with (
        another_process_inside(folder),
        pytest.raises(StoreError, match="in use by another process") as caught,
        open_store(StoreLocation(folder, lock_wait_seconds=0.0)),
    ):
        pass
    assert str(folder) in str(caught.value)
    assert "RAG_QDRANT_URL" in str(caught.value)


def test_a_locked_embedded_store_is_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "qdrant"
    with another_process_inside(folder) as process:
        assert process.stdin is not None
        leaving = threading.Timer(0.5, process.stdin.close)
        leaving.start()
        with open_store(StoreLocation(folder, lock_wait_seconds=60.0)) as client:
            assert client.get_collections().collections == []
        leaving.join()


def test_a_failed_block_leaves_the_embedded_store_open_to_others(tmp_path: Path) -> None:
    location = StoreLocation(tmp_path / "qdrant", lock_wait_seconds=0.0)
    with pytest.raises(LookupError), open_store(location):
        raise LookupError
    with open_store(location) as client:
        assert client.get_collections().collections == []


def test_a_server_that_does_not_answer_is_named_in_plain_words() -> None:
    http_port, grpc_port = free_ports(2)
    location = StoreLocation(Path("unused"), url=f"http://127.0.0.1:{http_port}", grpc_port=grpc_port)
    with pytest.raises(StoreError) as caught, open_store(location) as client:
        client.get_aliases()
    message = str(caught.value)
    assert f"http://127.0.0.1:{http_port}" in message
    assert "RAG_QDRANT_URL" in message
    assert "UNAVAILABLE" in message
    assert "\n" not in message


@pytest.mark.server
def test_what_a_server_refuses_is_told_in_plain_words(qdrant_server: StoreLocation) -> None:
    with (
        pytest.raises(StoreError, match=r"NOT_FOUND.*no_such_collection") as caught,
        open_store(qdrant_server) as client,
    ):
        client.scroll("no_such_collection")
    assert "\n" not in str(caught.value)


def test_an_api_key_is_never_shown() -> None:
    location = StoreLocation(Path("unused"), url="https://qdrant.example", api_key="very-secret")
    assert "very-secret" not in f"{location} {location!r}"


def test_a_new_generation_has_its_alias_vectors_and_every_payload_index(
    store_location: StoreLocation, alias: str, ledger: Ledger
) -> None:
    with open_store(store_location) as client:
        live = ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        assert aliased_collection(client, alias) == live.name
        assert ledger.generations.live(alias) == live
        found = client.get_collection(alias)
        vectors = found.config.params.vectors
        assert isinstance(vectors, dict)
        assert (vectors[DENSE].size, vectors[DENSE].distance) == (DIMENSIONS, models.Distance.COSINE)
        sparse = found.config.params.sparse_vectors
        assert sparse is not None
        assert sparse[BM25].modifier == models.Modifier.IDF
        if not store_location.embedded:
            assert_every_index(found.payload_schema)


def assert_every_index(schema: dict[str, models.PayloadIndexInfo]) -> None:
    assert schema.keys() == PAYLOAD_INDEXES.keys()
    for field, kind in PAYLOAD_INDEXES.items():
        wanted = kind.type.value if isinstance(kind, models.KeywordIndexParams) else kind.value
        assert schema[field].data_type.value == wanted, field
    tenant = schema["tenant"].params
    assert isinstance(tenant, models.KeywordIndexParams)
    assert tenant.is_tenant


def test_asking_again_changes_nothing(store_location: StoreLocation, alias: str, ledger: Ledger) -> None:
    with open_store(store_location) as client:
        first = ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        put(client, first.name, point_name(1), source_id="handbook", published=True)
    with open_store(store_location) as client:
        again = ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        assert again == first
        assert ledger.generations.of_alias(alias) == [first]
        assert existing(client, alias, [point_name(1)]) == {point_name(1)}
        assert [c.name for c in client.get_collections().collections if c.name.startswith(alias)] == [
            first.name
        ]


def test_other_settings_are_refused_and_the_difference_is_named(tmp_path: Path, ledger: Ledger) -> None:
    with open_store(StoreLocation(tmp_path / "qdrant")) as client:
        live = ensure_live(client, ledger.generations, alias="knowledge", settings=settings_of())
        with pytest.raises(ConfigurationError) as caught:
            ensure_live(client, ledger.generations, alias="knowledge", settings=settings_of(dimensions=8))
        assert aliased_collection(client, "knowledge") == live.name
    message = str(caught.value)
    assert "model.dimensions was 4, is 8" in message
    assert "stub" not in message, "what did not change is not in the way"
    assert "RAG_ALIAS" in message


def test_a_dropped_collection_is_made_again_under_its_name(
    store_location: StoreLocation, alias: str, ledger: Ledger
) -> None:
    with open_store(store_location) as client:
        before = ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        put(client, before.name, point_name(1), source_id="handbook", published=True)
        client.delete_collection(before.name)
        after = ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        assert after == before
        assert aliased_collection(client, alias) == before.name
        assert existing(client, alias, [point_name(1)]) == set()


@pytest.mark.parametrize("store_location", ["server"], indirect=True)
@pytest.mark.server
def test_a_creation_that_was_interrupted_is_completed(
    store_location: StoreLocation, alias: str, ledger: Ledger
) -> None:
    with open_store(store_location) as client:
        live = ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        client.delete_collection(live.name)
        # As a kill leaves it: the collection without its indexes and alias.
        create_collection(client, live.name, dimensions=DIMENSIONS)
        ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        assert aliased_collection(client, alias) == live.name
        assert_every_index(client.get_collection(alias).payload_schema)


def test_an_alias_that_points_elsewhere_is_refused(
    store_location: StoreLocation, alias: str, ledger: Ledger
) -> None:
    with open_store(store_location) as client:
        live = ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        create_collection(client, f"{alias}_by_hand", dimensions=DIMENSIONS)
        point_alias(client, alias, f"{alias}_by_hand")
        with pytest.raises(StoreError, match=f"{alias}_by_hand.*{live.name}"):
            ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
        assert aliased_collection(client, alias) == f"{alias}_by_hand"


def test_an_alias_that_the_ledger_does_not_know_is_refused(
    store_location: StoreLocation, alias: str, ledger: Ledger
) -> None:
    with open_store(store_location) as client:
        create_collection(client, f"{alias}_of_others", dimensions=DIMENSIONS)
        point_alias(client, alias, f"{alias}_of_others")
        with pytest.raises(StoreError, match="RAG_LEDGER_URL"):
            ensure_live(client, ledger.generations, alias=alias, settings=settings_of())
    assert ledger.generations.of_alias(alias) == []


def point_alias(client: QdrantClient, alias: str, collection: str) -> None:
    client.update_collection_aliases(
        [
            models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)),
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(collection_name=collection, alias_name=alias)
            ),
        ]
    )


def test_the_points_of_a_source_are_told_apart_by_publication(
    store_location: StoreLocation, alias: str
) -> None:
    with open_store(store_location) as client:
        create_collection(client, alias, dimensions=DIMENSIONS)
        put(client, alias, point_name(1), source_id="handbook", document_id="handbook/a", published=True)
        put(client, alias, point_name(2), source_id="handbook", document_id="handbook/a", published=False)
        put(client, alias, point_name(3), source_id="handbook", document_id="handbook/b")
        put(client, alias, point_name(4), source_id="runbooks", document_id="runbooks/a", published=True)
        found = stored_points(client, alias, "handbook")
        assert found.published == {point_name(1)}
        assert found.unpublished == {point_name(2), point_name(3)}, "one without the flag is not published"
        ids = points_of_documents(client, alias, ["handbook/a", "runbooks/a"])
        assert sorted(ids) == [point_name(1), point_name(2), point_name(4)]


@pytest.mark.parametrize("store_location", ["server"], indirect=True)
@pytest.mark.server
def test_a_source_of_many_pages_of_ids_is_read_whole(store_location: StoreLocation, alias: str) -> None:
    ids = {point_name(number) for number in range(10_001)}
    with open_store(store_location) as client:
        create_collection(client, alias, dimensions=DIMENSIONS)
        points = [
            models.PointStruct(id=one, vector={}, payload={"source_id": "handbook", "published": True})
            for one in sorted(ids)
        ]
        for start in range(0, len(points), 1_000):
            client.upsert(alias, points[start : start + 1_000], wait=True)
        assert stored_points(client, alias, "handbook").published == ids
        assert existing(client, alias, sorted(ids)) == ids
