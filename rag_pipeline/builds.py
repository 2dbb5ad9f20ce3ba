"""What a source's documents are built into: the live generation, and the one that is to replace it.

Each generation is fed by the model and the sizes that it was begun with, whatever the settings say now. Only
what code decides (how documents are read and split) is always today's; where that has changed, a generation
keeps what it holds of unchanged documents until it is replaced.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.chunking.stage import chunks_key
from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.index.generations import difference, fingerprint_of
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.generations import FED, Generation
from rag_pipeline.normalize.stage import document_title, normalized_key, stored_summary
from rag_pipeline.services import Services
from rag_pipeline.sources.document import RawDocument
from rag_pipeline.sources.manifest import Parsing

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Build:
    """One way of splitting and embedding, and the generation that is made in it, if it exists already.

    `drifted` says that the settings or the code of today would make something else.
    """

    services: Services
    settings: Mapping[str, Any]
    generation: Generation | None
    drifted: bool

    @property
    def fingerprint(self) -> str:
        """What names the build in the stages' tables."""
        return fingerprint_of(dict(self.settings))

    @cached_property
    def embedder(self) -> Embedder:
        """The model that the generation was begun with."""
        return self.services.embedder_of(self.settings["model"])

    @cached_property
    def chunking(self) -> ChunkingOptions:
        """The sizes that the generation was begun with."""
        sizes = {name: value for name, value in self.settings["chunking"].items() if name != "version"}
        return ChunkingOptions(**sizes)

    def held(self, source_id: str) -> dict[str, IndexedDocument]:
        """The documents, by id, that the generation holds for certain, as far as the ledger knows."""
        if self.generation is None:
            return {}
        recorded = self.services.ledger.documents.of_source(self.generation.name, source_id)
        return {document_id: one for document_id, one in recorded.items() if one.settled}

    def kept(self, source_id: str) -> dict[str, IndexedDocument]:
        """The documents, by id, that stay as they are while their content is the same.

        Empty unless the build has drifted.
        """
        return self.held(source_id) if self.drifted else {}

    def is_as_listed(self, document: RawDocument, held: IndexedDocument, parsing: Parsing) -> bool:
        """Whether reading and splitting a document anew would make nothing else than what is held of it."""
        if held.content_hash != document.content_hash:
            return False
        if self.drifted:
            return True
        key = normalized_key(document, parsing)
        if held.normalized_key != key or held.failed_chunks:
            return False
        summary = stored_summary(self.services.artifacts, key)
        if summary is None:  # somebody removed what it was made of
            return False
        title = document_title(document, summary["title"])
        return held.chunks_key == chunks_key(key, title, self.chunking, self.embedder.identity.key)


def builds(services: Services) -> list[Build]:
    """The builds that a run feeds: that of the live generation first, then those that may come after it."""
    today = services.generation_settings
    fed = [one for one in services.ledger.generations.of_alias(services.settings.alias) if one.state in FED]
    live = next((one for one in fed if one.live), None)
    return [_build(services, one, today) for one in (live, *(one for one in fed if not one.live))]


def distinct(found: Iterable[Build]) -> list[Build]:
    """One build of each fingerprint: generations of the same one share their chunks and vectors."""
    return list({build.fingerprint: build for build in found}.values())


def known_types(services: Services, source_id: str) -> dict[tuple[str, str], str]:
    """The types of a source's documents that today's code has told already, by document id and version."""
    live = builds(services)[0]
    held = {} if live.drifted else live.held(source_id)
    return {(one.document_id, one.content_hash): one.facts["mime_type"] for one in held.values()}


def to_be_made(
    services: Services, source_id: str, listed: Iterable[RawDocument], parsing: Parsing
) -> list[RawDocument]:
    """Those of a source's documents that some build needs anew, or of which something has failed."""
    failed = {letter.document_id for letter in services.ledger.dead_letters.listed([source_id])}
    held = [(build, build.held(source_id)) for build in builds(services)]
    return [
        document
        for document in listed
        if not all(
            document.document_id in known
            and (build.drifted or document.document_id not in failed)
            and build.is_as_listed(document, known[document.document_id], parsing)
            for build, known in held
        )
    ]


def drift(services: Services) -> str | None:
    """How today's settings differ from those of the live generation, or None."""
    live = services.ledger.generations.live(services.settings.alias)
    today = services.generation_settings
    if live is None or live.fingerprint == fingerprint_of(today):
        return None
    return difference(live.settings, today)


def warn_of_drift(services: Services) -> None:
    """Say once that the live generation goes on as it was begun, whatever the settings say."""
    if found := drift(services):
        logger.warning(
            "The live generation was built with other settings (%s) and goes on with its own. "
            "`rag-pipeline reindex --promote` builds one with today's.",
            found,
        )


def _build(services: Services, generation: Generation | None, today: dict[str, Any]) -> Build:
    if generation is None:
        return Build(services, today, None, drifted=False)
    drifted = generation.fingerprint != fingerprint_of(today)
    return Build(services, generation.settings, generation, drifted)
