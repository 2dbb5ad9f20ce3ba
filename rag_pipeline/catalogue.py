"""Which sources there are: those that a manifest describes, and those of which something is indexed."""

from rag_pipeline.builds import builds
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.following import Look, look_at_sources, look_at_withdrawn
from rag_pipeline.services import Services
from rag_pipeline.sources.manifest import Lifecycle, Manifest
from rag_pipeline.sources.manifest_folder import ManifestSet, load_manifests


class Catalogue:
    """The sources, as the manifests folder and the ledger have them at the moment of each question."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def manifests(self) -> ManifestSet:
        """All manifests as they are now, and what is wrong with the rest."""
        return load_manifests(self._services.settings.sources_folder)

    def manifest(self, source_id: str) -> Manifest:
        """One source's manifest; raises ConfigurationError where it is missing or broken."""
        if manifest := self.find(source_id):
            return manifest
        raise ConfigurationError(
            f"There is no manifest of source {source_id} in {self._services.settings.sources_folder}. It "
            f"has: {', '.join(self.manifests().manifests) or 'none'}."
        )

    def find(self, source_id: str) -> Manifest | None:
        """One source's manifest, if there is one; raises ConfigurationError where it is broken."""
        found = self.manifests()
        if source_id in found.manifests:
            return found.manifests[source_id]
        reasons = [str(problem) for problem in found.problems if problem.source_id == source_id]
        if reasons:
            raise ConfigurationError(f"The manifest of source {source_id} is broken: {'; '.join(reasons)}")
        return None

    def indexed(self) -> set[str]:
        """The sources of which something is indexed, or must still be deleted."""
        generations = self._services.ledger.generations.of_alias(self._services.settings.alias)
        return self._services.ledger.documents.sources(one.name for one in generations)

    def withdrawn(self) -> list[str]:
        """Sources of which something is indexed though their manifest is gone, or archived."""
        found = self.manifests()
        indexed = self.indexed()
        archived = {one for one, manifest in found.manifests.items() if _is_archived(manifest)}
        claimed = found.manifests.keys() | {problem.source_id for problem in found.problems}
        # A manifest that cannot even tell its source may be that of any of them.
        gone = set[str]() if None in claimed else indexed - claimed
        return sorted(gone | (indexed & archived))

    def looks(self, seconds: float) -> list[Look]:
        """Compare every source with what is recorded as indexed of it; Qdrant is not opened."""
        ledger = self._services.ledger
        fed = [build.generation for build in builds(self._services) if build.generation]
        accounts = [set(ledger.reconciliations.of_generation(one.name)) for one in fed]
        states = ledger.source_states.all()
        looks = look_at_sources(
            [one for one in self.manifests().manifests.values() if not _is_archived(one)],
            states,
            indexed=set.intersection(*accounts) if accounts else set(),
            seconds=seconds,
        )
        looks += [look_at_withdrawn(one, states.get(one)) for one in self.withdrawn()]
        return sorted(looks, key=lambda look: look.source_id)


def _is_archived(manifest: Manifest) -> bool:
    return manifest.lifecycle is Lifecycle.ARCHIVED
