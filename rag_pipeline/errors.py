"""The errors that people see.

RagPipelineError
├── ConfigurationError      a setting or manifest is wrong; nothing was done (exit code 2)
├── InvalidRequest          a question or its filters cannot be used; nothing was searched
├── DocumentError           one document or chunk failed; becomes a dead letter, the others go on
├── SourceUnavailable       a source's location cannot be listed; the source fails, nothing is deleted
├── EmbeddingUnavailable    the embedding endpoint stayed down after its retries; the source fails
├── ModelUnavailable        the language model did not answer; the request goes on without it
├── LedgerError             the ledger's database failed; the source fails
├── LeaseHeld               someone else works on the same source or generations; nothing was done
├── LeaseLost               someone else took over while this process stood still; it must stop
├── GenerationConflict      a generation is not in the state that a change needs; nothing was changed
├── OutOfStep               a stage was given tables of another listing; the source fails
└── StoreError              Qdrant refused, lost or cannot confirm something; the source fails

Every message says what happened, to which document or setting, and what to do about it.
"""

from enum import StrEnum


class FailureCategory(StrEnum):
    """Why a document or chunk failed. Stored in dead letters, so the values are a contract."""

    BAD_METADATA = "bad_metadata"
    ACCESS_WIDENED = "access_widened"
    UNREADABLE = "unreadable"
    CHANGED_WHILE_READING = "changed_while_reading"
    UNSUPPORTED_TYPE = "unsupported_type"
    WRONG_TYPE = "wrong_type"
    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    EMPTY = "empty"
    GARBLED = "garbled"
    OVER_LIMIT = "over_limit"
    PARTIAL = "partial"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    WORKER_DIED = "worker_died"
    CONVERSION_FAILED = "conversion_failed"
    CHUNKING_FAILED = "chunking_failed"
    EMBEDDING_REFUSED = "embedding_refused"


class RagPipelineError(Exception):
    """Base of every error this package raises on purpose."""


class ConfigurationError(RagPipelineError):
    """A setting, manifest or command argument is wrong; says which and how to fix it."""


class InvalidRequest(RagPipelineError):
    """A question, or what it is narrowed to, cannot be used; says which part and why."""


class DocumentError(RagPipelineError):
    """One document (or chunk of it) cannot be processed.

    `transient` failures are tried again by later runs, a bounded number of times; the others wait until
    the document's content or its limits change, or a person retries them.
    """

    def __init__(self, category: FailureCategory, message: str, *, transient: bool = False) -> None:
        # It may quote a parser or an endpoint, whose words no database need take as they are.
        message = message.encode(errors="backslashreplace").decode().replace("\0", "\\0")
        super().__init__(message)
        self.category = category
        self.message = message
        self.transient = transient

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions with keyword arguments do not survive the trip out of a worker process otherwise.
        return (_rebuild_document_error, (self.category, self.message, self.transient))


def _rebuild_document_error(category: FailureCategory, message: str, transient: bool) -> DocumentError:
    return DocumentError(category, message, transient=transient)


class BadQuestionSet(ConfigurationError):
    """A question set, or the file of its gates, cannot be used as it is written."""


class SourceUnavailable(RagPipelineError):
    """A source's location cannot be listed, so nothing is known about its documents."""


class EmbeddingUnavailable(RagPipelineError):
    """The embedding endpoint did not answer properly within its retries."""


class ModelUnavailable(RagPipelineError):
    """The language model did not answer within the time that was left, or does not serve us."""


class LedgerError(RagPipelineError):
    """The ledger's database refused or lost something."""


class ArtifactsUnavailable(RagPipelineError):
    """What a stage made could not be stored."""


class LeaseHeld(RagPipelineError):
    """Someone else holds what only one may work on at a time."""


class LeaseLost(RagPipelineError):
    """Someone else took a lease over, so whatever was done under it must not go on."""


class GenerationConflict(RagPipelineError):
    """A generation is not in the state that a change expects, so nothing was changed."""


class OutOfStep(RagPipelineError):
    """Tables of different listings cannot be indexed together: ids would stand for other texts."""


class StoreError(RagPipelineError):
    """Qdrant refused or lost something, or could not confirm it."""
