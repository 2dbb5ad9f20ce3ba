"""Conversions that go wrong in every way a parser can, importable by name as workers need them."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.sources.document import RawDocument


def misbehave(document: RawDocument, options: ParsingOptions) -> NormalizedDocument:
    """Do what the document's name says; anything unknown converts to its name and the worker's process id."""
    fault = document.path.partition("-")[0]
    if fault == "hang":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        time.sleep(600)
    elif fault == "exit0":
        os._exit(0)
    elif fault == "exit3":
        os._exit(3)
    elif fault == "sysexit":
        sys.exit(4)
    elif fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif fault == "segfault":
        ctypes.string_at(0)
    elif fault == "grow":
        _grow()
    elif fault == "leap":
        bytearray(8 * 1024**3)
    elif fault == "error":
        raise ValueError("the parser met something odd")
    elif fault == "refuse":
        raise DocumentError(FailureCategory.CORRUPT, "It is damaged. Upload it again.")
    elif fault == "slow":
        time.sleep(0.5)
    elif fault == "print":
        print("noise of a parser")  # noqa: T201
    elif fault == "pidfile":
        Path(document.url).write_text(str(os.getpid()))
        time.sleep(600)
    return NormalizedDocument(f"{document.path} {os.getpid()}", ())


def _grow() -> None:
    held = []
    while True:
        held.append(b"x" * 8_000_000)
        time.sleep(0.002)
