"""How long a request may still take."""

import time
from collections.abc import Callable

from rag_pipeline.errors import StoreError


class Deadline:
    """The moment at which a request must be over, whatever its steps wait for."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` from now, by a clock that is never put back."""
        self._clock = clock
        self._end = clock() + seconds

    def check(self) -> None:
        """Raise StoreError where the time is over: what the store would still be asked for came too late."""
        if not self.remaining:
            raise StoreError("The store did not answer everything within the request's time.")

    @property
    def remaining(self) -> float:
        """The seconds left; never negative."""
        return max(0.0, self._end - self._clock())
