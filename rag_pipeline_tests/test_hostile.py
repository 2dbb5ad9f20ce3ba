"""A source of broken, encrypted, oversized and poisoned files: each meets what is expected of it.

Nothing is unpacked or opened here; the stage that indexing uses converts all of them in its worker processes.
"""

import csv
import json
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from upath import UPath

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.errors import FailureCategory
from rag_pipeline.normalize.detecting import detect_type
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.stage import NormalizedResult, normalize_source
from rag_pipeline.sources.listing import list_source
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline_tests.made_once import copy_of_made_once

SKIPPED_EMPTY = {FailureCategory.EMPTY}
NEEDS_PASSWORD = {FailureCategory.ENCRYPTED}
STOPPED_BY_LIMIT = {FailureCategory.OVER_LIMIT, FailureCategory.TIMEOUT, FailureCategory.OUT_OF_MEMORY}


@dataclass(frozen=True)
class Row:
    """What is expected of a file, and what became of it."""

    file: str
    expect: frozenset[str]
    must_contain: str
    must_not_contain: str
    result: NormalizedResult
    document: NormalizedDocument | None

    @property
    def outcome(self) -> set[str]:
        """Every expectation that the result meets: what stopped at a limit failed in order, too."""
        error = self.result.error
        if error is None:
            return {"ingest", "ingest_warn"} if self.result.warnings else {"ingest"}
        if error.category in SKIPPED_EMPTY:
            return {"skip_empty"}
        if error.category in NEEDS_PASSWORD:
            return {"needs_password"}
        met = set() if error.transient else {"fail_clean"}
        return met | {"limit"} if error.category in STOPPED_BY_LIMIT else met

    def faults(self) -> Iterator[str]:
        """What is not as it should be, in words."""
        if not self.outcome & self.expect:
            error = self.result.error
            got = f"{error.category.value}: {error.message}" if error else "ingested without a warning"
            yield f"expected {' or '.join(sorted(self.expect))}; got {got}"
        text = self.document.markdown if self.document else ""
        if self.document and self.must_contain and self.must_contain not in text:
            yield f"the text lacks {self.must_contain!r}"
        if self.must_not_contain and self.must_not_contain in text:
            yield f"the text holds {self.must_not_contain!r}"


def manifest(folder: Path) -> Manifest:
    return Manifest.model_validate(
        {
            "source_id": "hostile", "title": "Hostile files", "system": "files", "owner": "ops",
            "source_type": "other", "trust_tier": 5, "lifecycle": "active", "audience": ["nobody"],
            "environments": ["test"], "access_rules": {"require_auth": True},
            "location": {"url": str(folder), "include": ["*/**"]},
            "parsing": {"limits": {"timeout_seconds": 60, "memory_mb": 3000}},
        }
    )  # fmt: skip


def normalized(
    source: Manifest,
    artifacts: ArtifactStore,
    *,
    paths: set[str] | None = None,
    passwords: tuple[str, ...] = (),
) -> dict[str, NormalizedResult]:
    listing = list_source(source, detect=detect_type)
    assert not listing.failures
    results = normalize_source(
        [one for one in listing.documents if paths is None or one.path in paths],
        manifest=source,
        passwords=passwords,
        workers=2,
        artifacts=artifacts,
        known_failure=lambda _: None,
        advance=lambda: None,
    )
    return {result.document.path: result for result in results}


@pytest.fixture(scope="module")
def folder(data_root: Path) -> Path:
    return data_root / "hostile"


@pytest.fixture(scope="module")
def expectations(folder: Path) -> list[dict[str, str]]:
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def converted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files converted: the artifacts, what became of each file, and what still ran afterwards."""

    def convert(into: Path) -> None:
        running_before = _descendants(os.getpid()).keys()  # a Qdrant server perhaps, of other tests
        results = normalized(manifest(folder), ArtifactStore(UPath(into / "artifacts")))
        begun = [one for pid, one in _descendants(os.getpid()).items() if pid not in running_before]
        (into / "results").write_bytes(pickle.dumps(results))
        (into / "left").write_text(json.dumps([one.command for one in begun if not one.may_stay]))

    return copy_of_made_once(tmp_path_factory, "hostile", convert)


@pytest.fixture(scope="module")
def rows(converted: Path, expectations: list[dict[str, str]]) -> list[Row]:
    artifacts = ArtifactStore(UPath(converted / "artifacts"))
    kept = (converted / "results").read_bytes()
    results: dict[str, NormalizedResult] = pickle.loads(kept)  # noqa: S301 - written by this test run
    assert set(results) == {expected["file"] for expected in expectations}
    rows = []
    for expected in expectations:
        result = results[expected["file"]]
        stored = artifacts.read(result.artifact_key) if result.artifact_key else None
        rows.append(
            Row(
                file=expected["file"],
                expect=frozenset(expected["expect"].split("|")),
                must_contain=expected["must_contain"],
                must_not_contain=expected["must_not_contain"],
                result=result,
                document=NormalizedDocument.from_json(stored) if stored else None,
            )
        )
    return rows


def test_every_file_meets_its_expectation(rows: list[Row]) -> None:
    faults = [f"{row.file}: {fault}" for row in rows for fault in row.faults()]
    assert not faults, "\n" + "\n".join(faults)


def test_every_failure_says_what_to_do(rows: list[Row]) -> None:
    for row in rows:
        if row.result.error:
            message = row.result.error.message
            assert message.endswith("."), (row.file, message)
            assert len(message.split()) > 3, (row.file, message)


def test_nothing_that_was_read_holds_what_no_store_takes(rows: list[Row]) -> None:
    for row in rows:
        if row.document:
            text = row.document.markdown
            text.encode("utf-8")
            assert not set(text) & set("\0\r\x1b\u202e\u200b\ufeff"), row.file


def test_nothing_outlives_the_run(converted: Path) -> None:
    assert json.loads((converted / "left").read_text()) == []


def test_the_right_password_opens_what_needs_one(
    folder: Path, expectations: list[dict[str, str]], tmp_path: Path
) -> None:
    given = {row["file"]: row["password"] for row in expectations if row["password"]}
    results = normalized(
        manifest(folder), ArtifactStore(UPath(tmp_path)), paths=set(given), passwords=tuple(given.values())
    )
    assert set(results) == set(given)
    assert {path: result.error for path, result in results.items() if result.error} == {}


def test_a_wrong_password_is_said_and_not_shown(folder: Path, tmp_path: Path) -> None:
    path = "encrypted/libreoffice-writer-password.pdf"
    results = normalized(
        manifest(folder), ArtifactStore(UPath(tmp_path)), paths={path}, passwords=("not-this-one",)
    )
    error = results[path].error
    assert error is not None
    assert error.category is FailureCategory.ENCRYPTED
    assert "none of the 1 given passwords" in error.message
    assert "not-this-one" not in error.message


@dataclass(frozen=True)
class Process:
    """A process below this one."""

    parent: int
    command: str

    @property
    def may_stay(self) -> bool:
        """Whether it is multiprocessing's own: it holds no document, and ends with this process.

        A converter has the command line of the fork server that it was forked from, and that one for parent.
        """
        of_multiprocessing = "forkserver" in self.command or "resource_tracker" in self.command
        return of_multiprocessing and self.parent == os.getpid()


def _descendants(pid: int) -> dict[int, Process]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    commands = {one: _command(one) for one in found[1:]}
    # One without a command line has ended meanwhile.
    return {one: Process(parents[one], command) for one, command in commands.items() if command}


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
