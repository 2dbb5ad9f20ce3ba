"""Which side of a conflict is followed."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from rag_pipeline.query.conflicts.candidate import Candidate
from rag_pipeline.query.conflicts.conflict import Precedence
from rag_pipeline.query.conflicts.value import Value

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Side(NamedTuple):
    """What one document says, and how many of the names in the question it is about."""

    candidate: Candidate
    values: tuple[Value, ...]
    scope: int


def decide(sides: Sequence[Side]) -> tuple[Side | None, Precedence | None]:
    """The side that is followed, and what decided; nothing where the best sides still differ.

    Trust comes first: what a forum says of Norway does not outweigh the policy. Then the region or plan that
    the question names: the rule for Norway stands beside the general one, and a newer edition of the general
    rule does not end it. Only then the date decides. A deprecated source is trusted less than any other.
    """
    rules: Sequence[tuple[Precedence, Callable[[Side], tuple[int, ...] | datetime]]] = (
        (Precedence.TRUST_TIER, _trust),
        (Precedence.SPECIFICITY, lambda side: (side.scope,)),
        (Precedence.EFFECTIVE_AT, lambda side: side.candidate.evidence.effective_at or _NEVER),
    )
    left = list(sides)
    for rule, rank in rules:
        best = max(map(rank, left))
        left = [side for side in left if rank(side) == best]
        if _agree(left):
            return min(left, key=_order), rule
    return None, None


def _trust(side: Side) -> tuple[int, int]:
    evidence = side.candidate.evidence
    return (evidence.lifecycle != "deprecated", -evidence.trust_tier)


def _agree(sides: Sequence[Side]) -> bool:
    return all(
        any(value.agrees_with(other) for value in sides[0].values for other in side.values)
        for side in sides[1:]
    )


def _order(side: Side) -> tuple[float, str]:
    """Among sides that agree the best ranked one; by id where they are equal, never by place in the list."""
    return (-side.candidate.evidence.score, side.candidate.evidence.chunk_id)
