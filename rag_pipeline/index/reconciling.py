"""The account of a source: what was expected, written and found, document by document and id by id."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from qdrant_client import QdrantClient

from rag_pipeline.chunking.identity import point_id
from rag_pipeline.index.desired import recorded_points
from rag_pipeline.index.planning import StoredPoints
from rag_pipeline.index.scanning import chunk_ids_of
from rag_pipeline.ledger.documents import IndexedDocument

_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """Documents of a source. `seen` = added + changed + unchanged + failed.

    `withheld` are gone from the source and stay until their deletion is approved.
    """

    seen: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: int = 0
    withheld: int = 0


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """Chunks of a source after a run. Reconciled means `expected` = `stored` + `failed` and no other stray.

    `written` and `reused` tell how this run came to it; `missing`, `orphaned` and `duplicated` are what is
    still wrong at its end.
    """

    expected: int = 0
    written: int = 0
    reused: int = 0
    failed: int = 0
    stored: int = 0
    missing: int = 0
    orphaned: int = 0
    duplicated: int = 0


@dataclass(frozen=True, slots=True)
class Healed:
    """What a run found wrong in Qdrant and put right."""

    missing: int = 0
    orphaned: int = 0
    duplicated: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Qdrant against the ledger, by id: which points are missing, and which should not be there."""

    expected: int
    stored: int
    missing: tuple[str, ...]
    orphaned: tuple[str, ...]
    duplicated: tuple[str, ...]


def compare(
    versions: Iterable[IndexedDocument], stored: StoredPoints, *, client: QdrantClient, collection: str
) -> Comparison:
    """Compare what Qdrant holds of a source with the versions that it should hold.

    A point of another id is a duplicate if it claims a chunk that has its rightful point, else an orphan.
    """
    expected: set[str] = set()
    for one in versions:
        expected |= recorded_points(one)
    published = set(stored.published)
    strays = sorted((published | set(stored.unpublished)) - expected)
    duplicated = duplicates(strays, expected, client=client, collection=collection)
    # A rightful point that is not published is not found by readers: it counts as missing.
    return Comparison(
        expected=len(expected),
        stored=len(expected & published),
        missing=tuple(sorted(expected - published)),
        orphaned=tuple(sorted(set(strays) - duplicated)),
        duplicated=tuple(sorted(duplicated)),
    )


def duplicates(
    strays: Collection[str], expected: Iterable[str], *, client: QdrantClient, collection: str
) -> set[str]:
    """Those stray points that claim a chunk whose rightful point is expected too."""
    if not strays:
        return set()
    claims = chunk_ids_of(client, collection, strays)
    rightful = set(expected)
    return {point for point, chunk in claims.items() if chunk and point_id(chunk) in rightful}


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The account of one source after a run."""

    source_id: str
    documents: DocumentCounts
    chunks: ChunkCounts
    healed: Healed = Healed()
    embedded: int = 0
    newest: datetime | None = None
    """When the newest document was updated, as far as the source tells."""
    seconds: float = 0.0
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """A few ids for each thing that is not as usual, by its name."""

    @property
    def reconciled(self) -> bool:
        """Whether every expected chunk is stored or stands in a dead letter, and nothing else is there."""
        chunks = self.chunks
        return (
            chunks.expected == chunks.stored + chunks.failed
            and not chunks.missing
            and not chunks.orphaned
            and not chunks.duplicated
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values, under the names that people and programs read."""
        return {
            "reconciled": self.reconciled,
            "documents": asdict(self.documents),
            "chunks": asdict(self.chunks),
            "healed": asdict(self.healed),
            "embedded": self.embedded,
            "newest": self.newest.isoformat() if self.newest else None,
            "seconds": round(self.seconds, 3),
            "examples": {name: list(ids) for name, ids in self.examples.items() if ids},
        }

    @classmethod
    def from_json(cls, source_id: str, value: Mapping[str, Any]) -> "SourceReport":
        """The inverse of `to_json`."""
        return cls(
            source_id=source_id,
            documents=DocumentCounts(**value["documents"]),
            chunks=ChunkCounts(**value["chunks"]),
            healed=Healed(**value["healed"]),
            embedded=value["embedded"],
            newest=datetime.fromisoformat(value["newest"]) if value["newest"] else None,
            seconds=value["seconds"],
            examples={name: tuple(ids) for name, ids in value["examples"].items()},
        )


_Counts = TypeVar("_Counts", DocumentCounts, ChunkCounts, Healed)


def few(ids: Iterable[str]) -> tuple[str, ...]:
    """The first few ids, enough to look into a problem."""
    return tuple(sorted(ids)[:_EXAMPLES])


def total(reports: Iterable[SourceReport]) -> SourceReport:
    """All sources' accounts added up."""
    found = list(reports)
    summed = SourceReport("total", DocumentCounts(), ChunkCounts())
    for report in found:
        summed = replace(
            summed,
            documents=_add(summed.documents, report.documents),
            chunks=_add(summed.chunks, report.chunks),
            healed=_add(summed.healed, report.healed),
            embedded=summed.embedded + report.embedded,
            seconds=summed.seconds + report.seconds,
        )
    return summed


def _add(one: _Counts, other: _Counts) -> _Counts:
    return type(one)(**{name: value + getattr(other, name) for name, value in asdict(one).items()})
