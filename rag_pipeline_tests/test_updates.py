"""A real corpus follows its history: every step through the sensor and the runs that it asks for."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline_tests.auditing import Content, Listener, audit, wanted
from rag_pipeline_tests.histories import STEPS, History
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.sensor_runs import requested, run_requested, tick

SOURCE = "handbook"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield instance


@pytest.mark.long
def test_after_every_step_everything_is_as_the_files_say(
    tmp_path: Path, data_root: Path, instance: dg.DagsterInstance
) -> None:
    # Some of these pages are added, edited, renamed and deleted.
    history = History(data_root / "updates" / "handbook_18f", below="pages/tools/")
    base = KnowledgeBase(tmp_path)
    base.manifest(SOURCE)
    files = tmp_path / "files" / SOURCE
    listener = Listener(base.services.embedder)
    base.services.embedder = listener
    before = Content()
    # All steps of two corpora are for `make bench`.
    for step in STEPS[:3]:
        changed = history.apply(step, files)
        listener.heard.clear()
        looked = tick(base, instance)
        assert requested(looked) == ([SOURCE] if changed else [])
        assert run_requested(base, instance, looked)
        now = wanted(base, SOURCE)
        assert now.documents == {f"{SOURCE}/{path}" for path in history.state(step)}
        found = audit(base, SOURCE, before=before, now=now, embedded=listener.heard, group="support")
        assert not any(found.faults.values()), (step, found)
        assert requested(tick(base, instance)) == []
        before = now
