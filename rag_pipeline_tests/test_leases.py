"""One at a time works on a source; whoever dies, stands still or is cut off holds up nobody for long."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from rag_pipeline.errors import LeaseHeld, LeaseLost
from rag_pipeline.ledger.leases import Leases
from rag_pipeline.ledger.opening import open_database
from rag_pipeline.ledger.tables import leases as table
from rag_pipeline.processes import this_process

PROJECT = Path(__file__).parents[1]

# Holds a lease until its standard input ends, with a child of its own that outlives it.
HOLDER = """
import os, sys
from rag_pipeline.ledger.opening import open_database
from rag_pipeline.ledger.leases import Leases
leases = Leases(open_database(sys.argv[1]), time_to_live=float(sys.argv[2]))
with leases.hold("handbook", purpose="indexing it"):
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "30"])
    print("holding", flush=True)
    sys.stdin.read()
"""

# Adds one to a number in a file, slowly, a few times; two at once would lose a count.
COUNTER = """
import sys, time
from pathlib import Path
from rag_pipeline.ledger.opening import open_database
from rag_pipeline.ledger.leases import Leases
leases, file = Leases(open_database(sys.argv[1])), Path(sys.argv[2])
for _ in range(5):
    with leases.hold("handbook", purpose="counting", wait_seconds=60):
        before = int(file.read_text())
        time.sleep(0.05)
        file.write_text(str(before + 1))
"""


# What the holder's process decides, and the database does not.
on_sqlite = pytest.mark.parametrize("ledger_url", ["sqlite"], indirect=True)


@pytest.fixture
def engine(ledger_url: str) -> Iterator[Engine]:
    opened = open_database(ledger_url)
    yield opened
    opened.dispose()


@pytest.fixture
def leases(engine: Engine) -> Leases:
    return Leases(engine)


@contextmanager
def holder(url: str, time_to_live: float = 60.0) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lease; its whole group is killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, url, str(time_to_live)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "holding\n"
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def rewrite(engine: Engine, **values: object) -> None:
    with engine.begin() as connection:
        connection.execute(update(table).values(**values))


def test_a_lease_is_held_by_one_and_given_back(leases: Leases) -> None:
    with leases.hold("handbook", purpose="indexing it") as lease:
        lease.check()
        held = leases.held()["handbook"]
        assert (held.holder, held.purpose) == (this_process(), "indexing it")
        with leases.hold("runbooks", purpose="indexing them"):
            assert leases.held().keys() == {"handbook", "runbooks"}
    assert leases.held() == {}
    with leases.hold("handbook", purpose="again"):
        pass


def test_it_is_given_back_after_an_error_too(leases: Leases) -> None:
    with pytest.raises(ZeroDivisionError), leases.hold("handbook", purpose="failing"):
        _ = 1 / 0
    assert leases.held() == {}


@on_sqlite
def test_who_holds_it_since_when_and_what_for_is_said(ledger_url: str, leases: Leases) -> None:
    with holder(ledger_url) as process:
        told: list[str] = []
        with (
            pytest.raises(LeaseHeld) as refused,
            leases.hold("handbook", purpose="mine", wait_seconds=0.6, on_wait=told.append),
        ):
            pass
    who = rf"process {process.pid} on \S+ holds handbook since \S+ \S+ UTC \(indexing it\)"
    assert re.match(who, str(refused.value))
    assert "end that process" in str(refused.value)
    assert len(told) == 1
    assert re.fullmatch(who, told[0])


@on_sqlite
def test_without_time_to_wait_it_is_refused_at_once(ledger_url: str, leases: Leases) -> None:
    told: list[str] = []
    with (
        holder(ledger_url),
        pytest.raises(LeaseHeld),
        leases.hold("handbook", purpose="mine", on_wait=told.append),
    ):
        pass
    assert told == []


@on_sqlite
@pytest.mark.parametrize("reaped", [True, False], ids=["gone", "a zombie"])
def test_the_lease_of_a_killed_process_is_free_at_once(ledger_url: str, leases: Leases, reaped: bool) -> None:
    with holder(ledger_url) as process:
        process.kill()
        if reaped:
            process.wait()
        else:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert leases.held() == {}
        with leases.hold("handbook", purpose="mine"):
            assert leases.held()["handbook"].purpose == "mine"


@on_sqlite
def test_who_waits_gets_it_when_the_holder_is_killed(ledger_url: str, leases: Leases) -> None:
    with holder(ledger_url) as process:
        begin = time.monotonic()
        with leases.hold(
            "handbook", purpose="mine", wait_seconds=60, on_wait=lambda holder: process.kill()
        ) as lease:
            lease.check()
            assert time.monotonic() - begin < 30, "it did not wait for the time to live"


@on_sqlite
def test_who_waits_gets_it_when_the_holder_is_done(ledger_url: str, leases: Leases) -> None:
    with holder(ledger_url) as process:
        assert process.stdin is not None
        stdin = process.stdin
        with leases.hold("handbook", purpose="mine", wait_seconds=60, on_wait=lambda holder: stdin.close()):
            pass


def test_of_many_at_once_one_works_at_a_time(ledger_url: str, tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    counted.write_text("0")
    open_database(ledger_url).dispose()
    counters = [
        subprocess.Popen([sys.executable, "-c", COUNTER, ledger_url, str(counted)], cwd=PROJECT)
        for _ in range(3)
    ]
    assert [counter.wait() for counter in counters] == [0, 0, 0]
    assert counted.read_text() == "15"


def test_of_two_that_find_a_dead_holder_one_wins(ledger_url: str, engine: Engine) -> None:
    with holder(ledger_url) as process:
        process.kill()
        process.wait()
        start = threading.Barrier(4)
        ended: list[str] = []
        done = threading.Event()

        def contend() -> None:
            start.wait()
            try:
                with Leases(engine).hold("handbook", purpose="mine") as lease:
                    done.wait()
                    lease.check()
                    ended.append("held")
            except LeaseHeld:
                ended.append("refused")
                if len(ended) == 3:
                    done.set()

        contenders = [threading.Thread(target=contend) for _ in range(4)]
        for one in contenders:
            one.start()
        for one in contenders:
            one.join()
    assert sorted(ended) == ["held", "refused", "refused", "refused"]


def test_what_holds_a_lease_does_not_wait_for_itself(leases: Leases) -> None:
    with (
        leases.hold("handbook", purpose="indexing it"),
        pytest.raises(LeaseHeld, match="held already by what asks for it"),
        leases.hold("handbook", purpose="once more", wait_seconds=3600),
    ):
        pass


def test_a_process_that_stood_still_loses_its_lease_and_learns_it(ledger_url: str, engine: Engine) -> None:
    with ExitStack() as stack:
        stopped = stack.enter_context(holder(ledger_url, time_to_live=1.0))
        os.kill(stopped.pid, signal.SIGSTOP)
        with Leases(engine, time_to_live=1.0).hold("handbook", purpose="mine", wait_seconds=60) as lease:
            os.kill(stopped.pid, signal.SIGCONT)
            assert stopped.stdin is not None
            stopped.stdin.close()
            assert stopped.wait() == 0
            lease.check()
        assert Leases(engine).held() == {}


def test_whoever_lost_a_lease_is_stopped_at_the_next_check(leases: Leases, engine: Engine) -> None:
    with leases.hold("handbook", purpose="indexing it") as lease:
        rewrite(engine, token="another", holder="elsewhere 1 1")
        with pytest.raises(LeaseLost, match=r"took over handbook \(indexing it\)"):
            lease.check()
    assert leases.held()["handbook"].token == "another", "the other's lease is left alone"


@on_sqlite
def test_a_living_holder_keeps_its_lease_beyond_the_time_to_live(ledger_url: str, engine: Engine) -> None:
    short = Leases(engine, time_to_live=1.0)
    with (
        holder(ledger_url, time_to_live=1.0),
        pytest.raises(LeaseHeld),
        short.hold("handbook", purpose="mine", wait_seconds=3.0),
    ):
        pass


@pytest.mark.parametrize("hours", [-1, 1], ids=["set forward", "set back"])
def test_a_clock_that_was_set_takes_no_lease_from_a_living_holder(
    ledger_url: str, engine: Engine, hours: int
) -> None:
    with holder(ledger_url, time_to_live=1.0):
        rewrite(engine, beaten_at=datetime.now(UTC) + timedelta(hours=hours))
        with pytest.raises(LeaseHeld), Leases(engine, time_to_live=1.0).hold("handbook", purpose="mine"):
            pass


@pytest.mark.parametrize("hours", [-1, 1], ids=["from the past", "from the future"])
def test_a_holder_on_another_machine_is_given_up_when_its_heartbeat_stands_still(
    engine: Engine, hours: int
) -> None:
    leases = Leases(engine, time_to_live=1.0)
    seen: list[datetime] = []
    with leases.hold("handbook", purpose="copied"), engine.begin() as connection:
        row = dict(connection.execute(select(table)).mappings().one())
    row |= {"holder": "elsewhere 1 1", "beaten_at": datetime.now(UTC) + timedelta(hours=hours)}
    with engine.begin() as connection:
        connection.execute(table.insert(), [row])
    assert leases.held() == {}
    with leases.hold("handbook", purpose="mine", on_wait=lambda holder: seen.append(datetime.now(UTC))):
        assert leases.held()["handbook"].purpose == "mine"
    assert len(seen) == 1, "it was watched first"


@on_sqlite
def test_a_forked_child_neither_holds_nor_gives_back_what_its_parent_holds(leases: Leases) -> None:
    context = leases.hold("handbook", purpose="indexing it")
    with context as lease:
        child = os.fork()
        if child == 0:
            try:
                context.__exit__(None, None, None)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        lease.check()
        assert leases.held().keys() == {"handbook"}
