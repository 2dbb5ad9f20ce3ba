"""The order of evidence: relevance, trust and freshness, and the file that weighs them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.query.ranking import RankingRules, load_ranking, score_parts

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PROJECT = Path(__file__).parents[1]


def freshness(days: float | None, sla_days: int | None = None, rules: RankingRules | None = None) -> float:
    touched = None if days is None else NOW - timedelta(days=days)
    parts = score_parts(
        rules or RankingRules(), relevance=0.5, trust_tier=3, touched_at=touched, sla_days=sla_days, now=NOW
    )
    return parts["freshness"]


@pytest.mark.parametrize(
    ("days", "weight"),
    [(0, 0.1), (30, 0.1), (30.1, 0.03), (180, 0.03), (181, 0.0), (720, 0.0), (721, -0.15), (None, 0.0)],
)
def test_freshness_goes_by_the_days_since_the_last_update_or_review(
    days: float | None, weight: float
) -> None:
    assert freshness(days) == weight


def test_what_is_past_its_sla_gets_no_bonus_but_keeps_its_malus() -> None:
    assert freshness(20, sla_days=10) == 0.0
    assert freshness(20, sla_days=20) == 0.1
    assert freshness(800, sla_days=10) == -0.15


def test_a_document_of_tomorrow_is_fresh() -> None:
    assert freshness(-1) == 0.1


def test_trust_adds_what_its_tier_weighs() -> None:
    def trust(tier: int) -> float:
        return score_parts(
            RankingRules(), relevance=0.5, trust_tier=tier, touched_at=None, sla_days=None, now=NOW
        )["trust"]

    assert [trust(tier) for tier in range(1, 6)] == [0.25, 0.15, 0.05, 0.0, -0.1]


def test_the_projects_file_says_what_the_model_has_by_itself() -> None:
    assert load_ranking(PROJECT / "manifests" / "ranking.yaml") == RankingRules()


def test_without_a_file_the_models_own_weights_hold(tmp_path: Path) -> None:
    assert load_ranking(tmp_path / "ranking.yaml") == RankingRules()


def test_a_file_may_change_a_weight(tmp_path: Path) -> None:
    file = tmp_path / "ranking.yaml"
    file.write_text("freshness: {fresh: 0.2}\n", encoding="utf-8")
    assert freshness(1, rules=load_ranking(file)) == 0.2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("trust: {1: 0.25}", "trust"),
        ("trust: {1: 9, 2: 0, 3: 0, 4: 0, 5: 0}", "trust.1"),
        ("freshness: {fresh_days: 200}", "ascend"),
        ("frehsness: {}", "frehsness"),
        ("trust: &a {}", "anchor"),
        ("[", "YAML"),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "ranking.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=told) as caught:
        load_ranking(file)
    assert str(file) in str(caught.value)


def test_a_rerankers_place_adds_the_less_the_farther_behind() -> None:
    def parts(place: int | None) -> dict[str, float]:
        return score_parts(
            RankingRules(),
            relevance=0.5,
            trust_tier=1,
            touched_at=None,
            sla_days=None,
            now=NOW,
            reranked=place,
        )

    assert [parts(place)["rerank"] for place in (1, 2, 3)] == pytest.approx([0.3, 0.15, 0.1])
    assert "rerank" not in parts(None)
