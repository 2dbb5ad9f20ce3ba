"""Conflicts: which are found, what decides them, and what becomes of them."""

import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rag_pipeline.query.conflicts.conflict import Conflict, Policy, Precedence, ValueKind
from rag_pipeline.query.conflicts.finding import find_conflicts
from rag_pipeline.query.conflicts.policy import ConflictPolicies
from rag_pipeline.query.evidence import Evidence
from rag_pipeline_tests.conflict_pairs import FLOORS, Pair, evidence, pairs, part_of, score

PAIRS = list(pairs())
CORPUS = Path(__file__).parents[1] / "manifests" / "sample_corpus"

QUESTION = "How many days do customers have to return a lamp?"
POLICY = "Customers can return a lamp within 30 days."
MACRO = "You can return a lamp within 14 days."


def find(
    question: str, *passages: Evidence, policies: ConflictPolicies | None = None
) -> tuple[Conflict, ...]:
    return find_conflicts(question, passages, policies or ConflictPolicies())


def shown(conflict: Conflict) -> dict[str, str]:
    return {position.label: position.shown for position in conflict.positions}


def sample(label: str, path: str, heading: str, title: str, **facts: object) -> Evidence:
    """A section of a document of the sample corpus."""
    text = (CORPUS / path).read_text(encoding="utf-8")
    section = text.split(f"# {heading}\n", 1)[1].split("\n## ", 1)[0]
    return evidence(label, f"{title} > {heading}", section.strip(), document=path, **facts)


@pytest.mark.parametrize("part", FLOORS)
def test_conflicts_are_told_from_harmless_differences(part: str) -> None:
    precision, recall = FLOORS[part]
    result = score(part_of(part))
    assert result.precision >= precision, result.wrong
    assert result.recall >= recall, result.missed
    assert result.winners >= 0.95


def test_the_labelled_pairs_are_as_many_harmless_ones_as_conflicts_and_of_every_kind() -> None:
    conflicts = [pair for pair in PAIRS if pair.is_conflict]
    assert len(PAIRS) >= 60
    assert 0.4 <= len(conflicts) / len(PAIRS) <= 0.6
    assert {pair.expected["conflict"] for pair in conflicts} == set(ValueKind)


def test_the_trusted_source_wins_over_the_newer_one() -> None:
    (conflict,) = find(
        QUESTION,
        evidence("S1", "Macro", MACRO, trust=3, since=date(2026, 6, 1)),
        evidence("S2", "Policy", POLICY, trust=1, since=date(2024, 1, 1)),
    )
    assert shown(conflict) == {"S1": "14 days", "S2": "30 days"}
    assert (conflict.kind, conflict.winner) == (ValueKind.DURATION, "S2")
    assert conflict.decided_by is Precedence.TRUST_TIER


def test_of_equally_trusted_sources_the_later_one_wins_and_a_known_date_over_none() -> None:
    older = evidence("S1", "Policy 2024", MACRO, since=date(2024, 1, 1))
    newer = evidence("S2", "Policy 2026", POLICY, since=date(2026, 1, 1))
    undated = evidence("S3", "Policy", "Customers can return a lamp within 20 days.")
    (conflict,) = find(QUESTION, older, newer, undated)
    assert (conflict.winner, conflict.decided_by) == ("S2", Precedence.EFFECTIVE_AT)


def test_nobody_wins_between_equals() -> None:
    (conflict,) = find(QUESTION, evidence("S1", "Policy A", MACRO), evidence("S2", "Policy B", POLICY))
    assert (conflict.winner, conflict.decided_by) == (None, None)


def test_a_deprecated_source_wins_over_no_active_one() -> None:
    (conflict,) = find(
        QUESTION,
        evidence("S1", "Old policy", MACRO, trust=1, lifecycle="deprecated", since=date(2026, 6, 1)),
        evidence("S2", "Help page", POLICY, trust=2, since=date(2024, 1, 1)),
    )
    assert conflict.winner == "S2"


def test_a_document_is_never_in_conflict_with_itself() -> None:
    one = evidence("S1", "Policy > A", POLICY, document="policy.md")
    other = evidence("S2", "Policy > B", MACRO, document="policy.md")
    assert find(QUESTION, one, other) == ()


def test_what_agrees_with_the_winner_takes_part_in_the_conflict() -> None:
    (conflict,) = find(
        QUESTION,
        evidence("S1", "Policy", POLICY, trust=1),
        evidence("S2", "Macro", MACRO, trust=3),
        evidence("S3", "Summary", "You may return a lamp within thirty days.", trust=2),
    )
    assert set(shown(conflict)) == {"S1", "S2", "S3"}
    assert conflict.winner == "S1"
    assert [position.label for position in conflict.lost] == ["S2"], "the summary says what the policy says"


def test_a_question_for_no_value_finds_no_conflict() -> None:
    passages = (evidence("S1", "Policy", POLICY), evidence("S2", "Macro", MACRO))
    assert find("Who can return a lamp?", *passages) == ()


@given(st.sampled_from(PAIRS))
@settings(max_examples=40)
def test_the_order_of_the_evidence_changes_nothing_but_the_order_of_positions(pair: Pair) -> None:
    def facts(conflicts: Sequence[Conflict]) -> list[object]:
        return [
            (one.kind, sorted(shown(one).items()), one.winner, one.decided_by, one.policy)
            for one in conflicts
        ]

    assert facts(find(pair.question, *pair.passages)) == facts(find(pair.question, *reversed(pair.passages)))


class TestSampleCorpus:
    """The disagreements that the sample corpus holds on purpose."""

    POLICY = staticmethod(
        lambda label: sample(
            label,
            "refund_policy/refund_policy_2026.md",
            "Time limit",
            "Refund policy 2026",
            since=date(2026, 1, 1),
        )
    )
    EXCEPTION = staticmethod(
        lambda label, heading: sample(
            label,
            "refund_policy/refunds_nordic_exception.md",
            heading,
            "Regional exception: refunds in the Nordic countries",
            since=date(2026, 2, 1),
        )
    )
    COMMUNITY = staticmethod(
        lambda label: sample(
            label,
            "community_posts/refund_after_two_months.md",
            "Refund after two months? It worked for me",
            "Refund after two months? It worked for me",
            trust=5,
            source_type="community",
        )
    )

    def test_the_policy_wins_over_what_the_community_says(self) -> None:
        (conflict,) = find(
            "Within how many days of delivery may hardware be returned?",
            self.COMMUNITY("S1"),
            self.POLICY("S2"),
        )
        assert shown(conflict) == {"S1": "60 days", "S2": "30 days"}
        assert (conflict.winner, conflict.decided_by) == ("S2", Precedence.TRUST_TIER)

    def test_the_exception_that_repeats_the_general_rule_is_no_conflict_where_no_region_is_asked_about(
        self,
    ) -> None:
        assert (
            find(
                "Within how many days may hardware be returned?",
                self.POLICY("S1"),
                self.EXCEPTION("S2", "What is different"),
            )
            == ()
        )

    @pytest.mark.parametrize(
        "question",
        [
            "What is the refund period for an order delivered to Norway?",
            "How long can a customer in Norway take to send a sensor back?",
            "Within how many days may hardware be returned in Norway?",
        ],
    )
    @pytest.mark.parametrize("general_since", [date(2026, 1, 1), date(2026, 9, 1)])
    def test_the_exception_wins_for_its_region_even_over_a_later_general_rule(
        self, question: str, general_since: date
    ) -> None:
        general = sample(
            "S1",
            "refund_policy/refund_policy_2026.md",
            "Time limit",
            "Refund policy 2026",
            since=general_since,
        )
        (conflict,) = find(
            question,
            general,
            self.EXCEPTION("S2", "What is different"),
            self.EXCEPTION("S3", "Where it applies"),
        )
        assert shown(conflict) == {"S1": "30 days", "S2": "45 days"}
        assert (conflict.winner, conflict.decided_by) == ("S2", Precedence.SPECIFICITY)


class TestPolicies:
    """What becomes of a conflict."""

    PASSAGES = (
        evidence("S1", "Policy", POLICY, trust=1),
        evidence("S2", "Macro", MACRO, trust=3, source_type="support_note"),
    )

    def policy(self, question: str = QUESTION, **policies: object) -> Policy:
        (conflict,) = find(question, *self.PASSAGES, policies=ConflictPolicies.model_validate(policies))
        return conflict.policy

    def test_the_winner_is_preferred_unless_something_says_otherwise(self) -> None:
        assert self.policy() is Policy.PREFER
        assert self.policy(default="escalate") is Policy.ESCALATE

    def test_the_stricter_of_two_source_types_counts(self) -> None:
        assert self.policy(by_source_type={"support_note": "escalate"}) is Policy.ESCALATE
        both = {"support_note": "prefer", "official_policy": "prefer"}
        assert self.policy(default="escalate", by_source_type=both) is Policy.PREFER

    def test_a_source_type_that_nobody_knows_has_the_default_policy(self) -> None:
        rumour = evidence("S2", "Macro", MACRO, trust=3, source_type="rumour")
        for default in Policy:
            policies = ConflictPolicies(default=default)
            (conflict,) = find(QUESTION, self.PASSAGES[0], rumour, policies=policies)
            assert conflict.policy is default

    def test_a_word_in_the_question_escalates(self) -> None:
        assert self.policy(escalate_questions=["refund", "RETURN a lamp"]) is Policy.ESCALATE
        assert self.policy(escalate_questions=["salary"]) is Policy.PREFER

    @pytest.mark.parametrize(
        "wrong",
        [
            {"default": "ask"},
            {"by_source_type": {"rumour": "prefer"}},
            {"escalate_questions": [""]},
            {"escalate_questions": "refund"},
            {"unknown": 1},
        ],
    )
    def test_a_policy_that_is_not_known_is_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValidationError):
            ConflictPolicies.model_validate(wrong)


_HOSTILE = {
    "digits": "9" * 100,
    "grouped figures": "1,000," * 10,
    "number words": "twenty hundred and ",
    "Chinese numerals": "一千零",
    "values": "within 30 days or 14 days, ",
    "cells": "| 30 days ",
    "rows": "| return lamp | 30 days |\n",
    "dots": "1.1.1.1.",
    "dashes": "1-",
    "spaces": " " * 50 + "3 ",
    "emphasis": "**_`>",
    "half phrases": "send a lamp and ",
    "negations": "is not not ",
    "brackets": "((((not ",
    "no charges": "no charge no no ",
    "Chinese": "退货期限是多少",
    "names": "A1 B2 Lamp in Norway for ",
}


@pytest.mark.parametrize("piece", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_time_grows_with_the_passage_and_not_faster(piece: str) -> None:
    def seconds(length: int) -> float:
        text = f"Customers can return a lamp within 30 days. {(piece * (length // len(piece)))}"
        passages = (evidence("S1", "A", text), evidence("S2", "B", POLICY))
        started = time.process_time()
        find(QUESTION, *passages)
        return time.process_time() - started

    seconds(1_000)
    # Ten times the text in at most about ten times the time; quadratic would be a hundred times.
    assert seconds(60_000) <= 30 * max(seconds(6_000), 0.02)


@given(st.text(max_size=300), st.text(max_size=100))
@settings(max_examples=60)
def test_no_text_breaks_it(text: str, question: str) -> None:
    find(question, evidence("S1", "A", text), evidence("S2", "B", f"{text} 30 days"))
