"""Which sources a request may see, by the manifests as they are now.

What the index holds of a source may be older than its manifest: access that was narrowed a moment ago counts
at once, since the search leaves out what is hidden here.
"""

from collections.abc import Mapping
from dataclasses import replace

from rag_pipeline.query.scope import Scope
from rag_pipeline.sources.manifest import Lifecycle, Manifest


def grants(manifest: Manifest, scope: Scope) -> bool:
    """Whether the caller may see a source; its documents may still narrow that."""
    identity = scope.identity
    return manifest.tenant == identity.tenant and not identity.visible_groups.isdisjoint(
        manifest.access_groups
    )


def addresses(manifest: Manifest, scope: Scope) -> bool:
    """Whether a source is written for the audience and environment that the request asks for."""
    return (scope.audience is None or scope.audience in manifest.audience) and (
        scope.environment is None or scope.environment in manifest.environments
    )


def in_force(manifest: Manifest, scope: Scope) -> bool:
    """Whether a source may be searched: granted, active, and for whom and what the request asks."""
    return grants(manifest, scope) and manifest.lifecycle is Lifecycle.ACTIVE and addresses(manifest, scope)


def within_manifests(scope: Scope, manifests: Mapping[str, Manifest]) -> Scope | None:
    """The scope narrowed to the sources that may be searched today; None where it may search none.

    No source in a scope would be no narrowing at all.
    """
    hidden = hidden_sources(manifests, scope)
    visible = tuple(sorted(manifests.keys() - set(hidden)))
    return replace(scope, source_ids=visible, hidden_sources=hidden) if visible else None


def hidden_sources(manifests: Mapping[str, Manifest], scope: Scope) -> tuple[str, ...]:
    """The sources that the search must leave out, whatever the index still says of them."""
    return tuple(sorted(source for source, one in manifests.items() if not in_force(one, scope)))
