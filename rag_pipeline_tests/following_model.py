"""A plain model of what readers may find of documents while sources, runs and generations come and go.

It knows files, manifests, generations and listings, and nothing of how any of it is stored. Where a run was
cut short it knows of each document what it may be by now: the old version or the new one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from rag_pipeline.chunking.chunker import chunk_document
from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.ledger.generations import Generation, GenerationState
from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.sources.manifest import OcrMode

SOURCES = ("alpha", "beta")
NAMES = ("one.md", "One.md", "below/two.md")
PUBLIC = "public"
CALLERS = ("support", "hr", "stranger")
SIZES = (32, 64)
UNREADABLE = ""
TARGET = 64
READING = ParsingOptions(ocr=OcrMode.NEVER)

_LONG = "\n\n".join(
    f"## Part {number}\n\nHardware of kind {number} goes back within {number * 7} days of its delivery, and "
    "whoever sends it later pays for the postage. The shop says so in every letter that it writes."
    for number in range(1, 4)
)
BODIES = (
    "# Refunds\n\nA refund takes five days.\n",
    "# Refunds\n\nA refund takes nine days.\n",
    f"# Returns\n\n{_LONG}\n",
    f"# Returns\n\n{_LONG.replace('kind 2', 'kind two')}\n",
    UNREADABLE,
)


@cache
def chunks_of(content: str) -> dict[str, int]:
    """How many chunks a version has, by its content hash."""
    embedder = HashingEmbedder()
    document = convert(content.encode(), "page.md", READING)
    sizes = ChunkingOptions(max_tokens=embedder.max_tokens, target_tokens=TARGET, overlap_tokens=0)
    chunks = chunk_document(
        document, title=document.title or "", options=sizes, count_tokens=embedder.count_tokens
    )
    return {hashlib.sha256(content.encode()).hexdigest(): len(chunks)}


@dataclass(frozen=True)
class Held:
    """A version of a document in a generation: whom its points let in, and whom the ledger does."""

    content: str
    groups: frozenset[str]
    readers: frozenset[str]

    def seen_by(self, caller: str) -> bool:
        visible = {caller, PUBLIC}
        return bool(self.groups & visible) and bool(self.readers & visible)

    def narrowed(self, groups: frozenset[str]) -> "Held":
        return replace(self, readers=self.readers & groups)

    def under(self, groups: frozenset[str]) -> "Held":
        return Held(self.content, groups, groups)


Possible = frozenset[Held | None]
"""What a document may be in a generation; None: not there."""

ABSENT: Possible = frozenset([None])


@dataclass
class File:
    content: str
    sidecar: frozenset[str] | None = None


@dataclass
class Source:
    """A source as it is now. `roles` None is public; `described` and `active` are its manifest's state."""

    files: dict[str, File] = field(default_factory=dict)
    roles: frozenset[str] | None = frozenset(["support"])
    described: bool = True
    active: bool = True

    @property
    def groups(self) -> frozenset[str]:
        return frozenset([PUBLIC]) if self.roles is None else self.roles

    @property
    def withdrawn(self) -> bool:
        return not (self.described and self.active)

    @property
    def listed(self) -> Mapping[str, File]:
        return {} if self.withdrawn else self.files

    def groups_of(self, file: File) -> frozenset[str] | None:
        """Who may see a file; None where its sidecar says more than the source allows."""
        if file.sidecar is None:
            return self.groups
        return file.sidecar if file.sidecar <= self.groups else None


@dataclass
class Approved:
    """The deletions that somebody approved: those that the next run may, and must, carry out."""

    may: frozenset[str] = frozenset()
    must: frozenset[str] = frozenset()


class Model:
    """What each generation may hold of each document."""

    def __init__(self) -> None:
        self.sources = {source: Source() for source in SOURCES}
        self.shelves: dict[str, dict[str, Possible]] = {}
        self.approved = {source: Approved() for source in SOURCES}

    def of(self, generation: str, document_id: str) -> Possible:
        return self.shelves.setdefault(generation, {}).get(document_id, ABSENT)

    def run(self, source: str, generations: list[Generation], *, listed: bool, indexed: bool | None) -> None:
        """A run of a source: whether it surely listed it, and whether it indexed it (None: who knows)."""
        fed = [one.name for one in generations if one.state in FED]
        known = {
            document_id
            for shelf in self.shelves.values()
            for document_id in shelf
            if document_id.startswith(f"{source}/")
        }
        documents = known | {f"{source}/{name}" for name in self.sources[source].listed}
        kept = self._kept(source, documents, fed)
        for generation in generations:
            for document_id in documents:
                before = self.of(generation.name, document_id)
                noticed = self._noticed(source, document_id, before, kept[document_id])
                after = before if not listed else frozenset[Held | None]()
                after |= noticed
                if generation.name in fed and indexed is not False:
                    written = self._written(source, document_id, noticed)
                    after = written if indexed else after | written
                self.shelves[generation.name][document_id] = after
        self._spend_approval(source, kept, sure=listed)

    def _kept(self, source: str, documents: set[str], fed: list[str]) -> dict[str, bool | None]:
        """Whether a document that is not listed stays until its deletion is approved; None: who knows."""
        now, approved = self.sources[source], self.approved[source]
        kept: dict[str, bool | None] = {}
        for document_id in documents:
            possible = [self.of(one, document_id) for one in fed]
            sure = any(None not in one for one in possible)
            conceivable = any(one != ABSENT for one in possible)
            if now.listed or now.withdrawn or not conceivable or document_id in approved.must:
                kept[document_id] = False
            elif sure and document_id not in approved.may:
                kept[document_id] = True
            else:
                kept[document_id] = None
        return kept

    def _noticed(self, source: str, document_id: str, before: Possible, kept: bool | None) -> Possible:
        now = self.sources[source]
        file = now.listed.get(document_id.removeprefix(f"{source}/"))
        held = [one for one in before if one is not None]
        gone = {None} if None in before else set[Held | None]()
        if file is None:
            stay = {one.narrowed(now.groups) for one in held}
            if kept is None:
                return frozenset({None, *stay})
            return frozenset({*gone, *stay}) if kept else ABSENT
        groups = now.groups_of(file) or frozenset()
        return frozenset({*gone, *(replace(one, readers=groups) for one in held)})

    def _written(self, source: str, document_id: str, noticed: Possible) -> Possible:
        now = self.sources[source]
        file = now.listed.get(document_id.removeprefix(f"{source}/"))
        held = [one for one in noticed if one is not None]
        gone = {None} if None in noticed else set[Held | None]()
        if file is None:
            return frozenset({*gone, *(one.under(one.groups & one.readers) for one in held)})
        groups = now.groups_of(file)
        if groups is None:
            return ABSENT
        if file.content == UNREADABLE:
            return frozenset({*gone, *(one.under(groups) for one in held)})
        return frozenset([Held(file.content, groups, groups)])

    def _spend_approval(self, source: str, kept: Mapping[str, bool | None], *, sure: bool) -> None:
        """What is listed again is not approved any more, and nothing is once other documents are withheld."""
        approved = self.approved[source]
        if not sure:
            self.approved[source] = Approved(approved.may)
            return
        if any(one is not False for one in kept.values()):
            self.approved[source] = Approved()
            return
        listed = {f"{source}/{name}" for name in self.sources[source].listed}
        self.approved[source] = Approved(approved.may - listed, approved.must - listed)


FED = (GenerationState.LIVE, GenerationState.BUILDING, GenerationState.READY)
