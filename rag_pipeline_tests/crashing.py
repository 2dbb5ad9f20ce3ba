"""Work on a knowledge base in a process of its own, which is killed at an instant of the test's choice.

Each piece of work runs in a fork of a server that has imported everything and has no threads, so that a kill
costs a fraction of a second.
"""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from typing import IO, Any

from rag_pipeline import fault_points, rebuilding
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.knowledge_base import KnowledgeBase

PROJECT = Path(__file__).parents[1]
SERVE = "from rag_pipeline_tests.crashing import serve; serve()"

WORKS: dict[str, Callable[[KnowledgeBase], object]] = {
    "index": lambda base: base.pipeline.run("rules"),
    "reindex": lambda base: rebuilding.reindex(base.pipeline, promote_after=True),
    "rollback": lambda base: rebuilding.rollback(base.services),
    "collect garbage": lambda base: rebuilding.collect_garbage(base.services),
}


@dataclass(frozen=True)
class Ended:
    """The instants that a piece of work passed, and whether it was killed at the last of them."""

    passed: list[str]
    killed: bool


class Crasher:
    """Has work done by others, and killed."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        self._requests = requests
        self._answers = answers

    def run(self, base: KnowledgeBase, work: str, kill_at: int | None = None) -> Ended:
        """Do some work, killed at its so manyth instant, from 0; None lets it end."""
        settings = base.settings
        request = {
            "folder": str(base.folder),
            "url": settings.qdrant_url,
            "grpc_port": settings.qdrant_grpc_port,
            "alias": settings.alias,
            "work": work,
            "kill_at": kill_at,
        }
        print(json.dumps(request), file=self._requests, flush=True)
        answer = json.loads(self._answers.readline())
        assert answer["code"] in (0, -signal.SIGKILL), f"{work} failed; see the output of the test"
        return Ended(answer["passed"], killed=answer["code"] != 0)


@contextmanager
def running_crasher(folder: Path) -> Iterator[Crasher]:
    """A server that does work until the block ends; it sees no settings but those it is given."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAG_")}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Crasher(process.stdin, process.stdout)
        process.stdin.close()


def serve() -> None:
    """Answer one request a line, until there are no more."""
    context = multiprocessing.get_context("forkserver")
    # Conversions are done by forks of the same server.
    context.set_forkserver_preload([__name__, "rag_pipeline.normalize.worker_process", "alembic.command"])
    for line in sys.stdin:
        with tempfile.NamedTemporaryFile("r", suffix=".passed") as passed:
            process = context.Process(target=_work, args=(json.loads(line), passed.name))
            process.start()
            process.join()
            answer = {"code": process.exitcode, "passed": passed.read().splitlines()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _share_fork_server() -> None:
    """Let conversions be forked from the server that forked this process, since a new one takes a second.

    Its address is known here; newer versions keep its key from its children.
    """
    if sys.version_info < (3, 14):
        forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign]


def _work(request: dict[str, Any], passed: str) -> None:
    _share_fork_server()
    log = os.open(passed, os.O_WRONLY | os.O_APPEND)
    left = request["kill_at"]

    def hook(instant: str) -> None:
        nonlocal left
        os.write(log, f"{instant}\n".encode())
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if left is not None:
            left -= 1

    url = request["url"]
    store = StoreLocation(Path("unused"), url=url, grpc_port=request["grpc_port"]) if url else None
    base = KnowledgeBase(Path(request["folder"]), store, request["alias"])
    fault_points.install(hook)
    WORKS[request["work"]](base)
