"""Fusing two legs: ranks decide, scores only between equals, and never the order in which a store answers."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.query.fusion import fuse

IDS = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8)


@st.composite
def legs(draw: st.DrawFn) -> list[tuple[str, float]]:
    """A ranked list with falling scores, some of them equal."""
    ids = draw(IDS)
    scores = draw(st.lists(st.integers(0, 5), min_size=len(ids), max_size=len(ids)))
    return list(zip(ids, sorted(map(float, scores), reverse=True), strict=True))


def test_what_both_legs_find_comes_before_what_one_finds_at_the_same_rank() -> None:
    dense = [("both", 0.9), ("dense only", 0.8)]
    bm25 = [("both", 12.0), ("bm25 only", 3.0)]
    assert fuse([dense, bm25])[0][0] == "both"


def test_of_two_that_lead_one_leg_each_the_one_that_stands_out_more_is_first() -> None:
    dense = [("a", 0.860), ("b", 0.859), ("c", 0.80), ("d", 0.79)]
    bm25 = [("b", 30.0), ("a", 10.0), ("c", 9.0), ("d", 8.0)]
    (first, first_score), (second, second_score) = fuse([dense, bm25])[:2]
    assert (first, second) == ("b", "a")
    assert first_score == second_score


def test_a_single_leg_keeps_its_order() -> None:
    assert [found for found, _ in fuse([[("x", 3.0), ("y", 2.0), ("z", 2.0)], []])] == ["x", "y", "z"]


@given(legs(), legs())
@settings(max_examples=100)
def test_every_hit_is_there_once_and_no_better_rank_comes_later(
    dense: list[tuple[str, float]], bm25: list[tuple[str, float]]
) -> None:
    fused = fuse([dense, bm25])
    ids = [found for found, _ in fused]
    assert sorted(ids) == sorted({found for found, _ in dense + bm25})
    scores = [score for _, score in fused]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(scores))


@given(legs(), legs())
@settings(max_examples=50)
def test_the_order_of_the_legs_does_not_matter(
    dense: list[tuple[str, float]], bm25: list[tuple[str, float]]
) -> None:
    assert [found for found, _ in fuse([dense, bm25])] == [found for found, _ in fuse([bm25, dense])]
