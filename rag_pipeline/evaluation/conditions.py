"""Which conditions of a request's filter a point does not meet, one by one and in words."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from qdrant_client import QdrantClient, models

from rag_pipeline.ledger.documents import CurrentVersion
from rag_pipeline.query.access import access_filter, permission
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.visibility import grants
from rag_pipeline.sources.document import source_of
from rag_pipeline.sources.manifest import Lifecycle, Manifest


def blocking(
    client: QdrantClient,
    collection: str,
    payloads: Mapping[str, Mapping[str, Any]],
    scope: Scope,
    versions: Mapping[str, CurrentVersion],
    manifests: Mapping[str, Manifest],
) -> dict[str, tuple[str, ...]]:
    """For each point, given as its payload by id, what keeps it from the request; nothing: it may be found.

    Qdrant itself is asked condition by condition, so that none is understood otherwise than in a search.
    Then the ledger and the manifests, which know of changes before the points do.
    """
    if not payloads:
        return {}
    whole = access_filter(scope)
    found: dict[str, list[str]] = {point: [] for point in payloads}
    for condition, wanted in [*_each(whole.must, True), *_each(whole.must_not, False)]:
        met = _meeting(client, collection, payloads, condition, wanted=wanted)
        for point, payload in payloads.items():
            if point not in met:
                found[point].append(_told(condition, payload, scope, manifests, wanted=wanted))
    permits = permission(scope)
    for point, payload in payloads.items():
        version = versions.get(str(payload.get("document_id")))
        if version is None:
            found[point].append("ledger: the document is deleted, or was never completely indexed")
        elif version.content_hash != payload.get("content_hash"):
            found[point].append("ledger: the point is not of its document's current version")
        elif not found[point] and not permits(version.facts, version.readers):
            readers = ", ".join(sorted(version.readers)) or "nobody"
            found[point].append(f"ledger: its access or its facts changed; its readers are {readers}")
    return {point: tuple(reasons) for point, reasons in found.items()}


def _each(conditions: Any, wanted: bool) -> Iterator[tuple[models.Condition, bool]]:
    for one in conditions or ():
        yield one, wanted


def _meeting(
    client: QdrantClient,
    collection: str,
    points: Collection[str],
    condition: models.Condition,
    *,
    wanted: bool,
) -> set[str]:
    these = models.HasIdCondition(has_id=list(points))
    asked = models.Filter(
        must=[these, condition] if wanted else [these], must_not=None if wanted else [condition]
    )
    records, _ = client.scroll(
        collection, scroll_filter=asked, limit=len(points), with_payload=False, with_vectors=False
    )
    return {str(record.id) for record in records}


def _told(
    condition: models.Condition,
    payload: Mapping[str, Any],
    scope: Scope,
    manifests: Mapping[str, Manifest],
    *,
    wanted: bool,
) -> str:
    if not wanted:
        return f"manifest: {_hidden_by(source_of(str(payload.get('document_id'))), scope, manifests)}"
    field, asked = _asked(condition)
    return f"{field}: the point has {_shown(payload.get(field))}, the request wants {asked}"


def _hidden_by(source_id: str, scope: Scope, manifests: Mapping[str, Manifest]) -> str:
    manifest = manifests[source_id]
    if not grants(manifest, scope):
        return f"{source_id} is for {_shown(sorted(manifest.access_groups))} in tenant {manifest.tenant}"
    if manifest.lifecycle is not Lifecycle.ACTIVE:
        return f"{source_id} is {manifest.lifecycle}"
    audience, environments = _shown(list(manifest.audience)), _shown(list(manifest.environments))
    return f"{source_id} is written for {audience} and holds in {environments}"


def _asked(condition: models.Condition) -> tuple[str, str]:
    """The field that a condition looks at, and what it wants there."""
    match condition:
        case models.FieldCondition(key=field, match=models.MatchAny(any=values)):
            return field, _shown(list(values))
        case models.FieldCondition(key=field, match=models.MatchValue(value=value)):
            return field, str(value).lower()
        case models.Filter(
            should=[models.IsEmptyCondition(), models.FieldCondition(key=field, range=bounds)]
        ):
            return field, _range(bounds)
    raise TypeError(f"the filter holds a condition that nobody can tell: {condition!r}")


def _range(bounds: object) -> str:
    if not isinstance(bounds, models.DatetimeRange):
        raise TypeError("dates are bounded by dates")
    if bounds.lte:
        return f"none or at most {bounds.lte:%Y-%m-%d %H:%M}"
    return f"none or after {bounds.gt:%Y-%m-%d %H:%M}"


def _shown(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or "nothing"
    return "nothing" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
