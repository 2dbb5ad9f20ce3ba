"""`python -m benchmarks [NAME…]`: measure what is promised; exit code 1 where a promise is missed."""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import (
    access_change,
    conflicts,
    corpora,
    evaluation,
    memory,
    one_of_many,
    overhead,
    pdf_speed,
    reading,
    refusing,
    retrieve_overhead,
    sensor_tick,
    updates,
    wall,
    xquad,
)
from benchmarks.figures import Figure, Skipped
from benchmarks.material import BENCH_CACHE, PROJECT
from rag_pipeline_tests.qdrant_server import ServerUnavailable

Benchmark = Callable[[Path], Iterator[Figure]]

BENCHMARKS: Mapping[str, Benchmark] = {
    "corpora": corpora.measure,
    "xquad": xquad.measure,
    "refusing": refusing.measure,
    "evaluation": evaluation.measure,
    "retrieve_overhead": retrieve_overhead.measure,
    "wall": wall.measure,
    "overhead": overhead.measure,
    "memory": memory.measure,
    "reading": reading.measure,
    "pdf_speed": pdf_speed.measure,
    "updates": updates.measure,
    "one_of_many": one_of_many.measure,
    "access_change": access_change.measure,
    "sensor_tick": sensor_tick.measure,
    "conflicts": conflicts.measure,
}

ON_REQUEST: Mapping[str, Benchmark] = {
    "handbook_local": corpora.measure_local_model,
    "refusing_hashing": refusing.measure_hashing,
}
"""Run only where named: they take long, or nothing is promised of them."""


def main() -> int:
    """Run the named benchmarks, all but those on request where none is named."""
    known = {**BENCHMARKS, **ON_REQUEST}
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    names = parser.parse_args().names or list(BENCHMARKS)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    _leave_settings_behind()
    BENCH_CACHE.mkdir(parents=True, exist_ok=True)
    _say(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {_machine()}")
    return _run(names, known)


def _run(names: Sequence[str], known: Mapping[str, Benchmark]) -> int:
    missed = 0
    for name in names:
        started = time.monotonic()
        _say(f"\n{name}: {(known[name].__doc__ or '').splitlines()[0]}")
        # Beside the project's caches rather than in /tmp, which may be memory.
        with tempfile.TemporaryDirectory(prefix=f"{name}_", dir=BENCH_CACHE) as folder:
            os.chdir(folder)
            try:
                for figure in known[name](Path(folder)):
                    _say(str(figure))
                    missed += figure.holds is False
            except (Skipped, ServerUnavailable) as reason:
                _say(f"  SKIP  {reason}")
            finally:
                os.chdir(PROJECT)
        _say(f"  took {time.monotonic() - started:.0f} s")
    return 1 if missed else 0


def _leave_settings_behind() -> None:
    """Measure the defaults, not the developer's settings; a `.env` is out of sight in the scratch folder."""
    for name in list(os.environ):
        if (name.startswith("RAG_") and name != "RAG_TEST_DATA") or name == "OPENAI_API_KEY":
            del os.environ[name]
    os.environ["DAGSTER_HOME"] = str(PROJECT)


def _machine() -> str:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"{os.cpu_count()} cores, load {load}, Python {platform.python_version()}, {platform.system()}"


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
