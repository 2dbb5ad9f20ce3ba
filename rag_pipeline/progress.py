"""How long-running stages tell what they are doing, whoever is watching."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

logger = logging.getLogger(__name__)


class Progress(Protocol):
    """Told by a stage how far it is. Implementations must be cheap: a stage may call once a document."""

    def start(self, source_id: str, stage: str, total: int, unit: str) -> None:
        """A stage of a source begins; `total` counts `unit`s ("documents", "chunks")."""
        ...

    def advance(self, count: int = 1) -> None:
        """`count` more units of the started stage are done."""
        ...

    def finish(self) -> None:
        """The started stage is over, successfully or not."""
        ...


class LoggedProgress:
    """Progress as plain log lines: at the start, every few seconds while it lasts, and at the end."""

    def __init__(self, every_seconds: float = 5.0) -> None:
        self._every = every_seconds
        self._label = self._unit = ""
        self._total = self._done = 0
        self._started = self._last = 0.0

    def start(self, source_id: str, stage: str, total: int, unit: str) -> None:
        self._label, self._unit = f"{source_id}: {stage}", unit
        self._total, self._done = total, 0
        self._started = self._last = time.monotonic()

    def advance(self, count: int = 1) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            rate = self._done / (now - self._started)
            left = (self._total - self._done) / rate if rate else 0.0
            logger.info(
                "%s: %d of %d %s, %.1f a second, about %.0f s left",
                self._label, self._done, self._total, self._unit, rate, left,
            )  # fmt: skip

    def finish(self) -> None:
        logger.info(
            "%s: %d %s in %.1f s",
            self._label, self._done, self._unit, time.monotonic() - self._started,
        )  # fmt: skip


@contextmanager
def shown(
    progress: Progress, source_id: str, stage: str, total: int, unit: str
) -> Iterator[Callable[..., None]]:
    """Start a stage, give the function that advances it, and finish it however it ends."""
    progress.start(source_id, stage, total, unit)
    try:
        yield progress.advance
    finally:
        progress.finish()
