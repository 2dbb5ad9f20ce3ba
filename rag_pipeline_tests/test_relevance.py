"""From signals to relevance: bounds, what counts for more, and calibrations that can be stored."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.index.sparse import query_terms
from rag_pipeline.query.relevance.calibration import Calibration
from rag_pipeline.query.relevance.defaults import default_calibration
from rag_pipeline.query.relevance.references import References
from rag_pipeline.query.relevance.signals import ScriptPair, Signals, coverage, scripts_of
from rag_pipeline.query.relevance.term_weights import TermStatistics

MODELS = [
    {"provider": "local", "model": "multilingual-e5-small"},
    {"provider": "hashing", "model": "words-and-cjk"},
    {"provider": "openai", "model": "nobody-knows-it"},
]
models = st.sampled_from(MODELS)
signals = st.builds(
    Signals,
    dense=st.floats(-1, 1),
    bm25=st.none() | st.floats(0, 50),
    rank=st.integers(1, 60),
    coverage=st.floats(0, 1),
    terms=st.integers(0, 40),
    scripts=st.sampled_from(ScriptPair),
    usual=st.floats(-1, 1),
)


def known(chunks: int, **frequencies: int) -> TermStatistics:
    return TermStatistics(
        chunks, {query_terms(word).indices[0]: count for word, count in frequencies.items()}
    )


@settings(max_examples=100)
@given(models, signals)
def test_relevance_is_between_0_and_1_and_every_calibration_survives_storing(
    model: dict[str, str], given_signals: Signals
) -> None:
    calibration = default_calibration(model)
    assert 0 <= calibration.relevance(given_signals) <= 1
    assert Calibration.model_validate_json(calibration.model_dump_json()) == calibration


def test_an_unknown_models_cosine_proves_nothing() -> None:
    calibration = default_calibration(MODELS[2])
    alike = Signals(dense=0.99, bm25=None, rank=1, coverage=0.1, terms=8, scripts=ScriptPair.NEITHER)
    assert calibration.relevance(alike) < calibration.threshold


def test_a_calibration_without_weights_for_a_pair_of_scripts_is_refused() -> None:
    stored = default_calibration(MODELS[0]).model_dump()
    del stored["weights"][ScriptPair.BOTH]
    with pytest.raises(ValidationError, match="no weights for both"):
        Calibration.model_validate(stored)


def test_rare_terms_cover_more_of_a_query_than_common_ones() -> None:
    statistics = known(1_000, refund=3, order=800)
    asked = statistics.weights(query_terms("refund order").indices)
    rare = coverage(asked, query_terms("refund").indices)
    common = coverage(asked, query_terms("order").indices)
    assert rare > 0.8
    assert rare + common == pytest.approx(1)
    assert coverage({}, asked) == 0


def test_in_a_handful_of_chunks_all_terms_weigh_about_the_same() -> None:
    statistics = known(3, refund=3, order=0)
    weights = statistics.weights(query_terms("refund order").indices).values()
    assert max(weights) < 1.5 * min(weights)


@pytest.mark.parametrize(
    ("query", "text", "pair"),
    [
        ("How long?", "Two years from the day of delivery, see 保修.", ScriptPair.NEITHER),
        ("保修多久？", "保修两年。", ScriptPair.BOTH),
        ("P1 告警", "On call engineers confirm P1 alerts.", ScriptPair.QUERY),
        ("P1 alert?", "值班工程师确认 P1 告警。", ScriptPair.CHUNK),
    ],
)
def test_scripts_are_told_apart(query: str, text: str, pair: ScriptPair) -> None:
    assert scripts_of(query, text) is pair


def test_a_query_that_is_near_to_everything_proves_less_by_being_near() -> None:
    calibration = default_calibration(MODELS[0])
    near = Signals(
        dense=0.86, bm25=None, rank=1, coverage=0.5, terms=6, scripts=ScriptPair.NEITHER, usual=0.74
    )
    near_to_all = near._replace(usual=0.83)
    assert calibration.relevance(near_to_all) < calibration.threshold < calibration.relevance(near)


def test_a_calibration_that_weighs_the_lift_of_cosines_needs_the_usual_ones() -> None:
    bare = Signals(dense=0.86, bm25=None, rank=1, coverage=0.5, terms=6, scripts=ScriptPair.NEITHER)
    with pytest.raises(ValueError, match="no usual cosine"):
        default_calibration(MODELS[0]).relevance(bare)
    assert not default_calibration(MODELS[2]).needs_usual


def test_the_usual_cosines_of_a_query_are_those_of_texts_about_nothing_in_particular() -> None:
    embedder, references = HashingEmbedder(64), References()
    near, far = embedder.embed_queries(["the committee approved the minutes", "zyx wvu"])
    first, second = references.usual(embedder, [near, far])
    assert first.of(False) > second.of(False)
    assert first.of(True) == first.han
    assert references.usual(embedder, [near]) == [first], "and they stay the same"
