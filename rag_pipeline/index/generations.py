"""Generations as Qdrant holds them: physical collections, their indexes, and the alias."""

import warnings
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.collection_options import SERVERS_OWN, CollectionOptions
from rag_pipeline.index.schema import BM25, DENSE, DISTANCE, PAYLOAD_INDEXES, digest
from rag_pipeline.ledger.generations import Generation

_FINGERPRINT_LENGTH = 16


def fingerprint_of(settings: dict[str, Any]) -> str:
    """The short digest that names a generation's settings."""
    return digest(settings)[:_FINGERPRINT_LENGTH]


def ensure_collection(client: QdrantClient, generation: Generation, options: CollectionOptions) -> None:
    """Create a generation's collection and payload indexes where they are missing."""
    if not client.collection_exists(generation.name):
        dimensions = generation.settings["model"]["dimensions"]
        create_collection(client, generation.name, dimensions=dimensions, options=options)
        passing("collection created")
    # Also for a collection whose creation was interrupted.
    create_payload_indexes(client, generation.name)


def require_same_settings(live: Generation | None, settings: dict[str, Any]) -> Generation | None:
    """The live generation itself; raises ConfigurationError where it was built with other settings."""
    if live is not None and live.fingerprint != fingerprint_of(settings):
        raise ConfigurationError(
            f"The live generation {live.name} was built with other settings: "
            f"{difference(live.settings, settings)}. Vectors of both would not be comparable. Set them "
            "back, or choose another RAG_ALIAS to build a new knowledge base beside this one."
        )
    return live


def aliased_collection(client: QdrantClient, alias: str) -> str | None:
    """The collection that an alias points at."""
    return next((a.collection_name for a in client.get_aliases().aliases if a.alias_name == alias), None)


def create_collection(
    client: QdrantClient, name: str, *, dimensions: int, options: CollectionOptions = SERVERS_OWN
) -> None:
    """Create an empty collection with both vectors."""
    dense = models.VectorParams(size=dimensions, distance=DISTANCE, on_disk=options.on_disk)
    client.create_collection(
        name,
        vectors_config={DENSE: dense},
        sparse_vectors_config={BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        hnsw_config=options.hnsw,
        quantization_config=options.quantized,
        replication_factor=options.replication_factor,
        shard_number=options.shard_number,
    )


def create_payload_indexes(client: QdrantClient, name: str) -> None:
    """Create the payload indexes that a collection lacks."""
    present = client.get_collection(name).payload_schema.keys()
    with warnings.catch_warnings():
        # The embedded store filters without indexes and says so at each one.
        warnings.filterwarnings("ignore", message="Payload indexes have no effect")
        for field, kind in PAYLOAD_INDEXES.items():
            if field not in present:
                client.create_payload_index(name, field, kind, wait=True)
                passing("payload index created")


def difference(was: dict[str, Any], now: dict[str, Any]) -> str:
    """Which settings differ, in words."""
    before, after = _flat(was), _flat(now)
    return ", ".join(
        f"{key} was {before.get(key)!r}, is {after.get(key)!r}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    )


def _flat(value: dict[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{above}{key}"
        found.update(_flat(inner, f"{name}.") if isinstance(inner, dict) else {name: inner})
    return found
