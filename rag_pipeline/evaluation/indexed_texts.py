"""The texts of what is indexed, as conversion left them."""

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.services import Services


def indexed_texts(services: Services, generation: str | None = None) -> dict[str, str]:
    """The Markdown of every document of a generation, by document id; of the live one if none is named.

    A document whose artifact is gone is left out: `rag-pipeline index` makes it again. Raises
    ConfigurationError where nothing is indexed.
    """
    ledger, alias = services.ledger, services.settings.alias
    live = ledger.generations.live(alias)
    name = generation or (live.name if live else None)
    if name is None:
        raise ConfigurationError(f"Nothing is indexed under the alias {alias} yet. Run `rag-pipeline index`.")
    texts: dict[str, str] = {}
    for holder, version in ledger.documents.versions(ledger.documents.ids(name)):
        if holder == name and (stored := services.artifacts.read(version.normalized_key)):
            texts[version.document_id] = stored["markdown"]
    return texts
