"""Stored artifacts and vectors go with the last document that uses them, and not before."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.ledger.uses import Stored


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger(ledger_url, max_attempts=3)
    yield opened
    opened.close()


def stored(keys: str = "", vectors: str = "") -> Stored:
    return Stored(frozenset(keys), frozenset(("model", text) for text in vectors))


def test_what_two_documents_share_goes_with_the_second(ledger: Ledger) -> None:
    uses = ledger.uses
    uses.replace({"handbook/a.md": stored("12", "xy"), "runbooks/a.md": stored("2", "y")})
    assert uses.unused_without({"handbook/a.md": Stored()}) == stored("1", "x")
    assert uses.unused_without({"handbook/a.md": Stored(), "runbooks/a.md": Stored()}) == stored("12", "xy")
    uses.replace({"handbook/a.md": Stored()})
    assert uses.unused_without({"runbooks/a.md": Stored()}) == stored("2", "y")


def test_what_a_stage_wrote_before_a_crash_is_found_again(ledger: Ledger) -> None:
    uses = ledger.uses
    uses.replace({"handbook/a.md": stored("1", "x")})
    uses.add_artifacts([("2", "handbook/a.md"), ("2", "handbook/a.md"), ("1", "handbook/a.md")])
    assert uses.of_document("handbook/a.md") == stored("12", "x")
    assert uses.unused_without({"handbook/a.md": stored("1", "x")}) == stored("2")


def test_vectors_of_two_models_are_told_apart(ledger: Ledger) -> None:
    uses = ledger.uses
    old, new = Stored(vectors=frozenset({("old", "x")})), Stored(vectors=frozenset({("new", "x")}))
    uses.replace({"handbook/a.md": old})
    uses.replace({"runbooks/a.md": new})
    assert uses.unused_without({"handbook/a.md": Stored()}) == old


def test_unused_vectors_are_forgotten_and_no_others(ledger: Ledger) -> None:
    vector = np.ones(2, dtype=np.float32)
    for model in ("old", "new"):
        ledger.vectors.put(model, {"x": vector, "y": vector})
    ledger.vectors.delete([("old", "x"), ("new", "y"), ("old", "unknown")])
    assert ledger.vectors.get("old", ["x", "y"]).keys() == {"y"}
    assert ledger.vectors.get("new", ["x", "y"]).keys() == {"x"}


@pytest.fixture(scope="module")
def reused() -> Iterator[Ledger]:
    opened = Ledger("sqlite://", max_attempts=3)
    yield opened
    opened.close()


some_uses = st.builds(stored, st.text("123", max_size=3), st.text("xyz", max_size=3))
uses_of_all = st.dictionaries(st.sampled_from("abc"), some_uses)


@given(before=uses_of_all, kept=uses_of_all)
@settings(max_examples=40)
def test_nothing_is_unused_that_a_document_uses_and_nothing_else_is_left(
    reused: Ledger, before: dict[str, Stored], kept: dict[str, Stored]
) -> None:
    uses = reused.uses
    uses.replace(dict.fromkeys("abc", Stored()) | before)
    unused = uses.unused_without(kept)
    uses.replace(kept)
    after = before | kept
    assert {one: uses.of_document(one) for one in after} == after
    in_use = Stored(
        frozenset().union(*(one.keys for one in after.values())),
        frozenset().union(*(one.vectors for one in after.values())),
    )
    had = [before[one] for one in kept if one in before]
    assert unused.keys == frozenset().union(*(one.keys for one in had)) - in_use.keys
    assert unused.vectors == frozenset().union(*(one.vectors for one in had)) - in_use.vectors
