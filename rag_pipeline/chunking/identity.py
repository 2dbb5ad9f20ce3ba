"""Names of chunks: readable ids, and the point ids that Qdrant wants."""

import re
import uuid
from dataclasses import dataclass

POINT_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:rag-pipeline:chunk")
"""Namespace of point ids. Changing it orphans every stored point."""

_HASH_LENGTH = 12
_CHUNK_ID = re.compile(rf"(.+):([0-9a-f]{{{_HASH_LENGTH}}}):(0|[1-9][0-9]*)", re.DOTALL | re.ASCII)


@dataclass(frozen=True, slots=True)
class ChunkName:
    """The parts of a chunk id. `hash_prefix` is the first 12 hex digits of the content hash."""

    document_id: str
    hash_prefix: str
    index: int


def chunk_id(document_id: str, content_hash: str, index: int) -> str:
    """`<document_id>:<first 12 of the content hash>:<index>`.

    Hash and index are the last two fields and hold no colon, so a document id may hold any character and two
    different (document, hash, index) never share an id. `content_hash` is in lower-case hex.
    """
    return f"{document_id}:{content_hash[:_HASH_LENGTH]}:{index}"


def parse_chunk_id(value: str) -> ChunkName:
    """The inverse of `chunk_id`. Raises ValueError for anything that `chunk_id` does not make."""
    match = _CHUNK_ID.fullmatch(value)
    if match is None:
        raise ValueError(f"not a chunk id (document:12 hex digits:index): {value!r}")
    return ChunkName(match[1], match[2], int(match[3]))


def point_id(chunk_id: str) -> str:
    """The id of a chunk's Qdrant point: the UUIDv5 of its chunk id, the same in every process."""
    return str(uuid.uuid5(POINT_NAMESPACE, chunk_id))
