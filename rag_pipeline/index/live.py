"""The live generation: the one behind the alias, which readers see."""

from typing import Any

from qdrant_client import QdrantClient

from rag_pipeline.errors import StoreError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.collection_options import SERVERS_OWN, CollectionOptions
from rag_pipeline.index.generations import (
    aliased_collection,
    ensure_collection,
    fingerprint_of,
    require_same_settings,
)
from rag_pipeline.index.swapping import finish_swap, point_alias
from rag_pipeline.ledger.generations import Generation, Generations, GenerationState


def new_name(alias: str, fingerprint: str, generations: Generations) -> str:
    """A name that no generation of the alias has had."""
    taken = {one.name for one in generations.of_alias(alias)}
    number = len(taken) + 1
    while (name := f"{alias}__{fingerprint[:8]}_{number}") in taken:
        number += 1
    return name


def ensure_live(
    client: QdrantClient,
    generations: Generations,
    *,
    alias: str,
    settings: dict[str, Any],
    options: CollectionOptions = SERVERS_OWN,
) -> Generation:
    """The live generation for these settings, created with its indexes and alias where it is missing.

    A collection that someone dropped is created again, empty, under its name; the caller fills it. A live
    collection is never changed or recreated. Raises ConfigurationError where the live generation was built
    with other settings, and StoreError where the alias points at a collection that the ledger does not know.
    """
    live = require_same_settings(finish_swap(client, generations, alias), settings)
    fingerprint = fingerprint_of(settings)
    target = aliased_collection(client, alias)
    if live is None:
        if target is not None:
            raise StoreError(
                f"The alias {alias} already points at {target}, which this ledger does not know. Choose "
                "another RAG_ALIAS, or set RAG_LEDGER_URL to the ledger that built it."
            )
        name = new_name(alias, fingerprint, generations)
        live = Generation(name, alias, fingerprint, settings, state=GenerationState.LIVE)
        # Recorded first: after a crash in between, the next run finds the row and completes the collection.
        generations.add(live)
        passing("generation added")
    if target not in (None, live.name):
        raise StoreError(
            f"The alias {alias} points at {target}, but the ledger says that {live.name} is live. Point the "
            "alias back, or restore the ledger that belongs to this store."
        )
    ensure_collection(client, live, options)
    if target is None:
        point_alias(client, alias, live.name)
    return live
