"""Names of chunks: readable ids, and the point ids that Qdrant wants."""

import uuid

POINT_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:rag-pipeline:chunk")
"""Namespace of point ids. Changing it orphans every stored point."""

_HASH_LENGTH = 12


def chunk_id(document_id: str, content_hash: str, index: int) -> str:
    """`<document_id>:<first 12 of the content hash>:<index>`.

    Hash and index are the last two fields and hold no colon, so a document id may hold any character and two
    different (document, hash, index) never share an id. `content_hash` is in lower-case hex.
    """
    return f"{document_id}:{content_hash[:_HASH_LENGTH]}:{index}"


def point_id(chunk_id: str) -> str:
    """The id of a chunk's Qdrant point: the UUIDv5 of its chunk id, the same in every process."""
    return str(uuid.uuid5(POINT_NAMESPACE, chunk_id))
