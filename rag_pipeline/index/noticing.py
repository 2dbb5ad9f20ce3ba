"""What a listing says is true for readers at once, long before its documents are converted and embedded."""

from collections.abc import Mapping, Sequence, Set

from rag_pipeline.fault_points import passing
from rag_pipeline.ledger.documents import Documents
from rag_pipeline.ledger.generations import Generation


def notice_listing(
    documents: Documents,
    generation: Generation,
    *,
    source_id: str,
    tenant: str | None,
    readers: Mapping[str, Sequence[str] | None],
    source_readers: Sequence[str],
    withheld: Set[str],
) -> None:
    """Let no reader see what is gone from the source, nor what its listing no longer lets them see.

    `readers` holds, by id, the groups that may see each listed document now, None where it could not be read:
    then those that could before and that `source_readers`, the source's own groups, still has. So it is with
    the `withheld` documents, which are gone but not deleted yet. A document that moves to another `tenant` is
    seen by nobody until its points have moved. Without a `tenant` the source has no manifest, and what is
    withheld stays as it is.
    """
    recorded = documents.of_source(generation.name, source_id)
    documents.bury(generation.name, source_id, sorted(recorded.keys() - readers.keys() - withheld))
    passing("deletions noticed")
    restricted: dict[str, Sequence[str]] = {}
    governed = readers.keys() | (withheld if tenant is not None else ())
    for document_id in recorded.keys() & governed:
        before = recorded[document_id]
        groups = readers.get(document_id)
        if before.facts["tenant"] != tenant:
            groups = ()
        elif groups is None:
            groups = [group for group in before.readers if group in source_readers]
        if tuple(groups) != before.readers:
            restricted[document_id] = groups
    documents.restrict(generation.name, restricted)
    passing("access narrowed")
