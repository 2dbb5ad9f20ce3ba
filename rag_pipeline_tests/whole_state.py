"""All that a knowledge base is, in Qdrant, the ledger and the artifacts, apart from times: to be compared.

Generations are named by their age, since what a killed run began may have used up a name.
"""

from typing import Any

import numpy as np
from qdrant_client import QdrantClient
from sqlalchemy import Row, select

from rag_pipeline.index.generations import aliased_collection
from rag_pipeline.index.store import open_store
from rag_pipeline.ledger import tables
from rag_pipeline.ledger.opening import open_database
from rag_pipeline_tests.knowledge_base import KnowledgeBase

IGNORED = {
    "alias",
    "indexed_at", "noticed_at", "created_at", "ready_at", "promoted_at", "attempted_at", "finished_at",
    "first_failed_at", "last_failed_at", "due_at", "seconds",
}  # fmt: skip


def whole_state(base: KnowledgeBase) -> dict[str, Any]:
    """Everything, part by part, so that a difference is easily read."""
    known = base.services.ledger.generations.of_alias(base.settings.alias)
    names = {one.name: f"generation {number}" for number, one in enumerate(known)}
    state = _ledger(base, names)
    with open_store(base.services.store) as client:
        target = aliased_collection(client, base.settings.alias)
        state["alias"] = names.get(target or "", target)
        held = {one.name for one in client.get_collections().collections}
        state["collections"] = sorted(
            names.get(one, one) for one in held if one.startswith(base.settings.alias)
        )
        for name in names.keys() & held:
            state[f"points of {names[name]}"] = _points(client, name)
    root = base.settings.home / "artifacts"
    # What an interrupted write left aside goes with its artifact.
    files = [file for file in root.rglob("*") if file.is_file() and not file.name.startswith(".")]
    state["artifacts"] = sorted(str(file.relative_to(root)) for file in files)
    return state


def differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Where two states differ, in a few words each."""
    return [
        f"{part}: {_short(found.get(part), wanted.get(part))}"
        for part in sorted(found.keys() | wanted.keys())
        if found.get(part) != wanted.get(part)
    ]


def _short(found: Any, wanted: Any) -> str:
    if isinstance(found, dict) and isinstance(wanted, dict):
        found, wanted = list(found.items()), list(wanted.items())
    if not (isinstance(found, list) and isinstance(wanted, list)):
        return f"{found} is not {wanted}"
    more = [one for one in found if one not in wanted]
    less = [one for one in wanted if one not in found]
    return f"{len(more)} too many {str(more)[:600]}, {len(less)} missing {str(less)[:600]}"


def _points(client: QdrantClient, collection: str) -> dict[str, Any]:
    records, _ = client.scroll(collection, limit=10_000, with_payload=True, with_vectors=True)
    found = {}
    for record in records:
        payload = {name: value for name, value in (record.payload or {}).items() if name not in IGNORED}
        vectors = record.vector if isinstance(record.vector, dict) else {}
        dense, sparse = vectors["dense"], vectors["bm25"]
        weights = sorted(zip(sparse.indices, sparse.values, strict=True))  # type: ignore[union-attr]
        found[str(record.id)] = (payload, np.round(np.asarray(dense), 5).tolist(), weights)
    return found


def _ledger(base: KnowledgeBase, names: dict[str, str]) -> dict[str, Any]:
    url = base.settings.ledger_url
    engine = open_database(url.get_secret_value() if url else f"sqlite:///{base.settings.home}/ledger.sqlite")
    state: dict[str, Any] = {}
    with engine.connect() as connection:
        for table in tables.metadata.sorted_tables:
            # The account of a run tells what the run did, and a repair does other things.
            ignored = IGNORED | ({"report"} if table is tables.reconciliations else set())
            rows = connection.execute(select(table)).all()
            state[table.name] = sorted(_row(row, ignored, names) for row in rows)
    engine.dispose()
    return state


def _row(row: Row[Any], ignored: set[str], names: dict[str, str]) -> str:
    values = {
        name: names.get(value, value) if name in ("name", "generation") else value
        for name, value in row._mapping.items()
        if name not in ignored
    }
    if "listed_signature" in values:
        # Their values hold times of files.
        values["signature"] = values.pop("listed_signature") == values["signature"]
    if "confirmed_at" in values:
        values["confirmed_at"] = values["confirmed_at"] is not None
    return str(values)
