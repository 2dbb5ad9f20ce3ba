"""Which generation is asked: the live one, or one that is named."""

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.services import Services


def asked_generation(services: Services, name: str | None) -> Generation:
    """The generation of this name, the live one if none is named; raises ConfigurationError without one."""
    alias, generations = services.settings.alias, services.ledger.generations
    if name is None:
        if live := generations.live(alias):
            return live
        raise ConfigurationError(
            f"Nothing is indexed under the alias {alias} yet. Run `rag-pipeline index`, or set RAG_ALIAS."
        )
    known = generations.of_alias(alias)
    for one in known:
        if one.name == name:
            return one
    names = ", ".join(one.name for one in known) or "none"
    raise ConfigurationError(f"There is no generation {name} under the alias {alias}; there are: {names}.")
