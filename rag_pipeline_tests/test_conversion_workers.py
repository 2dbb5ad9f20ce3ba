"""Whatever a conversion does, it costs its own document one attempt and nothing else."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_pipeline.errors import FailureCategory
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.workers import ConversionResult, Converter
from rag_pipeline.sources.document import DocumentFacts, RawDocument
from rag_pipeline_tests.converting_faults import misbehave


def document(name: str, url: str = "") -> RawDocument:
    return RawDocument(f"faults/{name}", "faults", name, url, 0, "", "text/plain", DocumentFacts())


def converter(*, workers: int = 2, timeout_seconds: float = 60, memory_mb: int = 400) -> Converter:
    return Converter(
        options=ParsingOptions(),
        workers=workers,
        timeout_seconds=timeout_seconds,
        memory_mb=memory_mb,
        convert=misbehave,
    )


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_every_fault_costs_only_its_own_document() -> None:
    faults = {
        "hang": (FailureCategory.TIMEOUT, False),
        "exit0": (FailureCategory.WORKER_DIED, True),
        "exit3": (FailureCategory.WORKER_DIED, True),
        "sysexit": (FailureCategory.WORKER_DIED, True),
        "killed": (FailureCategory.WORKER_DIED, True),
        "segfault": (FailureCategory.WORKER_DIED, True),
        "grow": (FailureCategory.OUT_OF_MEMORY, True),
        "leap": (FailureCategory.OUT_OF_MEMORY, True),
        "error": (FailureCategory.CONVERSION_FAILED, False),
        "refuse": (FailureCategory.CORRUPT, False),
    }
    names = [name for fault in faults for name in (f"{fault}-x", f"good-after-{fault}")]
    with converter(timeout_seconds=5) as pool:
        results = {result.document.path: result for result in pool.convert_all(map(document, names))}
    assert set(results) == set(names)
    for fault, (category, transient) in faults.items():
        error = results[f"{fault}-x"].error
        assert error is not None, fault
        assert (error.category, error.transient) == (category, transient), (fault, error.message)
        good = results[f"good-after-{fault}"].normalized
        assert good is not None
        assert good.markdown.startswith(f"good-after-{fault}"), fault


def test_documents_are_taken_only_as_workers_become_free() -> None:
    taken = []

    def listing() -> Iterator[RawDocument]:
        for number in range(50):
            taken.append(number)
            yield document(f"good-{number}")

    with converter() as pool:
        results: list[ConversionResult] = []
        for result in pool.convert_all(listing()):
            results.append(result)
            assert len(taken) <= len(results) + 2
    assert sorted(result.document.path for result in results) == sorted(
        f"good-{number}" for number in range(50)
    )


def test_no_process_is_started_for_nothing_and_none_is_left() -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    with converter() as pool:
        assert list(pool.convert_all([])) == []
        assert {child.pid for child in multiprocessing.active_children()} == before
        workers = {_pid(result) for result in pool.convert_all([document("good-1"), document("good-2")])}
        assert all(alive(pid) for pid in workers)
    assert not any(alive(pid) for pid in workers)


def test_leaving_early_ends_what_is_running(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    with converter() as pool:
        for result in pool.convert_all([document("pidfile-x", str(pidfile)), document("good-1")]):
            assert result.normalized
            while not pidfile.exists() or not pidfile.read_text():
                time.sleep(0.02)
            break
    assert not alive(int(pidfile.read_text()))


def test_a_worker_killed_while_idle_is_replaced_unnoticed() -> None:
    with converter(workers=1) as pool:
        first = _pid(next(iter(pool.convert_all([document("good-1")]))))
        os.kill(first, signal.SIGKILL)
        _wait_for(lambda: not Path(f"/proc/{first}").exists())
        (second,) = pool.convert_all([document("good-2")])
        assert second.normalized is not None
        assert _pid(second) != first


def test_workers_are_reused_and_keep_standard_output_clean(capfd: pytest.CaptureFixture[str]) -> None:
    with converter(workers=1) as pool:
        results = list(pool.convert_all([document("print-1"), document("good-1"), document("good-2")]))
    assert len({_pid(result) for result in results}) == 1
    assert capfd.readouterr().out == ""


def test_a_caller_that_takes_long_with_a_result_costs_no_other_document_its_time() -> None:
    with converter(timeout_seconds=3) as pool:
        list(pool.convert_all([document("good-1")]))  # starting the first worker may take long
        results = pool.convert_all([document("good-2"), document("slow-3")])
        assert next(results).document.path == "good-2"
        time.sleep(3.1)
        assert next(results).normalized is not None


PARENT = """
import sys
from rag_pipeline_tests.test_conversion_workers import converter, document
if __name__ == "__main__":
    with converter() as pool:
        list(pool.convert_all([document("pidfile-1", sys.argv[1]), document("pidfile-2", sys.argv[2])]))
"""


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    script, pidfiles = tmp_path / "parent.py", [tmp_path / "one", tmp_path / "two"]
    script.write_text(PARENT)
    project = Path(__file__).parents[1]
    parent = subprocess.Popen(
        [sys.executable, script, *pidfiles], env={**os.environ, "PYTHONPATH": str(project)}, cwd=tmp_path
    )
    try:
        _wait_for(lambda: all(file.exists() and file.read_text() for file in pidfiles))
        workers = [int(file.read_text()) for file in pidfiles]
        assert all(alive(pid) for pid in workers)
    finally:
        parent.kill()
        parent.wait()
    _wait_for(lambda: not any(alive(pid) for pid in workers))


def _wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1500):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come true in 30 s")


def _pid(result: ConversionResult) -> int:
    assert result.normalized is not None
    return int(result.normalized.markdown.split()[-1])
