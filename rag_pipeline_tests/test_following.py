"""Sources are followed by what they hold, not by events: whatever was missed, the next look finds it."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from sqlalchemy import update
from typer.testing import CliRunner

from rag_pipeline import rebuilding
from rag_pipeline.cli import app
from rag_pipeline.errors import LeaseLost
from rag_pipeline.following import MOST_ATTEMPTS, Verdict, look_at_source
from rag_pipeline.index.store import open_store
from rag_pipeline.ledger.opening import open_database
from rag_pipeline.ledger.tables import leases
from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.orchestration.checks import FOLLOWED
from rag_pipeline.orchestration.partitions import SOURCES
from rag_pipeline.orchestration.running import QUIET
from rag_pipeline_tests.knowledge_base import PAGE, KnowledgeBase
from rag_pipeline_tests.sensor_runs import requested, run_requested, tick


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path)
    for source in ("refunds", "hr"):
        base.manifest(source)
        base.page(source, f"{source} rules", f"{source} exceptions")
    return base


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield instance


def verdicts(base: KnowledgeBase) -> dict[str, Verdict]:
    return {look.source_id: look.verdict for look in base.pipeline.catalogue.looks(20)}


def index_all(base: KnowledgeBase) -> None:
    for source in base.pipeline.catalogue.manifests().manifests:
        base.index(source)


def test_the_sensor_runs_what_is_new_and_then_nothing(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    first = tick(base, instance)
    assert requested(first) == ["hr", "refunds"]
    assert all(request.run_key is None for request in first.run_requests or ())
    run_requested(base, instance, first)
    second = tick(base, instance)
    assert requested(second) == []
    assert second.skip_reason is not None
    assert "2 of 2 sources unchanged" in str(second.skip_reason.skip_message)


@pytest.mark.parametrize("name", ["index_source", "__ASSET_JOB"])
def test_a_source_with_a_run_in_flight_is_left_alone(
    base: KnowledgeBase, instance: dg.DagsterInstance, name: str
) -> None:
    tick(base, instance)
    job = build_definitions(base.pipeline).resolve_job_def(name)
    instance.create_run_for_job(
        job, status=dg.DagsterRunStatus.STARTED, tags={"dagster/partition": "refunds"}
    )
    assert requested(tick(base, instance)) == ["hr"]


@pytest.mark.parametrize("content", ["source_id: refunds\n", "source_id: [\n"], ids=["named", "unreadable"])
def test_a_broken_manifest_is_said_and_its_source_stays(
    base: KnowledgeBase, instance: dg.DagsterInstance, content: str
) -> None:
    index_all(base)
    tick(base, instance)
    (base.folder / "manifests" / "sources" / "refunds.yaml").write_text(content)
    looked = tick(base, instance)
    assert requested(looked) == []
    assert instance.get_dynamic_partitions(SOURCES) == ["hr", "refunds"]
    assert looked.skip_reason is not None
    assert "refunds.yaml" in str(looked.skip_reason.skip_message)


def _write_old_sidecar(base: KnowledgeBase) -> None:
    """A sidecar whose time is an hour ago, as a copying program leaves it."""
    base.write("refunds", {"refunds rules.md.meta.yaml": "title: Rules\n"})
    an_hour_ago = datetime.now(UTC).timestamp() - 3600
    os.utime(base.folder / "files" / "refunds" / "refunds rules.md.meta.yaml", (an_hour_ago, an_hour_ago))


@pytest.mark.parametrize(
    "change",
    [
        lambda base: base.page("refunds", "a new page"),
        lambda base: base.page("refunds", "refunds rules", sentence="Other words in the same place."),
        lambda base: base.remove("refunds", "refunds rules.md"),
        lambda base: base.manifest("refunds", trust_tier=3),
        lambda base: _write_old_sidecar(base),
    ],
    ids=["added", "edited", "deleted", "manifest", "sidecar"],
)
def test_any_change_is_seen_and_only_there(
    base: KnowledgeBase, change: Callable[[KnowledgeBase], None]
) -> None:
    index_all(base)
    assert verdicts(base) == {"hr": Verdict.UNCHANGED, "refunds": Verdict.UNCHANGED}
    change(base)
    assert verdicts(base) == {"hr": Verdict.UNCHANGED, "refunds": Verdict.CHANGED}
    base.index("refunds")
    assert verdicts(base)["refunds"] is Verdict.UNCHANGED


def test_an_edit_that_is_reverted_is_indexed_again_each_time(base: KnowledgeBase) -> None:
    file = base.folder / "files" / "refunds" / "refunds rules.md"
    index_all(base)
    first = file.read_bytes()
    for content in (first.replace(b"30 days", b"45 days"), first):
        file.write_bytes(content)
        assert verdicts(base)["refunds"] is Verdict.CHANGED
        base.index("refunds")
        texts = [payload["text"] for payload in base.points().values()]
        assert any(("45 days" if b"45" in content else "30 days") in text for text in texts)


def test_an_edit_within_the_same_moment_and_of_the_same_size_is_seen(base: KnowledgeBase) -> None:
    index_all(base)
    state = base.services.ledger.source_states.of("refunds")
    assert state.in_doubt, "the files were written a moment ago, so their times prove nothing"
    file = base.folder / "files" / "refunds" / "refunds rules.md"
    status = file.stat()
    with file.open("r+b") as stream:
        stream.write(b"# Rules, again")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert verdicts(base)["refunds"] is Verdict.CHANGED


def test_a_source_removed_and_added_again_is_built_anew(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    run_requested(base, instance, tick(base, instance))
    manifest = base.folder / "manifests" / "sources" / "refunds.yaml"
    kept = manifest.read_text()
    manifest.unlink()
    gone = tick(base, instance)
    assert requested(gone) == ["refunds"]
    assert run_requested(base, instance, gone), "withdrawing a source is no failure"
    assert {payload["source_id"] for payload in base.points().values()} == {"hr"}
    tick(base, instance)
    assert instance.get_dynamic_partitions(SOURCES) == ["hr"]
    manifest.write_text(kept)
    again = tick(base, instance)
    assert requested(again) == ["refunds"]
    run_requested(base, instance, again)
    assert {payload["source_id"] for payload in base.points().values()} == {"hr", "refunds"}


def test_an_archived_source_is_withdrawn(base: KnowledgeBase) -> None:
    index_all(base)
    base.manifest("refunds", lifecycle="archived")
    assert verdicts(base)["refunds"] is Verdict.CHANGED
    base.index("refunds")
    assert {payload["source_id"] for payload in base.points().values()} == {"hr"}
    assert "refunds" not in verdicts(base)


def test_a_location_that_is_gone_is_said_and_hides_no_other(base: KnowledgeBase) -> None:
    index_all(base)
    shutil.rmtree(base.folder / "files" / "refunds")
    base.page("hr", "one more")
    assert verdicts(base) == {"hr": Verdict.CHANGED, "refunds": Verdict.UNAVAILABLE}


def test_sources_that_hang_are_not_asked_again_and_hide_no_other(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_all(base)
    asked, answer = [], threading.Event()

    def hang(_: MemoryFileSystem, path: str) -> bool:
        asked.append(path)
        assert answer.wait(60)
        return False

    monkeypatch.setattr(MemoryFileSystem, "isdir", hang)
    stuck = {f"a{number}" for number in range(8)}
    for source in stuck:
        base.manifest(source, location={"url": f"memory://{source}"})
    assert {one.verdict for one in base.pipeline.catalogue.looks(1)} == {Verdict.SLOW}
    seen = verdicts(base)
    answer.set()
    assert {source for source, verdict in seen.items() if verdict is Verdict.SLOW} == stuck
    assert seen["hr"] is seen["refunds"] is Verdict.UNCHANGED
    assert len(asked) == len(stuck)


def test_failures_are_tried_again_later_and_given_up_in_the_end(
    base: KnowledgeBase, instance: dg.DagsterInstance
) -> None:
    index_all(base)
    base.page("refunds", "a new page")
    states, manifest = base.services.ledger.source_states, base.pipeline.catalogue.manifest("refunds")

    def look(later: timedelta) -> Verdict:
        return look_at_source(manifest, states.of("refunds"), True, datetime.now(UTC) + later).verdict

    base.pipeline.list_documents("refunds")  # a run that is killed after it has listed
    assert look(timedelta(seconds=1)) is Verdict.BACKING_OFF
    assert look(timedelta(hours=1)) is Verdict.CHANGED
    for _ in range(MOST_ATTEMPTS - 1):
        base.pipeline.list_documents("refunds")
    assert look(timedelta(days=1)) is Verdict.GIVEN_UP
    instance.add_dynamic_partitions(SOURCES, ["refunds", "hr"])
    result = tick(base, instance)
    assert requested(result) == []
    (check,) = result.asset_events or ()
    assert isinstance(check, dg.AssetCheckEvaluation)
    assert (check.check_name, check.partition, check.passed) == (FOLLOWED, "refunds", False)
    assert not tick(base, instance, result.cursor).asset_events, "it is told once"
    base.page("refunds", "yet another page")
    assert verdicts(base)["refunds"] is Verdict.CHANGED


def test_a_run_whose_source_was_taken_over_changes_nothing_more(base: KnowledgeBase) -> None:
    index_all(base)
    before = base.points()
    base.page("refunds", "refunds rules", sentence="Other words.")
    pipeline, engine = base.pipeline, open_database(f"sqlite:///{base.settings.home}/ledger.sqlite")
    with pipeline.holding("refunds"):
        raw = pipeline.list_documents("refunds").table
        chunked = pipeline.chunk("refunds", pipeline.normalize("refunds", raw).table).table
        embedded = pipeline.embed("refunds", chunked).table
        with engine.begin() as connection:
            connection.execute(update(leases).values(token="another", holder="elsewhere 1 1"))
        with pytest.raises(LeaseLost, match="took over source refunds"):
            pipeline.index("refunds", raw, embedded)
        with pytest.raises(LeaseLost):
            pipeline.list_documents("refunds")
    engine.dispose()
    assert base.points() == before


def test_deletions_from_a_collection_that_somebody_dropped_do_not_stay_pending(base: KnowledgeBase) -> None:
    index_all(base)
    previous = base.collection
    rebuilding.reindex(base.pipeline, promote_after=True)
    with open_store(base.services.store) as client:
        client.delete_collection(previous)
    (base.folder / "manifests" / "sources" / "refunds.yaml").unlink()
    base.index("refunds")
    assert verdicts(base) == {"hr": Verdict.UNCHANGED}


class TestImplausibleDeletions:
    @pytest.fixture
    def large(self, base: KnowledgeBase) -> KnowledgeBase:
        base.page("refunds", *(f"page {number:02}" for number in range(18)))
        base.index("refunds")
        return base

    def stored(self, base: KnowledgeBase) -> set[str]:
        return {one["document_id"] for one in base.points().values() if one["source_id"] == "refunds"}

    def test_many_deletions_wait_for_approval_and_additions_do_not(self, large: KnowledgeBase) -> None:
        before = self.stored(large)
        for number in range(11):
            large.remove("refunds", f"page {number:02}.md")
        large.page("refunds", "added")
        report = large.index("refunds")
        assert report.documents.withheld == 11
        assert report.documents.deleted == 0
        assert self.stored(large) == before | {"refunds/added.md"}
        assert large.find("page 03", "support")
        assert verdicts(large)["refunds"] is not Verdict.UNCHANGED
        approved = large.services.ledger.withheld.approve("refunds", "an operator")
        assert len(approved.document_ids) == 11
        assert large.index("refunds").documents.deleted == 11
        assert self.stored(large) == (before | {"refunds/added.md"}) - set(approved.document_ids)
        assert verdicts(large)["refunds"] is Verdict.UNCHANGED

    def test_an_approval_is_asked_for_and_followed_at_once(
        self, large: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RAG_HOME", str(large.settings.home))
        monkeypatch.setenv("RAG_MANIFESTS", str(large.settings.manifests))
        monkeypatch.setenv("RAG_ALIAS", large.settings.alias)
        for number in range(11):
            large.remove("refunds", f"page {number:02}.md")
        for _ in range(MOST_ATTEMPTS):
            large.index("refunds")
        assert verdicts(large)["refunds"] is Verdict.GIVEN_UP
        status = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)
        assert len(status["withheld"]["refunds"]) == 11
        assert "rag-pipeline approve" in CliRunner().invoke(app, ["status"]).output
        large.services.ledger.withheld.approve("refunds", "an operator")
        assert verdicts(large)["refunds"] is Verdict.CHANGED

    def test_an_approval_covers_only_what_was_shown(self, large: KnowledgeBase) -> None:
        for number in range(11):
            large.remove("refunds", f"page {number:02}.md")
        large.index("refunds")
        shown = set(large.services.ledger.withheld.approve("refunds", "an operator").document_ids)
        for file in (large.folder / "files" / "refunds").iterdir():
            file.unlink()
        report = large.index("refunds")
        assert report.documents.deleted == 11
        assert report.documents.withheld == 9
        assert len(self.stored(large)) == 9
        assert not self.stored(large) & shown

    def test_an_empty_listing_deletes_nothing(self, base: KnowledgeBase) -> None:
        base.index("refunds")
        for file in (base.folder / "files" / "refunds").iterdir():
            file.unlink()
        assert base.index("refunds").documents.withheld == 2
        assert len(self.stored(base)) == 2

    def test_what_comes_back_needs_no_approval(self, large: KnowledgeBase) -> None:
        folder = large.folder / "files" / "refunds"
        away = large.folder / "away"
        folder.rename(away)
        folder.mkdir()
        assert large.index("refunds").documents.withheld == 20
        folder.rmdir()
        away.rename(folder)
        report = large.index("refunds")
        assert (report.documents.withheld, report.documents.unchanged, report.embedded) == (0, 20, 0)
        assert large.services.ledger.withheld.of("refunds") is None

    def test_the_run_and_its_check_fail_and_say_what_to_do(
        self, large: KnowledgeBase, instance: dg.DagsterInstance
    ) -> None:
        for number in range(11):
            large.remove("refunds", f"page {number:02}.md")
        instance.add_dynamic_partitions(SOURCES, ["refunds"])
        job = build_definitions(large.pipeline).resolve_job_def("index_source")
        result = job.execute_in_process(
            instance=instance, partition_key="refunds", raise_on_error=False, run_config=QUIET
        )
        assert not result.success
        failed = [one for one in result.get_asset_check_evaluations() if not one.passed]
        assert [one.check_name for one in failed] == ["deletions_plausible"]
        assert "rag-pipeline approve refunds" in str(failed[0].metadata["to_approve"].value)


def test_what_was_made_of_a_deleted_document_is_gone(base: KnowledgeBase) -> None:
    twin = PAGE.format(title="shared", sentence="Shared words.")
    base.write("refunds", {"twin.md": twin, "twin copy.md": twin})
    index_all(base)
    uses, artifacts = base.services.ledger.uses, base.services.artifacts
    own = uses.of_document("refunds/refunds rules.md")
    shared = uses.of_document("refunds/twin.md")
    assert own.keys
    assert own.vectors
    assert shared == uses.of_document("refunds/twin copy.md")
    base.remove("refunds", "refunds rules.md")
    base.remove("refunds", "twin.md")
    base.index("refunds")
    assert not any(artifacts.exists(key) for key in own.keys)
    assert all(artifacts.exists(key) for key in shared.keys)
    for model, text in own.vectors - shared.vectors:
        assert not base.services.ledger.vectors.get(model, [text])
    for model, text in shared.vectors:
        assert base.services.ledger.vectors.get(model, [text])
