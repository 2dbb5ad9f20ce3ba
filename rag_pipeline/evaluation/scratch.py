"""A scratch knowledge base of one document: its source's manifest and a copy of its file.

Alias, ledger, artifacts and, where the store is embedded, the store are its own; on a server its collections
stand beside the others under names of their own, and are removed again.
"""

import json
import logging
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag_pipeline.errors import BadQuestionSet, StoreError
from rag_pipeline.evaluation.surroundings import Surroundings
from rag_pipeline.index.store import open_store
from rag_pipeline.query.asking import ask_in_full
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.relevance.baselines import Baselines
from rag_pipeline.query.request import AskRequest
from rag_pipeline.services import Services
from rag_pipeline.sources.document import source_of
from rag_pipeline.sources.listing import find_files
from rag_pipeline.sources.manifest import Manifest

logger = logging.getLogger(__name__)

# Longer than any case takes.
_LEFT_BEHIND_S = 3_600.0

# A listing that holds nothing is implausible, so that its deletions would wait for a person.
_COMPANION = "companion_of_the_case.md"
_FILES = "files"


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch knowledge base: services of its own, and the document's file to be changed."""

    services: Services
    manifest: Manifest
    file: Path

    @property
    def source_id(self) -> str:
        """The source's id, which is the original's."""
        return self.manifest.source_id

    @property
    def generation(self) -> str:
        """The live scratch generation; raises BadQuestionSet where nothing was indexed."""
        live = self.services.ledger.generations.live(self.services.settings.alias)
        if live is None:
            raise BadQuestionSet(f"Nothing of {self.source_id} could be indexed.")
        return live.name

    def version(self, document_id: str) -> str | None:
        """The content hash of a document's version, as the ledger has it."""
        found = self.services.ledger.documents.of_source(self.generation, self.source_id)
        return found[document_id].content_hash if document_id in found else None

    def ask(self, question: str, groups: Sequence[str]) -> tuple[list[Evidence], list[Evidence]]:
        """The evidence that the answer cites, and all that was ranked."""
        identity = Identity("evaluation", frozenset(groups), self.manifest.tenant)
        record = ask_in_full(
            AskRequest(question=question), identity, Surroundings(self.services, self.generation)
        ).record
        labels = {label for claim in record.claims for label in claim.labels}
        ranked = [one.evidence for one in record.evidence]
        return [one for one in ranked if one.label in labels], ranked

    def edit(self, old: str, new: str) -> None:
        """Replace words in the document's file; raises BadQuestionSet where they are not in it."""
        try:
            text = self.file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            text = ""
        if old not in text:
            raise BadQuestionSet(f"{self.file.name} does not hold “{old}” as text, so it cannot be edited.")
        self.file.write_text(text.replace(old, new), encoding="utf-8")

    def delete(self) -> None:
        """Remove the document's file."""
        self.file.unlink()

    def write_manifest(self, groups: Sequence[str] | None = None) -> None:
        """Write the source's manifest, for these groups alone if any are given."""
        value = self.manifest.model_dump(mode="json", exclude_none=True)
        value["location"] = {"url": f"../../{_FILES}", "include": ["**/*"], "exclude": []}
        if groups is not None:
            value["access_rules"] = {"require_auth": True, "allowed_roles": list(groups)}
        folder = self.services.settings.sources_folder
        folder.mkdir(parents=True, exist_ok=True)
        # JSON is YAML.
        (folder / f"{self.source_id}.yaml").write_text(json.dumps(value, ensure_ascii=False))


@contextmanager
def scratch_of(document_id: str, services: Services) -> Iterator[Scratch]:
    """A scratch knowledge base that holds a copy of a document; nothing of it is left behind.

    Raises BadQuestionSet where there is no such document, SourceUnavailable where nobody can tell.
    """
    manifest = services.manifests().get(source_of(document_id))
    if manifest is None:
        raise BadQuestionSet(f"There is no manifest of the source of {document_id}.")
    with tempfile.TemporaryDirectory(prefix="rag-lifecycle-") as name:
        folder = Path(name)
        file = _copied(document_id, manifest, folder / _FILES)
        settings = services.settings.model_copy(
            update={
                "home": folder / "home",
                "manifests": folder / "manifests",
                "alias": f"{_aliases(services)}{int(time.time())}-{uuid.uuid4().hex[:8]}",
                "ledger_url": None,
                "artifacts_url": None,
                "workers": 1,
            }
        )
        with Services(settings) as own:
            # The same model by the same settings: to load it again would take longer than the case.
            own.embedder = services.embedder
            own.baselines = Baselines(references=services.baselines.references)
            scratch = Scratch(own, manifest, file)
            scratch.write_manifest()
            if services.settings.ranking_file.exists():
                settings.ranking_file.write_bytes(services.settings.ranking_file.read_bytes())
            try:
                yield scratch
            finally:
                _remove_collections(own)


def _copied(document_id: str, manifest: Manifest, folder: Path) -> Path:
    """The copy of a document's file, with its sidecar and a companion beside it."""
    path = document_id.partition("/")[2]
    root, files = find_files(manifest)
    found = next((one for one in files if one.path == path and one.obstacle is None), None)
    if found is None:
        raise BadQuestionSet(f"There is no document {document_id} in its source.")
    file = folder / path
    file.parent.mkdir(parents=True)
    file.write_bytes(root.fs.cat_file(found.fs_path))
    if found.sidecar:
        Path(f"{file}.meta.yaml").write_bytes(root.fs.cat_file(found.sidecar))
    (folder / _COMPANION).write_text("# Companion\n\nThis page keeps its source from being empty.\n")
    return file


def sweep(services: Services) -> None:
    """Remove what scratch knowledge bases of killed processes left on a server."""
    if services.store.embedded:
        return
    ours = _aliases(services)
    with open_store(services.store) as client:
        for one in client.get_collections().collections:
            begun = one.name.removeprefix(ours).partition("-")[0]
            if one.name.startswith(ours) and begun.isdecimal() and time.time() - int(begun) > _LEFT_BEHIND_S:
                logger.warning("Removing %s, which a killed evaluation left behind", one.name)
                client.delete_collection(one.name)


def _aliases(services: Services) -> str:
    """How the aliases of all scratch knowledge bases begin."""
    return f"{services.settings.alias}-lifecycle-"


def _remove_collections(services: Services) -> None:
    if services.store.embedded:
        return
    names = [one.name for one in services.ledger.generations.of_alias(services.settings.alias)]
    try:
        with open_store(services.store) as client:
            for name in names:
                client.delete_collection(name)
    except StoreError as error:
        # Not raised, which would hide what the case itself ended by; the next evaluation sweeps them.
        logger.warning("The scratch collections %s are left behind: %s", ", ".join(names), error)
