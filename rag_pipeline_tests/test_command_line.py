"""`rag-pipeline` as its users run it: its output and exit codes, and what a killed one leaves."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.ledger.dead_letters import Failure
from rag_pipeline_tests.command_runs import COMMAND, Finished, Run, commands_of, environment
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.openai_server import OpenAIServer, error_reply

SECRET = "s3cr3t-key-of-this-test"


@pytest.fixture
def run(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Runs a command in this process, as `rag-pipeline` itself would; imports are paid once."""
    with commands_of(base, monkeypatch, capsys, OPENAI_API_KEY=SECRET) as run_command:
        yield run_command


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path)
    base.manifest("refunds")
    base.page("refunds", "refunds", "postage")
    return base


def sources(result: Finished) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(result.stdout)["sources"]
    return found


def test_index_tells_its_outcome_as_one_object_and_by_its_exit_code(base: KnowledgeBase, run: Run) -> None:
    first = run("index", "--json")
    assert first.returncode == 0, first.stderr
    value = json.loads(first.stdout)
    assert value["reconciled"] is True
    assert value["generation"].startswith("knowledge__")
    refunds = value["sources"]["refunds"]
    assert set(refunds["documents"]) == {
        "seen", "added", "changed", "unchanged", "deleted", "withheld", "failed",
    }  # fmt: skip
    assert set(refunds["chunks"]) == {
        "expected", "written", "reused", "failed", "stored", "missing", "orphaned", "duplicated",
    }  # fmt: skip
    assert refunds["embedded"] == refunds["chunks"]["written"] > 0
    assert refunds["seconds"] > 0

    base.write("refunds", {"empty.md": b""})
    base.manifest("broken", trust_tier=9)
    again = run("index", "--json")
    assert again.returncode == 1, "a broken manifest is a failed source"
    assert "trust_tier" in sources(again)["broken"]["error"]
    assert sources(again)["refunds"]["reconciled"] is True, "and stops no other"
    assert sources(again)["refunds"]["chunks"]["written"] == 0

    assert run("index", "refunds").returncode == 0, "dead letters are reported"
    assert run("index", "refunds", "--strict").returncode == 1, "and fail with --strict"


def test_dead_letters_are_listed_and_retried(base: KnowledgeBase, run: Run) -> None:
    base.write("refunds", {"empty.md": b""})
    assert run("index").returncode == 0
    (letter,) = json.loads(run("dead-letters", "--json").stdout)
    assert letter["document_id"] == "refunds/empty.md"
    assert (letter["stage"], letter["category"], letter["attempts"]) == ("normalize", "empty", 1)
    retried = run("dead-letters", "retry", letter["id"])
    assert retried.returncode == 0, retried.stderr
    (letter,) = json.loads(run("dead-letters", "--json").stdout)
    assert letter["attempts"] == 1, "it was tried anew and failed again"
    assert run("dead-letters", "retry", "nosuchletter").returncode == 2


def test_retrieve_prints_passages_under_the_callers_access(base: KnowledgeBase, run: Run) -> None:
    assert run("index").returncode == 0
    question = "Within how many days does hardware go back?"
    smalltalk = "when are we having dinner tonight?"
    found = run("retrieve", "-q", question, "-q", smalltalk, "--groups", "support", "--limit", "2", "--json")
    answered, unknown = json.loads(found.stdout)["knowledge_base_retrieval"]
    assert (answered["query"], answered["message"]) == (question, None)
    first = answered["chunks"][0]
    assert first.keys() == {"text", "title", "section_path", "source_title", "relevance"}
    assert "30 days" in first["text"]
    assert first["source_title"] == "Refunds"
    assert 0.5 <= first["relevance"] == round(first["relevance"], 2) <= 1
    assert unknown["query"] == smalltalk
    assert (unknown["chunks"], "nothing useful" in unknown["message"]) == ([], True)
    for groups in ([], ["--groups", ""], ["--groups", "hr"]):
        (nothing,) = json.loads(run("retrieve", "-q", "硬件几天内可退？", *groups, "--json").stdout)[
            "knowledge_base_retrieval"
        ]
        assert (nothing["chunks"], "知识库" in nothing["message"]) == ([], True)


@pytest.mark.parametrize(
    ("words", "extra", "told"),
    [
        (["index", "nosuchsource"], {}, "nosuchsource"),
        (["index"], {"RAG_WORKERS": "none"}, "RAG_WORKERS"),
        (["index"], {"RAG_MANIFESTS": "nowhere"}, "nowhere"),
        (["index"], {"DAGSTER_HOME": "/"}, "dagster.yaml"),
        (["index"], {"RAG_LEDGER_URL": f"nodb://user:{SECRET}@host/x"}, "ledger"),
        (["index"], {"RAG_QDRANT_URL": f"http://me:{SECRET}@localhost:1"}, "RAG_QDRANT_URL"),
        (["index"], {"RAG_EMBEDDING_PROVIDER": "openai", "OPENAI_API_KEY": ""}, "OPENAI_API_KEY"),
        (["retrieve", "-q", "x", "--groups", "support"], {}, "rag-pipeline index"),
    ],
)
def test_bad_configuration_is_told_in_a_sentence(
    run: Run, words: list[str], extra: dict[str, str], told: str
) -> None:
    result = run(*words, **extra)
    assert result.returncode == 2, result.stderr
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stdout + result.stderr


def test_dead_letters_of_a_source_without_manifest_are_dropped(base: KnowledgeBase, run: Run) -> None:
    base.services.ledger.dead_letters.record(
        "gone", "normalize", [Failure("gone/a.md", "key", DocumentError(FailureCategory.EMPTY, "no text"))]
    )
    result = run("dead-letters", "retry", "--all")
    assert result.returncode == 0
    assert "gone has no manifest" in result.stderr
    assert json.loads(run("dead-letters", "--json").stdout) == []


def test_a_misspelt_setting_is_named(run: Run) -> None:
    result = run("manifests", "check", RAG_QDRANT_URI="http://localhost:6333")
    assert "RAG_QDRANT_URI is not a setting; did you mean RAG_QDRANT_URL?" in result.stderr


@pytest.mark.long
def test_an_interrupt_stops_all_sources(tmp_path: Path, base: KnowledgeBase) -> None:
    base.manifest("second")
    base.page("second", *(f"page {number}" for number in range(30)))
    base.page("refunds", *(f"page {number}" for number in range(30)))
    with subprocess.Popen(
        [*COMMAND, "index"],
        env=os.environ | environment(base, OPENAI_API_KEY=SECRET),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert any("embedding:" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130, rest
    assert "Interrupted. What was finished is kept" in rest
    assert "second:" not in rest, "no other source is begun"


def test_settings_are_listed_without_secrets(base: KnowledgeBase, run: Run) -> None:
    result = run("settings", RAG_QDRANT_API_KEY=SECRET)
    assert "RAG_QDRANT_API_KEY=(set)" in result.stdout
    assert f"RAG_ALIAS={base.settings.alias}" in result.stdout
    assert SECRET not in result.stdout + result.stderr


def test_no_secret_is_stored_or_shown(base: KnowledgeBase, run: Run) -> None:
    base.page("refunds", "odd", sentence="Unspeakable.")
    with OpenAIServer(dimensions=16).running() as server:
        server.script = lambda request: (
            error_reply(400, "not allowed") if any("Unspeakable" in text for text in request.texts) else None
        )
        endpoint = {
            "RAG_EMBEDDING_PROVIDER": "openai",
            "RAG_EMBEDDING_BASE_URL": server.base_url,
            "RAG_EMBEDDING_MODEL": "test",
            "RAG_EMBEDDING_DIMENSIONS": "16",
            "RAG_EMBEDDING_MAX_TOKENS": "8192",
        }
        result = run("index", **endpoint)
        assert result.returncode == 0, result.stderr
        assert all(request.headers["authorization"] == f"Bearer {SECRET}" for request in server.requests)
        letters = run("dead-letters", "--json", **endpoint)
    assert SECRET not in result.stdout + result.stderr + letters.stdout
    files = [file for file in base.settings.home.rglob("*") if file.is_file()]
    assert files
    for file in files:
        assert SECRET.encode() not in file.read_bytes(), file


def test_files_are_normalized_and_chunked_outside_any_source(
    base: KnowledgeBase, run: Run, tmp_path: Path
) -> None:
    page = base.folder / "files/refunds/postage.md"
    empty = tmp_path / "nothing.txt"
    empty.write_bytes(b"")
    result = run("normalize", str(page), str(empty), "--out", "out")
    assert result.returncode == 1
    assert "nothing.txt: empty" in result.stderr
    assert (tmp_path / "out/postage.md.md").read_text().startswith("# postage")
    chunks = json.loads(run("chunks", str(page), "--json").stdout)
    assert "".join(chunk["text"] for chunk in chunks).startswith("# postage")
    assert chunks[0]["section_path"] == ["postage", "Rule"]


def test_manifests_are_checked_and_described(base: KnowledgeBase, run: Run) -> None:
    assert run("manifests", "check").returncode == 0
    base.manifest("broken", trust_tier=9, colour="red")
    result = run("manifests", "check")
    assert result.returncode == 2
    assert "broken.yaml: trust_tier" in result.stderr
    assert "colour" in result.stderr
    schema = json.loads(run("manifests", "schema").stdout)
    assert "trust_tier" in schema["required"]


@pytest.mark.long
def test_a_killed_run_is_completed_by_the_next_one(base: KnowledgeBase, run: Run) -> None:
    pages = ["refunds", "postage", *(f"rule {number}" for number in range(20))]
    base.page("refunds", *pages)
    base.index("refunds")
    old = {payload["document_id"]: payload["content_hash"] for payload in base.points().values()}
    base.page("refunds", *pages, sentence="Hardware goes back within 45 days.")
    with subprocess.Popen(
        [*COMMAND, "index"],
        env=os.environ | environment(base, OPENAI_API_KEY=SECRET),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        # The last line before the first point is written: it is killed somewhere within the writing.
        assert any("embedding:" in line for line in process.stderr)
        process.kill()
    current = base.services.ledger.documents.of_source(base.collection, "refunds")
    stored: dict[tuple[str, str], int] = {}
    for payload in base.points().values():
        if payload["published"]:
            version = (payload["document_id"], payload["content_hash"])
            stored[version] = stored.get(version, 0) + 1
    for document in old:
        readable = (document, current[document].content_hash)
        assert stored[readable] == current[document].chunk_count, "the version readers follow is whole"

    result = run("index", "--json")
    assert result.returncode == 0, result.stderr
    assert sources(result)["refunds"]["reconciled"] is True
    assert sources(result)["refunds"]["embedded"] == 0, "nothing is repeated"
    points = base.points().values()
    assert all(payload["published"] for payload in points)
    assert {payload["content_hash"] for payload in points}.isdisjoint(old.values())
