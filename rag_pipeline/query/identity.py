"""Who asks, as a trusted layer established it: never taken from a request's body."""

import hashlib
from dataclasses import dataclass

from rag_pipeline.sources.manifest import PUBLIC_GROUP


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller. Without groups the caller sees public documents only."""

    user: str | None = None
    groups: frozenset[str] = frozenset()
    tenant: str = "default"

    @property
    def visible_groups(self) -> frozenset[str]:
        """The access groups whose documents the caller sees. Never empty: everybody is in the public one."""
        return self.groups | {PUBLIC_GROUP}

    @property
    def digest(self) -> str:
        """What a trace holds of the caller: the same for the same user, groups and tenant; not reversible at
        sight."""
        parts = (self.tenant, self.user or "", *sorted(self.groups))
        # Names from a command line may be bytes that are no text.
        return hashlib.sha256("\x00".join(parts).encode(errors="surrogatepass")).hexdigest()
