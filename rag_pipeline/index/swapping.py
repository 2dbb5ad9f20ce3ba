"""Pointing the alias at another generation, so that no reader notices.

The alias is the switch that readers follow, and the ledger is told after it: who finds them apart after a
crash completes what was begun (`finish_swap`).
"""

from qdrant_client import QdrantClient, models

from rag_pipeline.errors import GenerationConflict, StoreError
from rag_pipeline.fault_points import passing
from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.schema import BM25, DENSE
from rag_pipeline.ledger.generations import Generation, Generations, GenerationState

_PROMOTABLE = (GenerationState.READY, GenerationState.PREVIOUS)


def swap(client: QdrantClient, generations: Generations, target: Generation, expected: str | None) -> None:
    """Make `target` what the alias names, if it still names `expected` (None: nothing yet).

    One alias action, then read back. Raises GenerationConflict, with nothing changed, where someone else was
    faster, and where the target is missing, not ready or of another schema.
    """
    alias = target.alias
    current = aliased_collection(client, alias)
    if current != expected:
        raise GenerationConflict(
            f"{target.name} is not promoted: the alias {alias} points at {current or 'nothing'} and not at "
            f"{expected or 'nothing'}, so someone else changed it. Look at `rag-pipeline generations`."
        )
    states = {one.name: one.state for one in generations.of_alias(alias)}
    if states.get(target.name) not in _PROMOTABLE:
        raise GenerationConflict(
            f"{target.name} is not promoted: it is {states.get(target.name, 'not known')}, and only a "
            "ready or previous generation can be."
        )
    _require_schema(client, target)
    point_alias(client, alias, target.name)
    generations.promote(alias, target.name, expected)
    passing("promotion recorded")


def point_alias(client: QdrantClient, alias: str, collection: str) -> None:
    """Point the alias at a collection in one action, wherever it pointed; raises StoreError if it fails.

    Creating an alias that exists moves it. Deleting it first would be a second action, and a server that
    fails between the two would leave readers without any.
    """
    move = models.CreateAlias(collection_name=collection, alias_name=alias)
    client.update_collection_aliases([models.CreateAliasOperation(create_alias=move)])
    passing("alias pointed")
    found = aliased_collection(client, alias)
    if found != collection:
        raise StoreError(
            f"The alias {alias} was pointed at {collection}, but reads back as {found or 'missing'}. Look at "
            "`rag-pipeline generations`, then promote again."
        )


def finish_swap(client: QdrantClient, generations: Generations, alias: str) -> Generation | None:
    """The live generation, after completing a swap that ended between the alias and the ledger."""
    live = generations.live(alias)
    target = aliased_collection(client, alias)
    moved = next((one for one in generations.of_alias(alias) if one.name == target), None)
    if live and moved and moved.name != live.name and moved.state in _PROMOTABLE:
        generations.promote(alias, moved.name, live.name)
        return generations.live(alias)
    return live


def _require_schema(client: QdrantClient, target: Generation) -> None:
    if not client.collection_exists(target.name):
        raise GenerationConflict(
            f"{target.name} is not promoted: Qdrant has no such collection. Run `rag-pipeline reindex`."
        )
    parameters = client.get_collection(target.name).config.params
    vectors = parameters.vectors if isinstance(parameters.vectors, dict) else {}
    dimensions = target.settings["model"]["dimensions"]
    sparse = parameters.sparse_vectors or {}
    if DENSE not in vectors or vectors[DENSE].size != dimensions or BM25 not in sparse:
        raise GenerationConflict(
            f"{target.name} is not promoted: its collection does not hold dense vectors of {dimensions} "
            "values and bm25 weights. It was made by something else; choose another generation."
        )
