"""How long a request may still take."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from rag_pipeline.errors import StoreError

_Result = TypeVar("_Result")


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


def within(seconds: float, call: Callable[[], _Result]) -> _Result:
    """What a call returns or raises, and TimeoutError where that takes longer.

    For libraries whose own timeouts start anew with every byte: the call is then left to itself, in a thread
    that does not keep the process from ending.
    """
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the result is awaited
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="bounded call").start()
    return future.result(seconds)
