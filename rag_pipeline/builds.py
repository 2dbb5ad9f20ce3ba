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
from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.index.generations import difference, fingerprint_of
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.generations import FED, Generation
from rag_pipeline.services import Services

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

    def kept(self, source_id: str) -> dict[str, IndexedDocument]:
        """The documents, by id, that stay as they are while their content is the same.

        Empty unless the build has drifted.
        """
        if self.generation is None or not self.drifted:
            return {}
        recorded = self.services.ledger.documents.of_source(self.generation.name, source_id)
        return {document_id: one for document_id, one in recorded.items() if one.settled}


def builds(services: Services) -> list[Build]:
    """The builds that a run feeds: that of the live generation first, then those that may come after it."""
    today = services.generation_settings
    fed = [one for one in services.ledger.generations.of_alias(services.settings.alias) if one.state in FED]
    live = next((one for one in fed if one.live), None)
    return [_build(services, one, today) for one in (live, *(one for one in fed if not one.live))]


def distinct(found: Iterable[Build]) -> list[Build]:
    """One build of each fingerprint: generations of the same one share their chunks and vectors."""
    return list({build.fingerprint: build for build in found}.values())


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
