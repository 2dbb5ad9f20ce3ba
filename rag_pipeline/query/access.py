"""What a request may see, as a filter that every leg of every search carries, and as a test of facts.

Both say the same. The filter decides what Qdrant looks at; the test is for the ledger, which knows of changes
before the points do.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from qdrant_client import models

from rag_pipeline.index.schema import FACT_FIELDS
from rag_pipeline.query.scope import Scope
from rag_pipeline.sources.manifest import Lifecycle


def access_filter(scope: Scope) -> models.Filter:
    """The filter that lets through what the scope's caller may see and its request asks for.

    A document without a date has no bound on that side. No list in it is ever empty, since an empty `should`
    or `any` in Qdrant is no filter at all.
    """
    as_of = scope.as_of.astimezone(UTC)
    must: list[models.Condition] = [
        _is("tenant", [scope.identity.tenant]),
        _is("access_groups", scope.identity.visible_groups),
        models.FieldCondition(key="published", match=models.MatchValue(value=True)),
        _is("lifecycle", [Lifecycle.ACTIVE]),
        _unknown_or("effective_at", models.DatetimeRange(lte=as_of)),
        _unknown_or("valid_until", models.DatetimeRange(gt=as_of)),
    ]
    must += [_is(field, wanted) for field, wanted in _narrowing(scope)]
    hidden: list[models.Condition] = [_is("source_id", scope.hidden_sources)] if scope.hidden_sources else []
    return models.Filter(must=must, must_not=hidden or None)


def permission(scope: Scope) -> Callable[[Mapping[str, Any], Collection[str]], bool]:
    """A test whether a document with these facts (as a payload holds them) and readers is in the scope."""
    tenant, groups, as_of = scope.identity.tenant, scope.identity.visible_groups, scope.as_of
    active = Lifecycle.ACTIVE.value
    # A document's ids are no facts; the filter alone narrows by them.
    narrowing = [(field, wanted) for field, wanted in _narrowing(scope) if field in FACT_FIELDS]

    def permits(facts: Mapping[str, Any], readers: Collection[str]) -> bool:
        if facts["tenant"] != tenant or facts["lifecycle"] != active or groups.isdisjoint(readers):
            return False
        for field, wanted in narrowing:
            if wanted.isdisjoint(_values(facts.get(field))):
                return False
        return _holds(facts, as_of)

    return permits


def _narrowing(scope: Scope) -> list[tuple[str, frozenset[str]]]:
    """The fields that the request asks to be among some values; none of the lists is empty."""
    asked: dict[str, Iterable[str]] = {
        "environments": [] if scope.environment is None else [scope.environment],
        "audience": [] if scope.audience is None else [scope.audience],
        "source_id": scope.source_ids,
        "document_id": scope.document_ids,
        "source_type": scope.source_types,
        "language": scope.languages,
    }
    return [(field, frozenset(wanted)) for field, wanted in asked.items() if wanted]


def _holds(facts: Mapping[str, Any], as_of: datetime) -> bool:
    effective_at, valid_until = facts.get("effective_at"), facts.get("valid_until")
    return (effective_at is None or datetime.fromisoformat(effective_at) <= as_of) and (
        valid_until is None or as_of < datetime.fromisoformat(valid_until)
    )


def _values(fact: str | list[str] | None) -> list[str]:
    return [] if fact is None else [fact] if isinstance(fact, str) else fact


def _is(field: str, wanted: Iterable[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=sorted(wanted)))


def _unknown_or(field: str, bounds: models.DatetimeRange) -> models.Filter:
    return models.Filter(
        should=[
            models.IsEmptyCondition(is_empty=models.PayloadField(key=field)),
            models.FieldCondition(key=field, range=bounds),
        ]
    )
