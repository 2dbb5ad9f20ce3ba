"""What a document's own front matter claims although only its source's manifest decides it."""

from collections.abc import Mapping
from typing import Final

_DECIDED_BY_MANIFEST: Final = frozenset(
    {
        "trust", "trust_tier", "trust_level", "trusted", "authority", "authoritative", "official", "verified",
        "supersedes", "access", "access_rules", "allowed_roles", "require_auth", "permissions", "lifecycle",
        "source_type", "tenant",
    }
)  # fmt: skip


def ignored_claims(front_matter: Mapping[str, object]) -> tuple[str, ...]:
    """A warning if front matter claims trust, authority or access; empty if it does not.

    `access_groups` is no claim: it can only narrow who sees the document, and is heeded.
    """
    claims = [key for key in front_matter if key.casefold().replace("-", "_") in _DECIDED_BY_MANIFEST]
    if not claims:
        return ()
    return (f"the front matter's {', '.join(claims)} was ignored: only the manifest gives trust and access",)
