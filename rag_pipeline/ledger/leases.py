"""Leases: one at a time works on a source or on an alias's generations, and the dead hold nothing.

A holder beats its lease every few seconds. The lease is free at once where its holder is known to be gone,
which only its own machine can tell, and otherwise when its heartbeat stands still: it is older than the time
to live, and whoever wants the lease has watched it long enough to know that no clock was merely set.
"""

import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, func, select, update

from rag_pipeline.errors import LeaseHeld, LeaseLost, LedgerError
from rag_pipeline.ledger.database import insert_missing
from rag_pipeline.ledger.tables import leases
from rag_pipeline.processes import in_words, is_gone, this_process

logger = logging.getLogger(__name__)

_TIME_TO_LIVE = 60.0
_LONGEST_BEAT = 5.0
_POLL_SECONDS = 0.25
_FRESH = timedelta(seconds=1)

# The threads of this process that hold a lease, by its token.
_holding: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease as it is recorded; `holder` is a process as `rag_pipeline.processes` writes one down."""

    name: str
    holder: str
    purpose: str
    token: str
    acquired_at: datetime
    beaten_at: datetime

    def __str__(self) -> str:
        since = f"{self.acquired_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return f"{in_words(self.holder)} holds {self.name} since {since} ({self.purpose})"


class Lease:
    """A lease that this process holds."""

    def __init__(self, engine: Engine, held: HeldLease) -> None:
        self._engine = engine
        self._held = held

    def check(self) -> None:
        """Raise LeaseLost where someone else took the lease over; call it before what readers will see.

        It is a heartbeat too: for nearly the time to live that follows, nobody takes the lease over.
        """
        with self._engine.connect() as connection:
            found, now = _found(connection, self._held.name), _now(connection)
        # Looking is cheaper than beating, and changes may come by the hundred.
        fresh = found and found.token == self._held.token and timedelta(0) <= now - found.beaten_at < _FRESH
        if not fresh and not self._beat():
            raise LeaseLost(
                f"Someone else took over {self._held.name} ({self._held.purpose}), since this process had "
                "stood still for too long. What it had finished is kept; run it again."
            )

    def _beat(self) -> bool:
        with self._engine.begin() as connection:
            beat = update(leases).where(self._ours).values(beaten_at=_now(connection))
            return connection.execute(beat).rowcount == 1

    def _beat_until(self, stopped: threading.Event, seconds: float) -> None:
        while not stopped.wait(seconds):
            try:
                if not self._beat():
                    return
            except LedgerError as error:
                # The lease outlasts a few missed beats; the work itself tells if the ledger stays away.
                logger.warning("%s: no heartbeat. %s", self._held.name, error)

    def _release(self) -> None:
        try:
            with self._engine.begin() as connection:
                connection.execute(delete(leases).where(self._ours))
        except LedgerError as error:
            # It must not hide how the work ended; the lease is free once this process is gone.
            logger.warning("%s is not given back. %s", self._held.name, error)

    @property
    def _ours(self) -> ColumnElement[bool]:
        return and_(leases.c.name == self._held.name, leases.c.token == self._held.token)


class _Look(NamedTuple):
    """Who holds a lease now, and whether its heartbeat is too old, or as far in the future."""

    held: HeldLease
    stale: bool


class Leases:
    """Who works on what."""

    def __init__(self, engine: Engine, *, time_to_live: float = _TIME_TO_LIVE) -> None:
        self._engine = engine
        self._time_to_live = time_to_live
        self._beat_seconds = min(_LONGEST_BEAT, time_to_live / 4)

    @contextmanager
    def hold(
        self,
        name: str,
        *,
        purpose: str,
        wait_seconds: float = 0.0,
        on_wait: Callable[[str], None] | None = None,
    ) -> Iterator[Lease]:
        """Hold a lease within the block; others that want it read `purpose`.

        `on_wait` is told who holds it, once for each holder that has to be waited for. Raises LeaseHeld where
        someone still holds it after `wait_seconds`, and at once where the same thread does.
        """
        token = uuid.uuid4().hex
        # Before it is recorded, or another thread could take it for one that was not given back.
        _holding[token] = threading.get_ident()
        try:
            held = self._acquire(name, purpose, token, wait_seconds, on_wait)
        except BaseException:
            del _holding[token]
            raise
        lease = Lease(self._engine, held)
        stopped = threading.Event()
        beating = threading.Thread(
            target=lease._beat_until, args=(stopped, self._beat_seconds), name=f"lease of {name}", daemon=True
        )
        process = os.getpid()
        beating.start()
        try:
            yield lease
        finally:
            # A child that was forked meanwhile holds nothing.
            if os.getpid() == process:
                stopped.set()
                beating.join()
                del _holding[token]
                lease._release()

    def held(self) -> dict[str, HeldLease]:
        """The leases that are held by someone who seems alive, by name."""
        with self._engine.connect() as connection:
            now = _now(connection)
            rows = connection.execute(select(leases).order_by(leases.c.name)).mappings()
            found = [HeldLease(**row) for row in rows]
        return {one.name: one for one in found if not (_is_left(one) or self._is_stale(one, now))}

    def _acquire(
        self,
        name: str,
        purpose: str,
        token: str,
        wait_seconds: float,
        on_wait: Callable[[str], None] | None,
    ) -> HeldLease:
        deadline = time.monotonic() + wait_seconds
        watched: HeldLease | None = None
        watched_since = 0.0
        while True:
            # No clock shows whether a process lives: not after it was set, nor when a computer wakes up.
            unmoved = watched if time.monotonic() - watched_since > 2 * self._beat_seconds else None
            look = self._take(name, purpose, token, unmoved)
            if look is None:  # it was given back this moment
                continue
            held, stale = look
            if held.token == token:
                return held
            if _holding.get(held.token) == threading.get_ident():
                raise LeaseHeld(f"{name} is held already by what asks for it ({held.purpose}).")
            if time.monotonic() >= deadline and not stale:
                raise LeaseHeld(
                    f"{held}, and only one may at a time. Its last sign of life was at "
                    f"{held.beaten_at.astimezone(UTC):%H:%M:%S} UTC. Run this again when that is done; if "
                    "it hangs, end that process."
                )
            if on_wait and (watched is None or watched.token != held.token):
                on_wait(str(held))
            if held != watched:
                watched, watched_since = held, time.monotonic()
            time.sleep(_POLL_SECONDS)

    def _take(self, name: str, purpose: str, token: str, unmoved: HeldLease | None) -> _Look | None:
        """Take a lease if it is free; `unmoved` is its state if it has not changed for long."""
        with self._engine.begin() as connection:
            now = _now(connection)
            ours = HeldLease(name, this_process(), purpose, token, now, now)
            found = _found(connection, name)
            if found is None:
                insert_missing(connection, leases, [asdict(ours)])
                found = _found(connection, name)
            if found is None:
                return None
            stale = self._is_stale(found, now)
            if _is_left(found) or (stale and found == unmoved):
                # Unless someone was faster, or the holder woke up this moment.
                same = and_(
                    leases.c.name == name,
                    leases.c.token == found.token,
                    leases.c.beaten_at == found.beaten_at,
                )
                if connection.execute(update(leases).where(same).values(**asdict(ours))).rowcount:
                    logger.warning("%s: taken over. %s, but stands still or is gone.", name, found)
                    return _Look(ours, stale=False)
            return _Look(found, stale)

    def _is_stale(self, held: HeldLease, now: datetime) -> bool:
        # A heartbeat from the future means that the clock was set back.
        return abs((now - held.beaten_at).total_seconds()) > self._time_to_live


def _is_left(held: HeldLease) -> bool:
    """Whether its holder is dead, or is this process and could not give it back when it was done."""
    return is_gone(held.holder) or (held.holder == this_process() and held.token not in _holding)


def _found(connection: Connection, name: str) -> HeldLease | None:
    row = connection.execute(select(leases).where(leases.c.name == name)).mappings().first()
    return HeldLease(**row) if row else None


def _now(connection: Connection) -> datetime:
    """The time by the one clock that all who share the ledger go by."""
    if connection.dialect.name == "postgresql":
        now: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        return now
    return datetime.now(UTC)
