"""One run at a time works on a source, and one that lost its source to another stops."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rag_pipeline.ledger.leases import Lease
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)


class SourceLeases:
    """The leases of sources, and those that are held through this object."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._held: dict[str, Lease] = {}

    @contextmanager
    def hold(self, source_id: str, purpose: str, *, wait_seconds: float) -> Iterator[None]:
        """Work on a source while nobody else does. Raises LeaseHeld where somebody goes on doing so."""
        with self._services.ledger.leases.hold(
            f"source {source_id}",
            purpose=purpose,
            wait_seconds=wait_seconds,
            on_wait=lambda holder: logger.warning("Waiting: %s", holder),
        ) as lease:
            self._held[source_id] = lease
            try:
                yield
            finally:
                del self._held[source_id]

    def require(self, source_id: str) -> None:
        """Raise LeaseLost where another run took over a source that was held, since this one stood still."""
        if lease := self._held.get(source_id):
            lease.check()
