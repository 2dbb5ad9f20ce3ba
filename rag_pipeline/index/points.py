"""Building a document's points from its chunks, vectors and facts."""

from collections.abc import Collection, Mapping
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from rag_pipeline.chunking.chunk import Chunk, embedding_input
from rag_pipeline.chunking.identity import chunk_id
from rag_pipeline.index.desired import DesiredDocument
from rag_pipeline.index.schema import BM25, DENSE, PointPayload, rfc3339
from rag_pipeline.index.sparse import passage_terms


def build_points(
    desired: DesiredDocument,
    *,
    title: str,
    chunks: Mapping[str, Chunk],
    vectors: Mapping[int, NDArray[np.float32]],
    fingerprint: str,
    published: bool,
    now: datetime,
) -> list[models.PointStruct]:
    """The points of some of a document's chunks, given by point id; `vectors` are by chunk index.

    The payload is validated, so a wrong type never reaches Qdrant.
    """
    return [
        models.PointStruct(
            id=point,
            vector={
                DENSE: vectors[chunk.index].tolist(),
                BM25: passage_terms(embedding_input(title, chunk)),
            },
            payload=PointPayload(
                chunk_id=chunk_id(desired.document_id, desired.content_hash, chunk.index),
                document_id=desired.document_id,
                source_id=desired.source_id,
                content_hash=desired.content_hash,
                text_hash=chunk.text_hash,
                fingerprint=fingerprint,
                chunk_index=chunk.index,
                chunk_count=desired.chunk_count,
                page_from=chunk.page_from,
                page_to=chunk.page_to,
                span_from=chunk.span_from,
                span_to=chunk.span_to,
                title=title,
                section_path=list(chunk.section_path),
                text=chunk.text,
                published=published,
                indexed_at=rfc3339(now),
                **desired.facts,
            ).model_dump(exclude_none=True),
        )
        for point, chunk in chunks.items()
    ]


def wanted_chunks(
    desired: DesiredDocument, chunks: Collection[Chunk], point_ids: Collection[str]
) -> dict[str, Chunk]:
    """The chunks behind some of a document's point ids."""
    by_index = {chunk.index: chunk for chunk in chunks}
    return {point: by_index[desired.points[point]] for point in point_ids}
