"""Is it plausible that so many documents were deleted? A broken mount looks like a source without any."""

import logging
from collections.abc import Iterable, Set
from typing import Final

from rag_pipeline.ledger.generations import FED, Generation
from rag_pipeline.ledger.ledger import Ledger

logger = logging.getLogger(__name__)

_FEW: Final = 10
_SMALL_SHARE: Final = 0.1


def withhold(
    ledger: Ledger, generations: Iterable[Generation], *, source_id: str, listed: Set[str], deliberate: bool
) -> frozenset[str]:
    """The documents that are gone from a listing but must stay until a person approves their deletion.

    They are recorded as withheld, so that they can be shown and approved. An approval covers at most what it
    was given for, and no document that has come back since; what else is gone is judged by itself.
    `deliberate` is as in `implausible`.
    """
    recorded = {
        document_id
        for generation in generations
        if generation.state in FED
        for document_id in ledger.documents.ids_of_source(generation.name, source_id)
    }
    before = ledger.withheld.of(source_id)
    approved = set(before.document_ids) - listed if before and before.approved else set[str]()
    gone = recorded - listed - approved
    reason = implausible(listed=len(listed), recorded=len(recorded), gone=len(gone), deliberate=deliberate)
    if reason is None:
        if before and not recorded & approved:
            ledger.withheld.clear(source_id)
        elif before and approved < set(before.document_ids):
            ledger.withheld.record(source_id, approved, listed=before.listed, recorded=before.recorded)
        return frozenset()
    logger.warning("%s: %s; they stay until `rag-pipeline approve %s`", source_id, reason, source_id)
    ledger.withheld.record(source_id, sorted(gone), listed=len(listed), recorded=len(recorded))
    return frozenset(gone)


def implausible(*, listed: int, recorded: int, gone: int, deliberate: bool) -> str | None:
    """Why deletions must wait for a person's approval, or None.

    `gone` of `recorded` documents are missing from a listing of `listed`. `deliberate` says that the source
    itself was withdrawn (its manifest removed or archived), so that an empty listing is no sign by itself.
    """
    if not gone:
        return None
    if not listed and not deliberate:
        return f"the listing is empty, but {recorded:,} documents were indexed"
    if gone > _FEW and gone > recorded * _SMALL_SHARE:
        return f"{gone:,} of {recorded:,} documents are gone"
    return None
