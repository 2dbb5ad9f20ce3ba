"""Random documents in two sources, and the rule by which a scope lets their points through."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import strategies as st

from rag_pipeline.index.schema import rfc3339
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.scope import Scope
from rag_pipeline_tests.shelf import Book

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
GROUPS = ["support", "hr", "public"]
ENVIRONMENTS = ["production", "staging"]
AUDIENCES = ["customers", "support"]
TYPES = ["official_policy", "runbook"]
LANGUAGES = ["en", "zh"]

numbers = count()


def day(number: int | None) -> str | None:
    return None if number is None else rfc3339(FIRST_DAY + timedelta(days=number))


def some(values: Sequence[str], *, least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), unique=True, min_size=least, max_size=len(values)).map(tuple)


def mostly(usual: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The usual four times out of five, since one thing that is not right hides all others."""
    return st.integers(0, 4).flatmap(lambda number: other if number == 4 else usual)


TENANT = mostly(st.just("a"), st.just("b"))
days = mostly(st.none(), st.integers(0, 4))
facts = st.fixed_dictionaries(
    {
        "tenant": TENANT,
        "access_groups": some(GROUPS).map(list),
        "lifecycle": mostly(st.just("active"), st.sampled_from(["draft", "deprecated", "archived"])),
        "environments": some(ENVIRONMENTS).map(list),
        "audience": some(AUDIENCES).map(list),
        "source_type": st.sampled_from(TYPES),
        "language": st.sampled_from([None, *LANGUAGES]),
        "effective_at": days.map(day),
        "valid_until": days.map(day),
    }
)


@st.composite
def books(draw: st.DrawFn) -> list[Book]:
    """Documents whose points and ledger rows may say different things, each with a word of its own."""
    found = []
    for _ in range(draw(st.integers(2, 8))):
        number = next(numbers)
        name = f"{draw(st.sampled_from(['s1', 's2']))}/{number}"
        parts = range(draw(st.integers(1, 2)))
        texts = [f"Refunds take {number % 9 + part} days. Word{number}x{part}." for part in parts]
        known = draw(mostly(st.just(True), st.just(False)))
        drawn = draw(facts)
        found.append(
            Book(
                name,
                texts,
                drawn,
                published=draw(mostly(st.just(True), st.just(False))),
                known=known,
                readers=draw(mostly(st.none(), some(drawn["access_groups"] or ["hr"]))) if known else None,
                recorded=draw(mostly(st.just({}), st.just({"lifecycle": "archived"}))),
                recorded_hash=draw(mostly(st.just("c" * 64), st.just("d" * 64))),
            )
        )
    return found


scopes = st.builds(
    Scope,
    identity=st.builds(Identity, groups=some(["support", "hr"]).map(frozenset), tenant=TENANT),
    as_of=st.integers(0, 4).map(lambda number: FIRST_DAY + timedelta(days=number)),
    environment=mostly(st.none(), st.sampled_from(ENVIRONMENTS)),
    audience=mostly(st.none(), st.sampled_from(AUDIENCES)),
    source_ids=mostly(st.just(()), some(["s1", "s2"])),
    source_types=mostly(st.just(()), some(TYPES)),
    languages=mostly(st.just(()), some(LANGUAGES)),
)


def within(facts: dict[str, Any], readers: list[str], scope: Scope, document_id: str) -> bool:
    """The rule once more, in other words."""
    starts, ends = facts.get("effective_at"), facts.get("valid_until")
    return (
        facts["tenant"] == scope.identity.tenant
        and any(group in ("public", *scope.identity.groups) for group in readers)
        and facts["lifecycle"] == "active"
        and (not starts or starts <= rfc3339(scope.as_of))
        and (not ends or rfc3339(scope.as_of) < ends)
        and (not scope.environment or scope.environment in facts["environments"])
        and (not scope.audience or scope.audience in facts["audience"])
        and (not scope.source_ids or document_id.split("/")[0] in scope.source_ids)
        and (not scope.source_types or facts["source_type"] in scope.source_types)
        and (not scope.languages or facts.get("language") in scope.languages)
    )


def permitted(book: Book, scope: Scope) -> bool:
    """Whether both the points and the ledger, where it has the document, let it through."""
    facts = book.all_facts
    by_points = book.published and within(facts, facts["access_groups"], scope, book.document_id)
    readers = facts["access_groups"] if book.readers is None else list(book.readers)
    recorded = {**facts, **book.recorded}
    return by_points and (not book.known or within(recorded, readers, scope, book.document_id))
