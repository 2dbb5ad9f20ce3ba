"""The texts of what is indexed, as conversion left them."""

from rag_pipeline.evaluation.asked_generation import asked_generation
from rag_pipeline.services import Services


def indexed_texts(services: Services, generation: str | None = None) -> dict[str, str]:
    """The Markdown of every document of a generation, by document id; of the live one if none is named.

    A document whose artifact is gone is left out: `rag-pipeline index` makes it again. Raises
    ConfigurationError where nothing is indexed.
    """
    ledger, name = services.ledger, asked_generation(services, generation).name
    texts: dict[str, str] = {}
    for holder, version in ledger.documents.versions(ledger.documents.ids(name)):
        if holder == name and (stored := services.artifacts.read(version.normalized_key)):
            texts[version.document_id] = stored["markdown"]
    return texts
