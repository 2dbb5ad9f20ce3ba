"""The Dagster UI as a person uses it: `rag-pipeline ui`, and Chromium clicking through its pages."""

from itertools import pairwise
from pathlib import Path

import pytest

from rag_pipeline.evaluation.gates import FIXED, Gates
from rag_pipeline_tests.dagster_ui import (
    Browser,
    BrowserUnavailable,
    DagsterServer,
    Page,
    find_browser,
    open_browser,
    running_ui,
    wait_for,
)
from rag_pipeline_tests.evaluated import write_set
from rag_pipeline_tests.knowledge_base import KnowledgeBase

CHECKS = {
    "counts_match", "dead_letters", "deletions_plausible", "no_duplicates", "no_missing", "no_orphans",
    "payload_types", "source_followed", "stale_sources", "vector_sizes",
}  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Browser:
    try:
        return find_browser()
    except BrowserUnavailable as error:
        pytest.skip(str(error))


def launched(server: DagsterServer, before: list[str]) -> str:
    return wait_for("a new run", lambda: next((run for run in server.runs() if run not in before), None))


def check_results(page: Page) -> dict[str, str]:
    return {
        name: result
        for name, result in pairwise(page.text().splitlines())
        if name in CHECKS and result in ("Succeeded", "Failed")
    }


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_source_is_materialized_and_checked_and_its_report_read(browser: Browser, tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    base.manifest("refunds")
    base.page("refunds", "rules", "exceptions")
    base.write("refunds", {"empty.md": b""})
    case = {"id": "back", "category": "answerable", "question": "Within how many days does hardware go back?",
            "groups": ["support"], "expect": "answered", "values": ["30 days"]}  # fmt: skip
    write_set(base, [case], Gates())
    with (
        running_ui(tmp_path / "home", tmp_path / "manifests", tmp_path / "ui.log") as server,
        open_browser(browser, server, tmp_path / "profile") as page,
    ):
        # A source is followed from the moment that its manifest is there; a person's own runs come on top.
        followed = launched(server, before=[])
        assert page.run_ends(followed) == "SUCCESS"
        assert server.partitions() == ["refunds"]
        page.open("/assets/normalized_documents?view=partitions&partition=refunds", "preview")
        shown = [row[:2] for row in page.rows()]
        for row in (["dagster/row_count", "3"], ["refunds/rules.md", "rules"], ["refunds/empty.md", "empty"]):
            assert row in shown

        page.open("/asset-groups", "qdrant_collection", "reconciliation_report")
        page.click("Materialize all…")
        page.click("Select a partition or create one", kind="div")
        page.click("refunds", kind="span")
        page.click("Launch runs to materialize 7 assets", kind="div")
        page.click("Launch 1 run")
        run = launched(server, before=[followed])
        assert page.run_ends(run) == "SUCCESS"

        page.open("/assets/qdrant_collection?view=checks", f"Checks ({len(CHECKS)})", *CHECKS)
        outcome = dict.fromkeys(CHECKS, "Succeeded") | {"dead_letters": "Failed"}
        wait_for("the checks' results", lambda: check_results(page) == outcome)
        page.click("Execute all")
        assert page.run_ends(launched(server, before=[run, followed])) == "SUCCESS"
        page.open("/assets/qdrant_collection?view=checks", f"Checks ({len(CHECKS)})", *CHECKS)
        wait_for("the checks' results", lambda: check_results(page) == outcome)

        # The report follows: of the second run, which found everything in place but the empty page.
        documents = ["refunds", "yes", "3", "0", "0", "2", "0", "0", "1"]
        chunks = ["refunds", "yes", "4", "0", "4", "0", "4", "0", "0", "0"]
        page.open("/assets/reconciliation_report", "Reconciliation", "chunks_stored")
        report = [documents, chunks]
        wait_for("the report", lambda: report == [row for row in page.rows() if "refunds" in row])

        page.open("/assets/evaluation_report", "gates hold", "by_category", "metrics")
        page.open("/assets/evaluation_report?view=checks", f"Checks ({len(FIXED) + 1})", *FIXED)
