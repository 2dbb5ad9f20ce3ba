"""Ending a piece of work at one of the instants that the code names, in this process.

Quicker than killing a process, so that a property test can do it thousands of times. What else a kill leaves
behind, leases and locks, the crash matrix looks at.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rag_pipeline import fault_points


class Interrupted(BaseException):
    """The work ends here. Like a kill, nothing that handles errors handles it."""


@contextmanager
def _burning(instants: int) -> Iterator[None]:
    left = instants

    def pass_instant(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Interrupted

    fault_points.install(pass_instant)
    try:
        yield
    finally:
        fault_points.install(lambda _: None)


def interrupted(act: Callable[[], object], after: int) -> bool:
    """Do something that ends after so many instants; whether it did, rather than come to its own end first.

    0 lets it come to its end.
    """
    with _burning(after):
        try:
            act()
        except Interrupted:
            return True
    return False
