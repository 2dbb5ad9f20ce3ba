"""What becomes of a conflict, as `manifests/ranking.yaml` says it."""

from collections.abc import Collection
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from rag_pipeline.query.conflicts.conflict import Policy
from rag_pipeline.sources.manifest import SourceType


def _as_policy(value: object) -> object:
    return Policy(value) if isinstance(value, str) and value in list(Policy) else value


def _as_source_type(value: object) -> object:
    return SourceType(value) if isinstance(value, str) and value in list(SourceType) else value


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


_Policy = Annotated[Policy, BeforeValidator(_as_policy)]
_SourceType = Annotated[SourceType, BeforeValidator(_as_source_type)]
_Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ConflictPolicies(BaseModel):
    """Which conflicts are answered from the winner, and which a person decides."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    default: _Policy = Policy.PREFER
    """What becomes of a conflict that no rule below is about."""
    by_source_type: dict[_SourceType, _Policy] = Field(default_factory=dict)
    """By the types of the sources in conflict. Where they differ, `escalate` is the stronger."""
    escalate_questions: Annotated[tuple[_Phrase, ...], BeforeValidator(_as_tuple)] = ()
    """Words and phrases; a question that holds one of them is escalated, whatever the sources are."""

    def policy_for(self, question: str, source_types: Collection[str]) -> Policy:
        """The policy for a conflict of sources of these types about a question.

        A type that nobody knows has the default one.
        """
        folded = question.casefold()
        if any(phrase.casefold() in folded for phrase in self.escalate_questions):
            return Policy.ESCALATE
        policies: dict[str, Policy] = {one.value: policy for one, policy in self.by_source_type.items()}
        chosen = {policies.get(name, self.default) for name in source_types}
        return Policy.ESCALATE if Policy.ESCALATE in chosen else self.default if not chosen else Policy.PREFER
