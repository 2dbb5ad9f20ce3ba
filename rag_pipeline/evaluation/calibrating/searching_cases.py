"""What the cases of question sets find in a generation, and which of it holds their gold."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime

from qdrant_client import QdrantClient

from rag_pipeline.evaluation.calibrating.examples import AskedCase, Seen
from rag_pipeline.evaluation.case import Case, Category
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.quotes import holds_quote
from rag_pipeline.query.gathering import best_of_each
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.planning import plan_queries
from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.signals import ScriptPair
from rag_pipeline.query.results import QueryResult, RetrievedChunk
from rag_pipeline.query.retrieval import retrieve
from rag_pipeline.query.scope import Scope
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline.query.steps import FOUND_PER_QUERY
from rag_pipeline.query.trace import Outcome
from rag_pipeline.query.visibility import within_manifests
from rag_pipeline.services import Services

# Its relevance counts for nothing; it is there so that every signal is measured, whatever the model needs.
_MEASURING = Calibration(
    fitted_for="measuring",
    weights=dict.fromkeys(ScriptPair, Weights(intercept=0.0, dense=1.0, coverage=1.0, lift=1.0)),
)


def usable_cases(sets: Sequence[NamedSet]) -> list[tuple[str, Case]]:
    """The cases that tell about relevance, by `set/case`.

    These are those with documents that must be found, and those where nothing is. Cases of outages, and of
    refusals for other reasons, tell nothing.
    """
    return [
        (f"{one.name}/{case.id}", case)
        for one in sets
        for case in one.questions.cases
        if case.category is not Category.OUTAGE and (case.required or _unanswerable(case))
    ]


def search_cases(
    cases: Sequence[tuple[str, Case]], services: Services, generation: str, calibration: Calibration
) -> list[AskedCase]:
    """Search the cases' queries as a request of their askers would be, and keep all that is found.

    Of several queries that find a chunk, the one counts to which it is most relevant by the `calibration`.
    Cases of the same asker are searched together. Raises what `retrieve` does.
    """
    now = datetime.now(UTC)
    manifests = services.manifests()
    by_scope: dict[Scope, list[int]] = defaultdict(list)
    for number, (_, case) in enumerate(cases):
        scope = Scope(
            Identity(groups=frozenset(case.groups), tenant=case.tenant),
            as_of=case.as_of or now,
            environment=case.environment,
            audience=case.audience,
        )
        if visible := within_manifests(scope, manifests):
            by_scope[visible].append(number)
    found: dict[int, list[QueryResult]] = {number: [] for number in range(len(cases))}
    for scope, numbers in by_scope.items():
        asked = [(number, query) for number in numbers for query in _queries(cases[number][1])]
        results = _search([query for _, query in asked], scope, services, generation)
        for (number, _), result in zip(asked, results, strict=True):
            found[number].append(result)
    return [_judged(key, case, found[number], calibration) for number, (key, case) in enumerate(cases)]


def _unanswerable(case: Case) -> bool:
    return case.refusal and Outcome.NO_EVIDENCE in case.expect


def _queries(case: Case) -> list[str]:
    return plan_queries(case.question, case.queries)


def _search(
    queries: Sequence[str], scope: Scope, services: Services, generation: str
) -> Sequence[QueryResult]:
    wait = services.settings.lock_wait_s

    def opened() -> AbstractContextManager[QdrantClient]:
        return services.open_store(wait_seconds=wait)

    options: RetrievalOptions = replace(
        services.retrieval_options(limit=FOUND_PER_QUERY),
        calibration=_MEASURING,
        min_relevance=0.0,
        # Neighbours bear the scores of the chunk that they were joined to.
        neighbours=0,
    )
    return retrieve(
        queries,
        scope,
        open_client=opened,
        alias=services.settings.alias,
        generation=generation,
        embedder_of=services.embedder_of,
        ledger=services.ledger,
        baselines=services.baselines,
        options=options,
    ).results


def _judged(key: str, case: Case, results: Sequence[QueryResult], calibration: Calibration) -> AskedCase:
    answerable = not _unanswerable(case)
    return AskedCase(
        key=key,
        answerable=answerable,
        documents=case.required,
        found=tuple(
            Seen(chunk.signals, _right(case, chunk) if answerable else False)
            for chunk in _as_asked(results, calibration)
        ),
    )


def _as_asked(results: Sequence[QueryResult], calibration: Calibration) -> list[RetrievedChunk]:
    """Each chunk once, best rank first, as asking takes it: by the query to which it is most relevant."""
    told = [
        replace(
            result,
            chunks=tuple(
                chunk._replace(relevance=calibration.relevance(chunk.signals)) for chunk in result.chunks
            ),
        )
        for result in results
    ]
    return sorted(best_of_each(told), key=lambda chunk: (chunk.signals.rank, -chunk.relevance))


def _right(case: Case, chunk: RetrievedChunk) -> bool | None:
    """Whether a chunk holds the gold of an answerable case; None where nobody knows."""
    if any(holds_quote(chunk.text, quote.text) for quote in case.quotes):
        # The same words elsewhere are of use too, though it is the named document that is asked for.
        return True if chunk.document_id in case.required else None
    if chunk.document_id not in case.required:
        return False
    return None if case.quotes else True
