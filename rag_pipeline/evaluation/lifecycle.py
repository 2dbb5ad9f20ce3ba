"""Lifecycle cases: a document is updated, deleted or taken from its readers, on a scratch collection.

Everything happens to copies: see `scratch`. What is checked is what readers get, and by id what is left.
"""

import logging
from collections.abc import Callable, Iterator, Sequence

from qdrant_client import models

from rag_pipeline.errors import BadQuestionSet, RagPipelineError
from rag_pipeline.evaluation.case import Action, LifecycleCase
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.quotes import holds_quote
from rag_pipeline.evaluation.result import LifecycleResult
from rag_pipeline.evaluation.scratch import Scratch, scratch_of, sweep
from rag_pipeline.index.store import open_store
from rag_pipeline.pipeline import Pipeline
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)

MakePipeline = Callable[[Services], Pipeline]
"""What indexes the scratch source."""


def run_lifecycle(
    sets: Sequence[NamedSet], services: Services, make_pipeline: MakePipeline = Pipeline
) -> list[LifecycleResult]:
    """Run every lifecycle case. One that raises is a result too, and stops no other."""
    if any(named.questions.lifecycle for named in sets):
        sweep(services)
    return [
        _result(named.name, case, services, make_pipeline)
        for named in sets
        for case in named.questions.lifecycle
    ]


def _result(
    set_name: str, case: LifecycleCase, services: Services, make_pipeline: MakePipeline
) -> LifecycleResult:
    failures: list[str] = []
    error = None
    try:
        with scratch_of(case.document, services) as scratch:
            failures += _failures(case, scratch, make_pipeline(scratch.services))
    except Exception as raised:  # noqa: BLE001 - whatever a case raises is what is wrong with it
        error = str(raised) if isinstance(raised, RagPipelineError) else type(raised).__name__
        logger.warning("The lifecycle case %s/%s ended by an error: %s", set_name, case.id, error)
    return LifecycleResult(
        case_id=case.id,
        set_name=set_name,
        action=case.action,
        document=case.document,
        failures=tuple(failures),
        error=error,
    )


def _failures(case: LifecycleCase, scratch: Scratch, pipeline: Pipeline) -> Iterator[str]:
    pipeline.run(scratch.source_id)
    cited, _ = scratch.ask(case.question, case.groups)
    if not _holding(cited, case, case.before):
        yield f"before, no cited passage of {case.document} holds what it should"
    old_version = scratch.version(case.document)
    _act(case, scratch)
    pipeline.run(scratch.source_id)
    cited, ranked = scratch.ask(case.question, case.groups)
    if _holding(ranked, case, case.before):
        yield "afterwards what it held before is still found"
    left = _points(scratch, case.document)
    if case.action is Action.UPDATE:
        if not _holding(cited, case, case.after or ""):
            yield f"afterwards no cited passage of {case.document} holds what it should"
        if kept := [one for one in left if one["content_hash"] == old_version]:
            yield f"{len(kept)} points of the old version are left"
        places = [one["chunk_index"] for one in left]
        if len(places) != len(set(places)):
            yield "some chunks are there twice"
    elif case.action is Action.DELETE:
        if left:
            yield f"{len(left)} points of the deleted document are left"
        if scratch.version(case.document):
            yield "the ledger still records the deleted document"
    else:
        if any(one.document_id == case.document for one in ranked):
            yield "its former readers still find the document"
        cited, _ = scratch.ask(case.question, case.remaining_groups)
        if not _holding(cited, case, case.before):
            yield "its remaining readers do not find it any more"


def _act(case: LifecycleCase, scratch: Scratch) -> None:
    match case.action:
        case Action.UPDATE:
            if case.edit is None:
                raise BadQuestionSet(f"The case {case.id} does not say what is edited.")
            scratch.edit(case.edit.old, case.edit.new)
        case Action.DELETE:
            scratch.delete()
        case Action.REVOKE:
            scratch.write_manifest(case.remaining_groups)


def _holding(evidence: Sequence[Evidence], case: LifecycleCase, words: str) -> list[Evidence]:
    return [one for one in evidence if one.document_id == case.document and holds_quote(one.text, words)]


def _points(scratch: Scratch, document_id: str) -> list[dict[str, object]]:
    """The payloads of all points of a document, published or not."""
    of_document = models.FieldCondition(key="document_id", match=models.MatchValue(value=document_id))
    with open_store(scratch.services.store) as client:
        records, _ = client.scroll(
            scratch.generation,
            scroll_filter=models.Filter(must=[of_document]),
            limit=10_000,
            with_payload=["content_hash", "chunk_index"],
        )
    return [record.payload or {} for record in records]
