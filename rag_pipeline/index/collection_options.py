"""How a server keeps a collection: graph, quantization, shards; and loading much of it fast."""

import time
from dataclasses import dataclass
from typing import Final, Literal

from qdrant_client import QdrantClient, models

from rag_pipeline.errors import StoreError

_POLL_SECONDS: Final = 0.5
# A million vectors take some minutes.
_MOST_SECONDS: Final = 3_600


@dataclass(frozen=True, slots=True)
class CollectionOptions:
    """Settings of new collections on a server; None leaves a value to it. The embedded store has none.

    `hnsw_m` and `hnsw_ef_construct` shape the search graph, `on_disk` keeps vectors on disk, `quantization`
    `int8` a small copy of them in memory.
    """

    hnsw_m: int | None = None
    hnsw_ef_construct: int | None = None
    on_disk: bool | None = None
    quantization: Literal["none", "int8"] = "none"
    replication_factor: int | None = None
    shard_number: int | None = None

    @property
    def hnsw(self) -> models.HnswConfigDiff:
        """The graph's part."""
        return models.HnswConfigDiff(m=self.hnsw_m, ef_construct=self.hnsw_ef_construct)

    @property
    def quantized(self) -> models.ScalarQuantization | None:
        """The quantization's part."""
        if self.quantization == "none":
            return None
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        return models.ScalarQuantization(scalar=scalar)


SERVERS_OWN: Final = CollectionOptions()
"""Everything as the server has it."""


def begin_bulk_loading(client: QdrantClient, collection: str) -> None:
    """Let a server build no index while a collection is filled: it would be thrown away again and again."""
    client.update_collection(collection, optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0))


def end_bulk_loading(client: QdrantClient, collection: str) -> None:
    """Let a server index again, and wait until it has caught up: a search before that would be slow.

    Raises StoreError where it reports a fault, or is not done within an hour.
    """
    # The server's own default, in kilobytes.
    threshold = models.OptimizersConfigDiff(indexing_threshold=20_000)
    client.update_collection(collection, optimizers_config=threshold)
    deadline = time.monotonic() + _MOST_SECONDS
    while (status := client.get_collection(collection).status) is not models.CollectionStatus.GREEN:
        if status is models.CollectionStatus.RED or time.monotonic() > deadline:
            raise StoreError(
                f"The collection {collection} is {status.value} and not green: Qdrant cannot finish its "
                "index. Look at the server's log, then run `rag-pipeline reindex` again."
            )
        time.sleep(_POLL_SECONDS)
