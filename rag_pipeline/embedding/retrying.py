"""Trying again what failed for the moment: when, how often, and for how long at most."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Transient:
    """A failure that may pass.

    `retry_after` is how many seconds the other side asks to wait. `bad_answer` marks an answer that came but
    is nonsense: such a failure often lasts, so it is tried again fewer times.
    """

    reason: str
    retry_after: float | None = None
    bad_answer: bool = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to try. No wait is begun that would end after `total_seconds`."""

    max_retries: int = 6
    bad_answer_retries: int = 2
    base_seconds: float = 0.5
    cap_seconds: float = 30.0
    total_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The last failure of a call that was tried `tries` times within `seconds`."""

    last: Transient
    tries: int
    seconds: float

    def __str__(self) -> str:
        times = f"{self.tries} {'try' if self.tries == 1 else 'tries'} in {self.seconds:.0f} s"
        asked = f", asked to wait {self.last.retry_after:.0f} s" if self.last.retry_after else ""
        return f"{self.last.reason} ({times}{asked})"


def wait_seconds(policy: RetryPolicy, failures: int, retry_after: float | None, fraction: float) -> float:
    """How long to wait after the `failures`th failure (from 1); `fraction`, in [0, 1), is the jitter.

    Exponential backoff with full jitter. Where the other side says how long, never less than that, and a
    little more, so that callers who were told the same do not come back at the same moment.
    """
    if retry_after is not None:
        return retry_after + fraction * policy.base_seconds
    # The exponent is capped only to keep the power from overflowing.
    return fraction * min(policy.cap_seconds, policy.base_seconds * 2.0 ** min(failures - 1, 60))


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """What `retry-after-ms` or `retry-after` (seconds, or an HTTP date) ask for; None if nothing usable.

    `headers` must look names up without regard to case, or hold them in lower case; `now` is Unix time.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds > 0 else None
    try:
        wait = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return wait if wait > 0 else None


def retry(
    attempt: Callable[[], T | Transient],
    policy: RetryPolicy,
    *,
    sleep: Callable[[float], object],
    clock: Callable[[], float],
    fraction: Callable[[], float],
) -> T | GaveUp:
    """Call `attempt` until it returns something that is not Transient, within the policy."""
    started = clock()
    failures = bad_answers = 0
    while True:
        result = attempt()
        if not isinstance(result, Transient):
            return result
        failures += 1
        bad_answers += result.bad_answer
        elapsed = clock() - started
        wait = wait_seconds(policy, failures, result.retry_after, fraction())
        if (
            failures > policy.max_retries
            or bad_answers > policy.bad_answer_retries
            or elapsed + wait > policy.total_seconds
        ):
            return GaveUp(result, failures, elapsed)
        sleep(wait)
