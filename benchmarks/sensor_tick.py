"""One look at a hundred sources of a thousand files: how long does it take, and does memory stay flat?"""

import gc
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from benchmarks.figures import Figure, at_most, none_of, noted
from rag_pipeline.normalize.memory import resident_bytes
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.sensor_runs import requested, tick

_SOURCES = 100
_FILES = 1_000
_LOOKS = 10
_MOST_SECONDS = 20.0
_MOST_GROWTH = 1.05
_CHANGED = "source_042"


def measure(folder: Path) -> Iterator[Figure]:
    """In this process, bound to one core. Every source was indexed before, as far as the ledger knows."""
    base = KnowledgeBase(folder)
    sources = [f"source_{number:03}" for number in range(_SOURCES)]
    for source in sources:
        base.write(source, {f"part_{n // 100}/page_{n:04}.md": f"# Page {n}\n" for n in range(_FILES)})
        base.manifest(source)
    time.sleep(4)  # until no file is so young that its time proves nothing
    _record_as_indexed(base, sources)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        with dg.instance_for_test(temp_dir=str(folder)) as instance:
            yield none_of("sources that look changed before any has", len(requested(tick(base, instance))))
            base.write(_CHANGED, {"part_3/page_0300.md": "# Page 300, edited\n"})
            times, sizes = [], []
            for _ in range(_LOOKS):
                started = time.perf_counter()
                seen = requested(tick(base, instance))
                times.append(time.perf_counter() - started)
                gc.collect()
                sizes.append(resident_bytes(os.getpid()))
                if seen != [_CHANGED]:
                    raise RuntimeError(f"the sensor saw {seen}")
    finally:
        os.sched_setaffinity(0, cores)
        shutil.rmtree(folder / "files")
    yield noted(f"{_LOOKS} looks", f"{min(times):.1f} to {max(times):.1f} s; {sizes[-1] / 2**20:,.0f} MiB")
    yield at_most(f"the longest look at {_SOURCES} x {_FILES:,} files", max(times), _MOST_SECONDS, " s")
    yield at_most(
        "memory after the last look over that after the first", sizes[-1] / sizes[0], _MOST_GROWTH, " x"
    )


def _record_as_indexed(base: KnowledgeBase, sources: list[str]) -> None:
    """Index one small source, so that there is a generation; record the others without the work."""
    base.manifest("small")
    base.page("small", "one page")
    base.index("small")
    ledger = base.services.ledger
    account = ledger.reconciliations.of_generation(base.collection)["small"].report
    for source in sources:
        base.pipeline.list_documents(source)
        ledger.source_states.settle(source)
        ledger.reconciliations.record(base.collection, source, reconciled=True, report=account, seconds=0.0)
