"""Withheld deletions: an approval covers at most what was shown to the person who gave it."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.ledger.withheld import WithheldDeletions


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger(ledger_url, max_attempts=3)
    yield opened
    opened.close()


@pytest.fixture
def withheld(ledger: Ledger) -> WithheldDeletions:
    return ledger.withheld


def test_what_is_withheld_is_shown_as_it_was_noticed(withheld: WithheldDeletions) -> None:
    noticed = withheld.record("handbook", ["handbook/b.md", "handbook/值班.md", "handbook/b.md"], 1, 3)
    assert noticed.document_ids == ("handbook/b.md", "handbook/值班.md")
    assert (noticed.listed, noticed.recorded, noticed.approved) == (1, 3, False)
    assert withheld.of("handbook") == noticed
    assert withheld.all() == {"handbook": noticed}
    assert withheld.of("runbooks") is None


def test_an_approval_returns_what_it_covers(withheld: WithheldDeletions) -> None:
    withheld.record("handbook", ["handbook/a.md"], 0, 1)
    withheld.record("runbooks", ["runbooks/a.md"], 0, 1)
    approved = withheld.approve("handbook", by="a person")
    assert approved.document_ids == ("handbook/a.md",)
    assert (approved.approved, approved.approved_by) == (True, "a person")
    assert withheld.of("handbook") == approved
    assert not withheld.all()["runbooks"].approved


def test_without_withheld_deletions_there_is_nothing_to_approve(withheld: WithheldDeletions) -> None:
    with pytest.raises(ConfigurationError, match=r"handbook.*nothing to approve"):
        withheld.approve("handbook", by="a person")
    withheld.record("handbook", ["handbook/a.md"], 0, 1)
    withheld.clear("handbook")
    with pytest.raises(ConfigurationError):
        withheld.approve("handbook", by="a person")


def test_the_time_of_the_first_notice_stays_while_nothing_else_is_gone(withheld: WithheldDeletions) -> None:
    first = withheld.record("handbook", ["handbook/a.md", "handbook/b.md"], 0, 2)
    again = withheld.record("handbook", ["handbook/a.md"], 1, 2)
    more = withheld.record("handbook", ["handbook/a.md", "handbook/c.md"], 1, 3)
    assert again.noticed_at == first.noticed_at
    assert more.noticed_at > first.noticed_at


@pytest.fixture(scope="module")
def reused() -> Iterator[WithheldDeletions]:
    opened = Ledger("sqlite://", max_attempts=3)
    yield opened.withheld
    opened.close()


documents = st.frozensets(st.sampled_from("abcd"), min_size=1)


@given(steps=st.lists(st.one_of(documents, st.just("approve")), max_size=8))
@settings(max_examples=30)
def test_no_document_is_approved_that_was_not_shown(
    reused: WithheldDeletions, steps: list[frozenset[str] | str]
) -> None:
    reused.clear("handbook")
    shown: frozenset[str] | None = None
    approved: frozenset[str] = frozenset()
    for step in steps:
        if isinstance(step, frozenset):
            shown = step
            found = reused.record("handbook", step, 0, 4)
            assert found.approved == (step <= approved)
            # What came back needs an approval of its own when it goes again.
            approved = step if found.approved else frozenset()
        elif shown is not None:
            reused.approve("handbook", by="a person")
            approved = shown
