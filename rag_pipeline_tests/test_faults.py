"""Whatever fails midway is said clearly, leaves no half-written document, and the next run puts it right."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import update

from rag_pipeline import fault_points, rebuilding
from rag_pipeline.errors import DocumentError, EmbeddingUnavailable, FailureCategory, LedgerError, StoreError
from rag_pipeline.following import Verdict, look_at_source
from rag_pipeline.index.store import StoreLocation
from rag_pipeline.ledger.dead_letters import Failure
from rag_pipeline.ledger.opening import open_database
from rag_pipeline.ledger.tables import generations
from rag_pipeline_tests.faulty_proxy import Fault, FaultyProxy
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.openai_server import OpenAIServer, Reply, error_reply

NIGHTLY = settings().max_examples > 100
PROJECT = Path(__file__).parents[1]
QUESTION = "Within how many days does hardware go back?"

Found = dict[str, tuple[set[str], int]]


def found(base: KnowledgeBase) -> Found:
    """By document: the versions that a reader finds, and how many chunks."""
    documents: Found = {}
    for chunk in base.find(QUESTION, "support", limit=500):
        versions, count = documents.get(chunk.document_id, (set(), 0))
        documents[chunk.document_id] = versions | {chunk.content_hash}, count + 1
    return documents


def assert_whole(base: KnowledgeBase, old: Found) -> None:
    now = found(base)
    assert old.keys() - {"rules/deleted.md"} <= now.keys()
    for document_id, (versions, count) in now.items():
        assert len(versions) == 1
        assert count == base.chunk_count(document_id)


def change(base: KnowledgeBase) -> None:
    base.page("rules", "replaced", "added", sentence="Hardware goes back within 45 days.")
    (base.folder / "files" / "rules" / "deleted.md").unlink(missing_ok=True)


def assert_repaired(base: KnowledgeBase) -> None:
    assert not base.services.ledger.leases.held()
    state = base.services.ledger.source_states.of("rules")
    assert state.signature != state.listed_signature or state.attempts, "not recorded as indexed"
    assert base.index("rules").reconciled
    assert found(base).keys() == {"rules/kept.md", "rules/replaced.md", "rules/added.md"}
    assert "45 days" in " ".join(one["text"] for one in base.points().values())


def write_first(base: KnowledgeBase) -> Found:
    base.manifest("rules")
    base.page("rules", "kept", "replaced", "deleted")
    base.index("rules")
    return found(base)


@contextmanager
def at_instant(instant: str, act: Callable[[], object]) -> Iterator[None]:
    """Do something when the work first passes an instant."""
    waiting = [instant]

    def hook(passed: str) -> None:
        if passed in waiting:
            waiting.remove(passed)
            act()

    fault_points.install(hook)
    try:
        yield
    finally:
        fault_points.install(lambda passed: None)
    assert not waiting, f"nothing passed {instant}"


@pytest.mark.server
@pytest.mark.parametrize("store_location", ["server"], indirect=True)
class TestStore:
    @pytest.fixture
    def proxy(self, store_location: StoreLocation) -> Iterator[FaultyProxy]:
        with FaultyProxy(store_location.grpc_port).running() as proxy:
            yield proxy

    @pytest.fixture
    def base(
        self, tmp_path: Path, store_location: StoreLocation, alias: str, proxy: FaultyProxy
    ) -> KnowledgeBase:
        behind = StoreLocation(tmp_path, url=store_location.url, grpc_port=proxy.port)
        return KnowledgeBase(tmp_path, behind, alias, qdrant_timeout_s=2, lock_wait_s=1)

    @pytest.mark.parametrize(
        ("fault", "instant", "reason"),
        [
            (Fault.DOWN, "embedded", "UNAVAILABLE"),
            (Fault.DOWN, "versions recorded", "UNAVAILABLE"),
            (Fault.BAD_GATEWAY, "points written", "UNAVAILABLE"),
            (Fault.SILENT, "points confirmed", "DEADLINE_EXCEEDED"),
        ],
    )
    def test_a_server_that_fails(
        self, base: KnowledgeBase, proxy: FaultyProxy, fault: Fault, instant: str, reason: str
    ) -> None:
        old = write_first(base)
        change(base)
        with (
            at_instant(instant, lambda: proxy.fail(fault)),
            pytest.raises(StoreError, match=f"(?s){reason}.*run again") as failed,
        ):
            base.index("rules")
        assert "\n" not in str(failed.value)
        proxy.fail(Fault.NONE)
        assert_whole(base, old)
        assert_repaired(base)

    def test_a_connection_that_is_cut_in_a_request(self, base: KnowledgeBase, proxy: FaultyProxy) -> None:
        old = write_first(base)
        for sent in (500, 2_500, 6_000):
            change(base)
            base.page("rules", "replaced", sentence=f"Hardware goes back within 45 days and {sent} hours.")
            with (
                at_instant("embedded", partial(proxy.fail, Fault.DOWN, after_bytes=sent)),
                pytest.raises(StoreError),
            ):
                base.index("rules")
            proxy.fail(Fault.NONE)
            assert_whole(base, old)
        assert_repaired(base)

    def test_a_swap_that_fails_is_not_recorded(self, base: KnowledgeBase, proxy: FaultyProxy) -> None:
        write_first(base)
        first = base.collection
        with at_instant("generation ready", lambda: proxy.fail(Fault.DOWN)), pytest.raises(StoreError):
            rebuilding.reindex(base.pipeline, promote_after=True)
        proxy.fail(Fault.NONE)
        assert base.collection == first
        assert found(base)
        assert rebuilding.promote(base.services).name == base.collection != first


class TestEndpoint:
    @pytest.fixture
    def server(self) -> Iterator[OpenAIServer]:
        with OpenAIServer(dimensions=16).running() as server:
            yield server

    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (lambda s, n: error_reply(429, "slow down", {"retry-after": "86400"}), "slow down"),
            (lambda s, n: error_reply(500, "oops"), "oops"),
            (lambda s, n: Reply(200, b"<html>not an API</html>"), "bad answer"),
            (lambda s, n: s.reply_with([[0.25] * 16] * (n - 1)), "bad answer"),
            (lambda s, n: s.reply_with([[0.25] * 15] * n), "bad answer"),
            (lambda s, n: s.reply_with([[float("nan")] * 16] * n), "bad answer"),
        ],
        ids=["429", "500", "garbage", "too few", "wrong size", "NaN"],
    )
    def test_an_endpoint_that_fails(
        self,
        tmp_path: Path,
        server: OpenAIServer,
        reply: Callable[[OpenAIServer, int], Reply],
        reason: str,
    ) -> None:
        base = KnowledgeBase(
            tmp_path,
            embedding_provider="openai",
            embedding_base_url=server.base_url,
            embedding_model="test",
            embedding_dimensions=16,
            embedding_max_tokens=8192,
            embedding_max_retries=0,
        )
        old, before = write_first(base), base.points()
        change(base)
        server.script = lambda request: reply(server, len(request.texts))
        with pytest.raises(EmbeddingUnavailable, match=reason):
            base.index("rules")
        server.script = lambda request: None
        assert_whole(base, old)
        assert base.points() == before
        assert base.services.ledger.dead_letters.listed() == []
        assert_repaired(base)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare to mount a small disk with")
def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    mounting = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*mounting, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    # Not by -m: workers would then import it too, each anew.
    program = [sys.executable, "-c", "from rag_pipeline_tests.full_disk import main; main()", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run([*mounting, *program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert len(answer["messages"]) == 5
    assert all("run again" in message for message in answer["messages"]), answer["messages"]
    assert any("embedded store" in message for message in answer["messages"])
    assert any("ledger" in message for message in answer["messages"])
    assert (answer["reconciled"], answer["documents"], answer["leases"]) == (True, 25, 0)


class TestLockedLedger:
    def test_a_ledger_that_is_locked_for_a_while_is_waited_for(self, tmp_path: Path) -> None:
        base = KnowledgeBase(tmp_path)
        write_first(base)
        change(base)
        with closing(sqlite3.connect(base.settings.home / "ledger.sqlite", check_same_thread=False)) as other:

            def lock() -> None:
                other.execute("BEGIN IMMEDIATE")
                threading.Timer(1.0, other.rollback).start()

            with at_instant("points published", lock):
                assert base.index("rules").reconciled

    @pytest.mark.skipif(not NIGHTLY, reason="it takes a minute until the ledger gives up; runs nightly")
    def test_a_ledger_that_stays_locked_is_told(self, tmp_path: Path) -> None:
        base = KnowledgeBase(tmp_path)
        old = write_first(base)
        change(base)
        with closing(sqlite3.connect(base.settings.home / "ledger.sqlite", check_same_thread=False)) as other:
            with (
                at_instant("points published", lambda: other.execute("BEGIN IMMEDIATE")),
                pytest.raises(LedgerError, match="locked"),
            ):
                base.index("rules")
            other.rollback()
        assert_whole(base, old)
        assert_repaired(base)


class TestClockSetBack:
    def test_attempts_do_not_wait_for_a_time_that_is_far(self, tmp_path: Path) -> None:
        base = KnowledgeBase(tmp_path)
        write_first(base)
        change(base)
        base.pipeline.list_documents("rules")  # a run that is killed after it has listed
        state, manifest = (
            base.services.ledger.source_states.of("rules"),
            base.pipeline.catalogue.manifest("rules"),
        )
        now = datetime.now(UTC)
        assert look_at_source(manifest, state, True, now).verdict is Verdict.BACKING_OFF
        assert look_at_source(manifest, state, True, now - timedelta(days=1)).verdict is Verdict.CHANGED

    def test_failures_do_not_wait_for_a_time_that_is_far(self, tmp_path: Path) -> None:
        letters = KnowledgeBase(tmp_path).services.ledger.dead_letters
        passing = DocumentError(FailureCategory.TIMEOUT, "too slow", transient=True)
        for_good = DocumentError(FailureCategory.CORRUPT, "damaged")
        letters.record("rules", "normalize", [Failure("rules/a.md", "key", passing)])
        letters.record("broken", "normalize", [Failure("broken/a.md", "key", for_good)])
        assert letters.due(datetime.now(UTC)) == []
        assert letters.due(datetime.now(UTC) - timedelta(days=365)) == ["rules"]

    def test_a_file_from_the_future_is_read_again(self, tmp_path: Path) -> None:
        base = KnowledgeBase(tmp_path)
        write_first(base)
        file = base.folder / "files" / "rules" / "kept.md"
        ahead = datetime.now(UTC).timestamp() + 86_400
        os.utime(file, (ahead, ahead))
        base.index("rules")
        file.write_bytes(file.read_bytes().replace(b"30", b"31"))
        os.utime(file, (ahead, ahead))
        verdicts = {look.source_id: look.verdict for look in base.pipeline.catalogue.looks(20)}
        assert verdicts == {"rules": Verdict.CHANGED}
        assert base.index("rules").documents.changed == 1

    def test_the_way_back_is_the_last_live_generation_whatever_the_clock_said(self, tmp_path: Path) -> None:
        base = KnowledgeBase(tmp_path)
        write_first(base)
        rebuilding.reindex(base.pipeline, promote_after=True)
        engine = open_database(f"sqlite:///{base.settings.home}/ledger.sqlite")
        with engine.begin() as connection:
            ahead = update(generations).where(generations.c.name == base.collection)
            connection.execute(ahead.values(promoted_at=datetime.now(UTC) + timedelta(days=1)))
        engine.dispose()
        second = base.collection
        rebuilding.reindex(base.pipeline, promote_after=True)
        third = base.collection
        rebuilding.reindex(base.pipeline, promote_after=True)
        assert second in rebuilding.collect_garbage(base.services)
        assert rebuilding.rollback(base.services).name == third
