"""What runs inside a worker process: one document after the other, until the pipe closes."""

import logging
import os
import select
import signal
import threading
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import PurePosixPath

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.memory import limit_data
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.sources.document import RawDocument
from rag_pipeline.sources.listing import read_document

MEBIBYTE = 1024 * 1024


def convert_document(document: RawDocument, options: ParsingOptions) -> NormalizedDocument:
    """Read a listed document's bytes and convert them. Raises DocumentError."""
    return convert(read_document(document), PurePosixPath(document.path).name, options)


def memory_error(memory_mb: int) -> DocumentError:
    """The failure of a document whose conversion needed more memory than allowed."""
    return DocumentError(
        FailureCategory.OUT_OF_MEMORY,
        f"Converting it took more than {memory_mb} MiB of memory. "
        "Split the document, or raise `parsing.limits.memory_mb` in the manifest.",
        transient=True,
    )


def serve(
    connection: Connection,
    convert_one: Callable[[RawDocument, ParsingOptions], NormalizedDocument],
    options: ParsingOptions,
    memory_mb: int,
) -> None:
    """Answer every document that comes through the pipe with a NormalizedDocument or a DocumentError."""
    _die_with_parent(connection)
    _settle_in(memory_mb)
    while True:
        try:
            document = connection.recv()
        except EOFError:
            return
        connection.send(_outcome(convert_one, document, options, memory_mb))


def _die_with_parent(connection: Connection) -> None:
    """End this process as soon as the other end of the pipe is gone, also in the middle of a document.

    The kernel's death signal would not do: the fork server is the parent here, and lives as long as workers.
    """
    pipe = select.poll()
    pipe.register(connection.fileno(), 0)  # a hang-up is reported unasked, and nothing else is

    def watch() -> None:
        pipe.poll()
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _settle_in(memory_mb: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business, which ends its workers
    # The parent watches resident memory; this stops what would grow faster than it looks.
    limit_data(2 * memory_mb * MEBIBYTE)
    os.dup2(2, 1)  # standard output belongs to commands that print JSON there, not to parsers
    logging.getLogger().addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")


def _outcome(
    convert_one: Callable[[RawDocument, ParsingOptions], NormalizedDocument],
    document: RawDocument,
    options: ParsingOptions,
    memory_mb: int,
) -> NormalizedDocument | DocumentError:
    try:
        return convert_one(document, options)
    except DocumentError as error:
        return error
    except MemoryError:
        return memory_error(memory_mb)
    except Exception as error:  # noqa: BLE001 - the worker must answer for its document whatever happened
        return DocumentError(
            FailureCategory.CONVERSION_FAILED, f"The conversion failed ({type(error).__name__}: {error})."
        )
