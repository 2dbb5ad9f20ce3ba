"""How long a request may still take."""

import time
from collections.abc import Callable


class Deadline:
    """The moment at which a request must be over, whatever its steps wait for."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` from now, by a clock that is never put back."""
        self._clock = clock
        self._end = clock() + seconds

    @property
    def remaining(self) -> float:
        """The seconds left; never negative."""
        return max(0.0, self._end - self._clock())
