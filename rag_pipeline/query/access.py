"""What a caller may see, as a filter that every leg of every search carries."""

from dataclasses import dataclass

from qdrant_client import models

from rag_pipeline.sources.manifest import PUBLIC_GROUP


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as a trusted layer established it: never taken from a request's body.

    Without groups the caller is unknown and sees nothing. A known caller also sees public documents.
    """

    groups: frozenset[str] = frozenset()
    tenant: str = "default"

    @property
    def visible_groups(self) -> frozenset[str]:
        """The access groups whose documents the caller sees; empty for an unknown caller."""
        return self.groups | {PUBLIC_GROUP} if self.groups else frozenset()


def access_filter(caller: Caller) -> models.Filter | None:
    """The filter that lets through what the caller may see, or None where that is nothing at all.

    None must end the search: an empty `should` or `any` in Qdrant is no filter, not an empty answer.
    """
    if not caller.visible_groups:
        return None
    return models.Filter(
        must=[
            models.FieldCondition(key="tenant", match=models.MatchValue(value=caller.tenant)),
            models.FieldCondition(
                key="access_groups", match=models.MatchAny(any=sorted(caller.visible_groups))
            ),
            models.FieldCondition(key="published", match=models.MatchValue(value=True)),
        ]
    )
