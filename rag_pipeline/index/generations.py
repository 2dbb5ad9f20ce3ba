"""The live generation: the physical collection behind the alias."""

import warnings
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.errors import ConfigurationError, StoreError
from rag_pipeline.index.schema import BM25, DENSE, DISTANCE, PAYLOAD_INDEXES, digest
from rag_pipeline.ledger.generations import Generation, Generations, GenerationState

_FINGERPRINT_LENGTH = 16


def fingerprint_of(settings: dict[str, Any]) -> str:
    """The short digest that names a generation's settings."""
    return digest(settings)[:_FINGERPRINT_LENGTH]


def ensure_live(
    client: QdrantClient, generations: Generations, *, alias: str, settings: dict[str, Any]
) -> Generation:
    """The live generation for these settings, created with its indexes and alias where it is missing.

    A collection that someone dropped is created again, empty, under its name; the caller fills it. A live
    collection is never changed or recreated. Raises ConfigurationError where the live generation was built
    with other settings, and StoreError where the alias points at a collection that the ledger does not know.
    """
    live = require_same_settings(generations.live(alias), settings)
    fingerprint = fingerprint_of(settings)
    target = aliased_collection(client, alias)
    if live is None:
        if target is not None:
            raise StoreError(
                f"The alias {alias} already points at {target}, which this ledger does not know. Choose "
                "another RAG_ALIAS, or set RAG_LEDGER_URL to the ledger that built it."
            )
        number = len(generations.of_alias(alias)) + 1
        name = f"{alias}__{fingerprint[:8]}_{number}"
        live = Generation(name, alias, fingerprint, settings, state=GenerationState.LIVE)
        # Recorded first: after a crash in between, the next run finds the row and completes the collection.
        generations.add(live)
    if target not in (None, live.name):
        raise StoreError(
            f"The alias {alias} points at {target}, but the ledger says that {live.name} is live. Point the "
            "alias back, or restore the ledger that belongs to this store."
        )
    ensure_collection(client, live)
    if target is None:
        client.update_collection_aliases(
            [
                models.CreateAliasOperation(
                    create_alias=models.CreateAlias(collection_name=live.name, alias_name=alias)
                )
            ]
        )
    return live


def ensure_collection(client: QdrantClient, generation: Generation) -> None:
    """Create a generation's collection and payload indexes where they are missing."""
    if not client.collection_exists(generation.name):
        create_collection(client, generation.name, dimensions=generation.settings["model"]["dimensions"])
    # Also for a collection whose creation was interrupted.
    create_payload_indexes(client, generation.name)


def require_same_settings(live: Generation | None, settings: dict[str, Any]) -> Generation | None:
    """The live generation itself; raises ConfigurationError where it was built with other settings."""
    if live is not None and live.fingerprint != fingerprint_of(settings):
        raise ConfigurationError(
            f"The live generation {live.name} was built with other settings: "
            f"{_difference(live.settings, settings)}. Vectors of both would not be comparable. Set them "
            "back, or choose another RAG_ALIAS to build a new knowledge base beside this one."
        )
    return live


def aliased_collection(client: QdrantClient, alias: str) -> str | None:
    """The collection that an alias points at."""
    return next((a.collection_name for a in client.get_aliases().aliases if a.alias_name == alias), None)


def create_collection(client: QdrantClient, name: str, *, dimensions: int) -> None:
    """Create an empty collection with both vectors."""
    client.create_collection(
        name,
        vectors_config={DENSE: models.VectorParams(size=dimensions, distance=DISTANCE)},
        sparse_vectors_config={BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)},
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


def _difference(was: dict[str, Any], now: dict[str, Any]) -> str:
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
