"""Traces on their way to the ledger and back: what is kept of them, how long, and what is erased from them.

Only these parts of a trace may hold words of documents: the texts of its evidence, the drafts and what was
found wrong with them, the claims, the values and sentences of its conflicts, and the think note. `reason` is
a sentence of the workflow's own.
"""

import logging
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import ValidationError

from rag_pipeline.errors import ConfigurationError, LedgerError
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.ledger.traces import Record, TracedEvidence
from rag_pipeline.query.trace import RecordedConflict, Trace

logger = logging.getLogger(__name__)

ERASED: Final = "(erased)"
"""What stands for words that were erased because their document was."""

# What is left of a record that cannot be read, when it is erased: nobody knows which other field holds words.
_WITHOUT_WORDS: Final = (
    "trace_id", "request_id", "session_id", "identity", "started_at", "finished_at", "outcome",
)  # fmt: skip

_LOOK_FOR_OLD_EVERY_S: Final = 3600.0


class TraceRecorder:
    """Stores the traces of a process, and forgets those that are older than `retention`.

    Texts are stored only with `texts` on.
    """

    def __init__(self, ledger: Ledger, *, texts: bool, retention: timedelta) -> None:
        self._ledger = ledger
        self._texts = texts
        self._retention = retention
        self._looked_at: float | None = None

    def record(self, trace: Trace) -> None:
        """Store a trace. About once an hour, old ones are forgotten too."""
        kept = trace if self._texts else without_texts(trace)
        cited = {one for claim in kept.citations for one in claim.evidence_ids}
        self._ledger.traces.record(
            kept.trace_id,
            started_at=kept.started_at,
            outcome=kept.outcome,
            session_id=kept.session_id,
            record=_stored(kept),
            evidence=[
                TracedEvidence(
                    evidence_id=one.evidence_id,
                    document_id=one.document_id,
                    source_id=one.source_id,
                    chunk_id=one.chunk_id,
                    cited=one.evidence_id in cited,
                )
                for one in kept.evidence
            ],
        )
        if kept.generation and kept.evidence:
            self._erase_what_is_gone(kept, kept.generation)
        now = time.monotonic()
        if self._looked_at is None or now - self._looked_at > _LOOK_FOR_OLD_EVERY_S:
            self._looked_at = now
            self._forget_old_quietly()

    def forget_old(self) -> int:
        """Delete the traces that are older than the retention; returns how many."""
        return self._ledger.traces.forget_before(datetime.now(UTC) - self._retention)

    def _forget_old_quietly(self) -> None:
        try:
            self.forget_old()
        except LedgerError as error:
            # The request has its trace; old ones go an hour later, or by `rag-pipeline gc`.
            logger.warning("Traces past their retention could not be forgotten: %s", error)

    def _erase_what_is_gone(self, trace: Trace, generation: str) -> None:
        # A document may be erased while it is answered from, and whoever erases it buries it first and looks
        # for traces later, once. Either they see this one, or this sees that the document is buried.
        used = {one.document_id for one in trace.evidence}
        if gone := self._ledger.documents.deletions_noticed(generation, used):
            self._ledger.traces.rewrite([trace.trace_id], _without_words_of(gone))


def find_trace(ledger: Ledger, some_id: str) -> Trace:
    """The trace of this id, or the one that ranked the evidence of this id.

    Raises ConfigurationError where there is none.
    """
    record = ledger.traces.get(some_id) or ledger.traces.of_evidence(some_id)
    if record is None:
        raise ConfigurationError(
            f"There is no trace or evidence {some_id}. An answer names its trace; its evidence is "
            "<trace id>:S1 and so on. Traces older than RAG_TRACE_RETENTION_DAYS are forgotten."
        )
    return _loaded(record)


def without_texts(trace: Trace) -> Trace:
    """A trace with its ids, hashes and scores, and without texts of documents and answers."""
    return trace.model_copy(
        update={
            "evidence": [one.model_copy(update={"text": None}) for one in trace.evidence],
            "attempts": [one.model_copy(update={"text": None}) for one in trace.attempts],
            "citations": [one.model_copy(update={"claim": None}) for one in trace.citations],
            "conflicts": [_reworded(one, sentence=None) for one in trace.conflicts],
        }
    )


def erase_words(ledger: Ledger, document_id: str) -> int:
    """Erase what stored traces hold of a document's words; returns how many traces held any.

    The ids stay: that an answer rested on the document can still be told.
    """
    return ledger.traces.rewrite(ledger.traces.ids_of_document(document_id), _without_words_of({document_id}))


def traces_with_words(ledger: Ledger, document_id: str) -> int:
    """How many stored traces may hold words of a document."""
    change = _without_words_of({document_id})
    ids = ledger.traces.ids_of_document(document_id)
    return sum(change(record) != record for record in ledger.traces.records(ids))


def _stored(trace: Trace) -> Record:
    return trace.model_dump(mode="json")


def _loaded(record: Record) -> Trace:
    try:
        return Trace.model_validate(record)
    except ValidationError as error:
        raise LedgerError(
            f"The trace {record.get('trace_id')} was written by another version of rag-pipeline, and this "
            f"one cannot read it: {error.error_count()} fields differ."
        ) from None


def _without_words_of(document_ids: Collection[str]) -> Callable[[Record], Record]:
    """Takes the words of documents out of a trace that ranked evidence of them.

    What was drafted and said rests on all of the evidence together, so it goes as a whole. Of a trace that
    another version wrote only what surely holds no words stays.
    """

    def change(record: Record) -> Record:
        try:
            trace = _loaded(record)
        except LedgerError:
            return {name: record[name] for name in _WITHOUT_WORDS if isinstance(record.get(name), str)}
        changed = trace.model_copy(
            update={
                "evidence": [
                    one.model_copy(update={"text": None}) if one.document_id in document_ids else one
                    for one in trace.evidence
                ],
                "attempts": [
                    one.model_copy(update={"text": None, "problems": [ERASED for _ in one.problems]})
                    for one in trace.attempts
                ],
                "citations": [one.model_copy(update={"claim": None}) for one in trace.citations],
                "conflicts": [_reworded(one, sentence=None, shown=ERASED) for one in trace.conflicts],
                "think_note": None if trace.think_note is None else ERASED,
            }
        )
        return _stored(changed)

    return change


def _reworded(conflict: RecordedConflict, **words: str | None) -> RecordedConflict:
    """The conflict with other words in all its positions."""
    return conflict.model_copy(
        update={"positions": [one.model_copy(update=words) for one in conflict.positions]}
    )
