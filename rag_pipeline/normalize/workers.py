"""Conversions in worker processes, so that a hang, crash or memory bomb costs one document one attempt.

The pool is the project's own, since general ones were found wanting, pebble 5.2 among them: there a worker
that leaves with exit code 0 keeps its task waiting for the whole time limit, one that is killed while idle
breaks the pool, and nothing measures memory. Here every worker has its own pipe and at most one document,
so it is always known which document a death belongs to; and the parent measures memory, which native code
that holds the worker's interpreter cannot prevent.

Workers are forked from multiprocessing's fork server, ready to convert. Where the first document needs
docling, the server imports it once (about 2 s), and every later worker of this process has it at once. The
server itself is idle, holds no document, and ends with this process.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Final, Self

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.memory import resident_bytes
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.text_formats import TEXT_TYPES
from rag_pipeline.normalize.worker_process import MEBIBYTE, convert_document, memory_error, serve
from rag_pipeline.sources.document import RawDocument

ConvertDocument = Callable[[RawDocument, ParsingOptions], NormalizedDocument]

# How often deadlines and memory are looked at while documents are being converted.
_LOOK_SECONDS: Final = 0.1
# Parsers leak; a fresh worker costs some milliseconds.
_DOCUMENTS_PER_WORKER: Final = 200
_WORKER: Final = "rag_pipeline.normalize.worker_process"
_PRELOADED: Final = "rag_pipeline.normalize.preloaded"


@dataclass(frozen=True, slots=True)
class ConversionResult:
    """What became of one document: exactly one of `normalized` and `error` is set. `seconds` is wall time."""

    document: RawDocument
    normalized: NormalizedDocument | None
    error: DocumentError | None
    seconds: float


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    document: RawDocument | None = None
    started: float = 0.0
    converted: int = 0

    def result(self, outcome: NormalizedDocument | DocumentError) -> ConversionResult:
        assert self.document is not None  # noqa: S101 - only busy workers have results
        seconds = time.monotonic() - self.started
        if isinstance(outcome, DocumentError):
            return ConversionResult(self.document, None, outcome, seconds)
        return ConversionResult(self.document, outcome, None, seconds)


class Converter:
    """Converts documents in up to `workers` processes. Use as a context manager; leaving it ends all of them.

    `timeout_seconds` and `memory_mb` (resident memory of a worker) hold for each document. `convert` must be
    importable by name. No process is started before there is something to convert.
    """

    def __init__(
        self,
        *,
        options: ParsingOptions,
        workers: int,
        timeout_seconds: float,
        memory_mb: int,
        convert: ConvertDocument = convert_document,
    ) -> None:
        self._options = options
        self._limit = workers
        self._timeout = timeout_seconds
        self._memory_mb = memory_mb
        self._convert = convert
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in list(self._workers):
            self._end(worker)

    def convert_all(self, documents: Iterable[RawDocument]) -> Iterator[ConversionResult]:
        """Convert documents as they come, yielding results as they are done, in any order.

        Takes the next document only when a worker is free, so that no more are held than there are workers.
        """
        waiting = iter(documents)
        try:
            while True:
                while len(self._busy()) < self._limit and (document := next(waiting, None)):
                    self._hand_out(document)
                if not self._busy():
                    return
                yield from self._results()
        finally:
            for worker in self._busy():  # only where the caller stopped early
                self._end(worker)

    def _busy(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.document]

    def _hand_out(self, document: RawDocument) -> None:
        for worker in [worker for worker in self._workers if worker.document is None]:
            if worker.process.is_alive() and self._send(worker, document):
                return
            self._end(worker)  # it died while idle, which is no document's fault
        self._send(self._start(document), document)

    def _send(self, worker: _Worker, document: RawDocument) -> bool:
        worker.document, worker.started = document, time.monotonic()
        try:
            worker.connection.send(document)
        except OSError:
            return False
        return True

    def _start(self, document: RawDocument) -> _Worker:
        context = multiprocessing.get_context("forkserver")
        preload = [_WORKER] if document.mime_type in TEXT_TYPES else [_WORKER, _PRELOADED]
        context.set_forkserver_preload(preload)  # heeded by a server that is not running yet
        ours, theirs = context.Pipe()
        process = context.Process(
            target=serve,
            args=(theirs, self._convert, self._options, self._memory_mb),
            name="rag-pipeline-converter",
            daemon=True,
        )
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _results(self) -> Iterator[ConversionResult]:
        """The results that come within a moment, and the failures of documents that went over a limit."""
        busy = self._busy()
        wait([worker.connection for worker in busy], _LOOK_SECONDS)
        for worker in busy:
            # Asked anew, since the caller may take long with a result, and others are done meanwhile.
            if worker.connection.poll():
                yield self._answer(worker)
            elif time.monotonic() - worker.started > self._timeout:
                yield self._fail(worker, _timeout_error(self._timeout))
            elif resident_bytes(worker.process.pid) > self._memory_mb * MEBIBYTE:
                yield self._fail(worker, memory_error(self._memory_mb))

    def _answer(self, worker: _Worker) -> ConversionResult:
        try:
            outcome: NormalizedDocument | DocumentError = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join(1.0)
            return self._fail(worker, _death_error(worker.process.exitcode))
        result = worker.result(outcome)
        worker.document = None
        worker.converted += 1
        out_of_memory = result.error and result.error.category is FailureCategory.OUT_OF_MEMORY
        if out_of_memory or worker.converted >= _DOCUMENTS_PER_WORKER:
            self._end(worker)
        return result

    def _fail(self, worker: _Worker, error: DocumentError) -> ConversionResult:
        self._end(worker)
        return worker.result(error)

    def _end(self, worker: _Worker) -> None:
        # At once: a worker has nothing to put in order, and one that hangs in native code heeds no request.
        worker.process.kill()
        worker.process.join()
        worker.process.close()
        worker.connection.close()
        self._workers.remove(worker)


def _timeout_error(seconds: float) -> DocumentError:
    return DocumentError(
        FailureCategory.TIMEOUT,
        f"Converting it took longer than {seconds:g} s. "
        "Split the document, or raise `parsing.limits.timeout_seconds` in the manifest.",
    )


def _death_error(exitcode: int | None) -> DocumentError:
    how = (
        f"was killed by signal {-exitcode}"
        if exitcode and exitcode < 0
        else f"ended with exit code {exitcode}"
    )
    return DocumentError(
        FailureCategory.WORKER_DIED,
        f"The process that converted it {how}. It is tried again by the next runs; if it keeps "
        "failing, the document crashes its parser: save it anew in the program that wrote it.",
        transient=True,
    )
