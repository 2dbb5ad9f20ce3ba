"""Calibrating: what is fitted to questions, the threshold that it lays, its file, its curves, its use."""

import html
import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from rag_pipeline.errors import BadQuestionSet, ConfigurationError
from rag_pipeline.evaluation.calibrating.calibrate import calibrate, fit_cases
from rag_pipeline.evaluation.calibrating.curves import reliability_diagram, threshold_curve
from rag_pipeline.evaluation.calibrating.doubts import overridden
from rag_pipeline.evaluation.calibrating.examples import AskedCase, Seen, examples_of
from rag_pipeline.evaluation.calibrating.files import apply, forget, read_file, store, write_files
from rag_pipeline.evaluation.calibrating.fitted import Fitted, Origin
from rag_pipeline.evaluation.calibrating.folds import FOLDS, fold
from rag_pipeline.evaluation.calibrating.proportions import rate, scores, wilson_interval
from rag_pipeline.evaluation.calibrating.regression import fit_groups
from rag_pipeline.evaluation.calibrating.searching_cases import search_cases
from rag_pipeline.evaluation.calibrating.thresholds import cross_validate, threshold_for
from rag_pipeline.evaluation.case import Case, Category, QuestionSet, Quote
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.defaults import default_calibration
from rag_pipeline.query.relevance.signals import ScriptPair, Signals
from rag_pipeline.query.trace import Outcome
from rag_pipeline_tests.knowledge_base import KnowledgeBase, scope_of

HASHING = {"provider": "hashing", "model": "words-and-cjk"}


def searched(
    count: int, seed: int, scripts: ScriptPair = ScriptPair.NEITHER, gap: float = 0.1
) -> list[AskedCase]:
    """So many answerable questions and as many others; right chunks are nearer than wrong ones, by `gap`."""
    chance = np.random.default_rng(seed)

    def seen(rank: int, right: bool) -> Seen:
        dense = float(chance.normal(0.80 + gap * right, 0.03))
        coverage = float(np.clip(chance.normal(0.4 + 3 * gap * right, 0.15), 0, 1))
        return Seen(Signals(dense, 5.0, rank, coverage, 6, scripts, usual=0.75), right)

    cases: list[AskedCase] = []
    for number in range(count):
        found = tuple(seen(rank, right=rank == 1) for rank in range(1, 6))
        key = f"{scripts}-{number}"
        cases.append(AskedCase(f"{key}-yes", True, (f"s/{key}",), found))
        others = tuple(seen(rank, right=False) for rank in range(1, 6))
        cases.append(AskedCase(f"{key}-no", False, (), others))
    return cases


def fitted_to(cases: Sequence[AskedCase], false_refusals: float = 0.05, **others: Any) -> Fitted:
    arguments: dict[str, Any] = {
        "default": default_calibration(HASHING),
        "fingerprint": "0123456789abcdef",
        "generation": "knowledge_1",
        "embedding_model": "hashing",
        "sets": ("pages",),
    }
    return fit_cases(cases, false_refusals=false_refusals, **(arguments | others))


def refused(fitted: Fitted, cases: Sequence[AskedCase], *, answerable: bool) -> float:
    """The share of cases of which nothing that counts passes."""
    calibration = fitted.calibration
    best = [
        max(calibration.relevance(one.signals) for one in (case.right if answerable else case.found))
        for case in cases
        if case.answerable is answerable
    ]
    return sum(one < calibration.threshold for one in best) / len(best)


@pytest.mark.parametrize("wanted", [0.02, 0.05, 0.2])
def test_new_questions_are_refused_as_often_as_was_stated(wanted: float) -> None:
    fitted = fitted_to(searched(300, seed=1), wanted)
    measured, due = fitted.refusals.false, fitted.refusals.due
    assert measured
    assert measured.low <= wanted <= measured.high
    assert due
    new = searched(2_000, seed=2)
    assert refused(fitted, new, answerable=True) == pytest.approx(wanted, abs=0.03)
    assert refused(fitted, new, answerable=False) == pytest.approx(due.value, abs=0.05)
    assert fitted.calibration.threshold == 0.5


def test_the_fit_orders_chunks_and_tells_how_well() -> None:
    good, bad = fitted_to(searched(100, seed=3, gap=0.15)), fitted_to(searched(100, seed=3, gap=0.02))
    weights = good.calibration.weights[ScriptPair.NEITHER]
    assert weights.dense + weights.lift > 0
    assert weights.coverage > 0
    assert good.scores.auc > 0.99 > 0.8 > bad.scores.auc > 0.5
    assert good.scores.log_loss < bad.scores.log_loss < 0.75
    assert good.scores.brier < bad.scores.brier < 0.3
    assert any("hardly tell" in one for one in bad.warnings)
    assert good.scores.calibration_error < 0.1


def test_a_stricter_rate_lets_more_through() -> None:
    strict, loose = (fitted_to(searched(150, seed=4), wanted) for wanted in (0.02, 0.2))
    assert strict.refusals.due
    assert loose.refusals.due
    assert strict.refusals.due.value < loose.refusals.due.value
    assert strict.calibration.weights[ScriptPair.NEITHER].intercept > (
        loose.calibration.weights[ScriptPair.NEITHER].intercept
    )


def test_pairs_of_scripts_without_enough_examples_keep_the_default_and_say_so() -> None:
    few = searched(6, seed=5, scripts=ScriptPair.BOTH)
    fitted = fitted_to([*searched(100, seed=5), *few])
    assert fitted.origins == {
        ScriptPair.NEITHER: Origin.FITTED,
        ScriptPair.BOTH: Origin.DEFAULT,
        ScriptPair.QUERY: Origin.DEFAULT,
        ScriptPair.CHUNK: Origin.DEFAULT,
    }
    default = default_calibration(HASHING).weights
    assert fitted.calibration.weights[ScriptPair.BOTH] == default[ScriptPair.BOTH]
    assert [one for one in fitted.warnings if "default weights are kept: 6 right and 24 wrong" in one]


def test_what_is_asked_across_scripts_does_not_lower_the_threshold_of_the_others() -> None:
    alone = fitted_to(searched(100, seed=6))
    across = searched(100, seed=7, scripts=ScriptPair.QUERY, gap=0.01)
    both = fitted_to([*searched(100, seed=6), *across])
    assert both.origins[ScriptPair.QUERY] is Origin.FITTED
    new = searched(1_000, seed=8)
    lost = [refused(one, new, answerable=True) for one in (alone, both)]
    assert lost[0] == pytest.approx(lost[1], abs=0.03)
    assert refused(both, across, answerable=True) > 2 * lost[1]


def test_small_sets_are_warned_of_and_tiny_ones_refused() -> None:
    assert not fitted_to(searched(300, seed=8)).warnings
    warnings = "\n".join(fitted_to(searched(25, seed=8)).warnings)
    assert "25 answerable and 25 unanswerable questions: too few" in warnings
    assert re.search(r"too few for a rate of 5.0%: it may be anything from 0.\d% to 1\d", warnings)
    with pytest.raises(BadQuestionSet, match="5 right and 20 wrong chunks"):
        fitted_to(searched(5, seed=8))


def test_questions_whose_passage_is_not_found_are_named_and_no_false_refusals() -> None:
    cases = searched(60, seed=9)
    lost = [AskedCase(f"lost/{n}", True, (f"s/lost{n}",), cases[1].found) for n in range(4)]
    fitted, without = fitted_to([*cases, *lost]), fitted_to(cases)
    assert fitted.not_found == tuple(one.key for one in lost)
    assert fitted.refusals.false
    assert without.refusals.false
    assert fitted.refusals.false.n == without.refusals.false.n == 60
    assert any("4 answerable questions find none" in one for one in fitted.warnings)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=200), st.floats(0.01, 0.5))
@settings(max_examples=60)
def test_a_threshold_refuses_no_more_than_stated_and_no_less_than_it_may(
    placed: list[float], wanted: float
) -> None:
    threshold = threshold_for(placed, wanted)
    assert sum(one < threshold for one in placed) <= wanted * len(placed)
    at_most = sum(one <= threshold for one in placed)
    assert at_most + 1 > wanted * (len(placed) + 1) or at_most == len(placed)


def test_a_threshold_holds_on_average_for_the_next_case_even_from_few() -> None:
    chance = np.random.default_rng(10)
    draws = chance.normal(size=(4_000, 31))
    below = [row[30] < threshold_for(row[:30].tolist(), 0.1) for row in draws]
    assert np.mean(below) == pytest.approx(3 / 31, abs=0.02)


documents = st.lists(st.sampled_from([f"s/{n}" for n in range(60)]), min_size=1, max_size=2, unique=True)


@given(st.lists(documents, min_size=10, max_size=80), st.integers(0, 20))
@settings(max_examples=60)
def test_a_documents_cases_are_in_one_fold(about: list[list[str]], unanswerable: int) -> None:
    cases = [AskedCase(f"c/{n}", True, tuple(some), ()) for n, some in enumerate(about)]
    cases += [AskedCase(f"u/{n}", False, (), ()) for n in range(unanswerable)]
    numbers, by_document = fold(cases)
    assert fold(cases) == (numbers, by_document)
    assert set(numbers) <= set(range(FOLDS))
    others = [numbers[len(about) :].count(number) for number in range(FOLDS)]
    assert max(others) - min(others) <= 1
    if by_document:
        for (one, some), (other, more) in itertools.combinations(enumerate(about), 2):
            assert numbers[one] == numbers[other] or not set(some) & set(more)
    else:
        sizes = [numbers[: len(about)].count(number) for number in range(FOLDS)]
        assert max(sizes) - min(sizes) <= 1


def test_weights_are_fitted_to_one_right_chunk_a_document() -> None:
    cases = searched(60, seed=16)
    weak = Seen(Signals(0.75, None, 9, 0.0, 6, ScriptPair.NEITHER, usual=0.75), True)
    repeated = [
        AskedCase(one.key, one.answerable, one.documents, (*one.found, *[weak] * 3 * one.answerable))
        for one in cases
    ]
    assert fitted_to(repeated).calibration == fitted_to(cases).calibration


def test_groups_of_chunks_weigh_their_share_however_many_they_are() -> None:
    right, wrong = examples_of(searched(40, seed=20, gap=0.04), ScriptPair.NEITHER)
    ordered = sorted(wrong, key=lambda one: one.dense)
    near, far = ordered[len(wrong) // 2 :], ordered[: len(wrong) // 2]
    once = fit_groups(right, [(near, 0.9), (far, 0.1)]).model_dump()
    # Not quite the same: what holds weights back is measured against the spread of all chunks.
    again = fit_groups(right * 3, [(near, 0.9), (far * 5, 0.1), ([], 0.0)]).model_dump()
    assert again == pytest.approx(once, rel=0.05)
    assert fit_groups(right, [(near, 0.1), (far, 0.9)]).model_dump() != pytest.approx(once, rel=0.2)


def test_a_setting_that_counts_in_place_of_the_threshold_is_told() -> None:
    assert any("RAG_MIN_RELEVANCE is set to 0.3" in one for one in overridden(0.3))
    assert not list(overridden(None))


def test_a_default_that_does_no_worse_is_told() -> None:
    told = "By the model's default no more answerable questions are refused"
    good = fitted_to(searched(300, seed=17, gap=0.2), false_refusals=0.01)
    assert not any(told in one for one in good.warnings)
    # It refuses 1 % and all of the others: nothing is gained for a rate of 30 %.
    again = fitted_to(searched(100, seed=18, gap=0.2), 0.3, default=good.calibration)
    assert any(told in one for one in again.warnings)


def test_the_threshold_for_a_fold_knows_nothing_of_its_questions() -> None:
    cases = searched(60, seed=19)
    own = [place for place, number in enumerate(fold(cases).numbers) if number == 0]
    watched = next(place for place in own if cases[place].answerable)
    changed = list(cases)
    for place in set(own) - {watched}:
        # As if right chunks were the far ones: any fit that knows of these is another.
        found = tuple(
            Seen(one.signals._replace(dense=0.7), one.right) if one.right else one
            for one in cases[place].found
        )
        changed[place] = replace(cases[place], found=found)
    assert fold(changed) == fold(cases)
    default = default_calibration(HASHING).weights
    before, after = (cross_validate(some, [ScriptPair.NEITHER], default, 0.1) for some in (cases, changed))
    assert after.held[watched].right == before.held[watched].right
    assert after.threshold != before.threshold


def test_many_questions_about_one_document_are_told() -> None:
    cases = [
        AskedCase(one.key, one.answerable, ("s/only",) if one.answerable else (), one.found)
        for one in searched(60, seed=11)
    ]
    fitted = fitted_to(cases)
    assert not fitted.by_document
    assert any("same few documents" in one for one in fitted.warnings)


def test_rates_have_wilsons_interval_and_scores_are_those_of_the_books() -> None:
    found = rate([True] * 5 + [False] * 95)
    assert found
    assert (found.n, found.value) == (100, 0.05)
    assert (found.low, found.high) == (pytest.approx(0.0215, abs=1e-4), pytest.approx(0.1118, abs=1e-4))
    assert wilson_interval(5, 100) == (found.low, found.high)
    assert wilson_interval(10, 10)[1] == 1.0
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert rate([]) is None
    labels = np.array([1.0, 1.0, 0.0, 0.0])
    measured, bins = scores(np.array([0.9, 0.4, 0.6, 0.1]), labels)
    assert measured.auc == 0.75
    assert measured.brier == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4)
    assert measured.log_loss == pytest.approx(-np.log([0.9, 0.4, 0.4, 0.9]).mean())
    assert measured.calibration_error == pytest.approx((0.1 + 0.6 + 0.6 + 0.1) / 4)
    assert [one.n for one in bins] == [1, 1, 1, 1]


def test_curves_are_whole_svg_with_titles_and_named_axes() -> None:
    fitted = fitted_to(searched(60, seed=12))
    recalls = [one.recall for one in fitted.curve if one.recall is not None]
    assert recalls == sorted(recalls, reverse=True)
    assert [one.threshold for one in fitted.curve][::50] == [0.0, 0.5, 1.0]
    for svg, words in (
        (
            threshold_curve(fitted.curve, 0.5),
            {"threshold", "share of cases", "recall", "precision", "refused"},
        ),
        (reliability_diagram(fitted.reliability, 0.4), {"predicted probability", "share that is right"}),
    ):
        root = etree.fromstring(svg)
        texts = {str(one.text) for one in root.iter("{*}text")}
        assert words <= texts
        assert root.get("role") == "img"
        assert root.get("aria-label") == root.findtext("{*}title")


def test_a_file_is_read_back_and_its_page_needs_nothing_else(tmp_path: Path) -> None:
    fitted = fitted_to(searched(25, seed=13), sets=("<b>odd</b>",))
    files = write_files(fitted, tmp_path / "new" / "folder")
    assert files.calibration.name == "calibration-0123456789ab.json"
    assert read_file(files.calibration) == fitted
    page = files.page.read_text(encoding="utf-8")
    assert "&lt;b&gt;odd&lt;/b&gt;" in page
    assert "<b>odd" not in page
    assert page.count("<svg") == 2
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    rules = html.unescape(policy).split("; ")
    assert rules == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert all(warning.split(":")[0] in page for warning in fitted.warnings)
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize(
    ("written", "instead", "told"),
    [
        (r'"threshold": 0.5\n', '"threshold": 2', "calibration.threshold"),
        ('"format": 1', '"format": 2', "format"),
        ('"version": 1', '"version": 2', "calibration: .*its version is 2, and only 1 is known"),
        ('"coverage"', '"cover"', "coverage"),
        ("{", "", "the file"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_field(
    tmp_path: Path, written: str, instead: str, told: str
) -> None:
    file = write_files(fitted_to(searched(30, seed=14)), tmp_path).calibration
    text, changes = re.subn(written, instead, file.read_text(), count=1)
    assert changes
    file.write_text(text)
    with pytest.raises(BadQuestionSet, match=rf"{file.name} is no calibration: .*{told}"):
        read_file(file)


def test_weights_that_a_person_turned_around_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fitted = fitted_to(searched(30, seed=14))
    file = write_files(fitted, tmp_path).calibration
    read_file(file)
    assert not caplog.messages
    weights = {**fitted.calibration.weights, ScriptPair.BOTH: Weights(intercept=0, dense=-5, coverage=1)}
    calibration = fitted.calibration.model_copy(update={"weights": weights})
    edited = fitted.model_copy(update={"calibration": calibration})
    file.write_text(edited.model_dump_json())
    assert read_file(file) == edited
    (warning,) = caplog.messages
    told = "For questions and passages in Han characters a chunk counts for less the more"
    assert warning.startswith(f"{file}: {told}")


def test_files_are_whole_or_as_they_were(tmp_path: Path) -> None:
    one, other = (fitted_to(searched(30, seed=seed)) for seed in (14, 15))
    files = write_files(one, tmp_path)
    before = tmp_path / "before.json"
    # Whoever has it open goes on reading the file of before.
    os.link(files.calibration, before)
    write_files(other, tmp_path)
    assert read_file(files.calibration) == other
    assert read_file(before) == one
    files.page.unlink()
    files.page.mkdir()
    with pytest.raises(ConfigurationError, match="cannot be written"):
        write_files(one, tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {
        "before.json",
        files.calibration.name,
        files.page.name,
    }


ITEMS = [
    *("anvil", "basket", "candle", "drum", "easel", "fiddle", "goblet", "hammer", "inkwell", "jug", "kettle"),
    *("lantern", "mirror", "needle", "oar", "pillow", "quilt", "ruler", "saddle", "tripod", "vase", "wagon"),
]
OTHERS = [
    *("abacus", "banjo", "compass", "dagger", "elevator", "funnel", "guitar", "helmet", "iron", "jacket"),
    *("keyboard", "ladder", "magnet", "notebook", "opal", "piano", "quiver", "racket", "scarf", "telescope"),
    *("violin", "whistle"),
]


def question_set() -> NamedSet:
    cases: list[dict[str, Any]] = []
    for number, (item, other) in enumerate(zip(ITEMS, OTHERS, strict=True)):
        quote = f"The {item} goes back within {number + 5} days"
        cases += [
            {
                "id": f"return-{item}",
                "category": "answerable",
                "question": f"Within how many days goes the {item} back?",
                "groups": ["support"],
                "expect": "answered",
                "quotes": [{"document": f"rules/{item}.md", "text": quote}],
            },
            {
                "id": f"no-{other}",
                "category": "unanswerable",
                "question": f"Within how many days goes the {other} back?",
                "groups": ["support"],
                "expect": "no_evidence",
            },
        ]
    cases += [
        {
            # Asked by somebody who may not see it: nothing is found, so that it is one to refuse.
            "id": "hidden",
            "category": "unauthorized",
            "question": "Within how many days goes the anvil back?",
            "expect": "no_evidence",
            "documents": {"any": ["rules/anvil.md"]},
        },
        {
            "id": "down",
            "category": "outage",
            "question": "Within how many days goes the drum back?",
            "groups": ["support"],
            "expect": "degraded",
            "outage": "store",
        },
    ]
    return NamedSet("returns", QuestionSet.model_validate({"title": "Returns", "cases": cases}))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path_factory.mktemp("calibrating"))
    for number, item in enumerate(ITEMS):
        base.page("rules", item, sentence=f"The {item} goes back within {number + 5} days.")
    base.manifest("rules")
    base.index("rules")
    return base


@pytest.fixture(scope="module")
def fitted(base: KnowledgeBase) -> Fitted:
    return calibrate([question_set()], base.services, generation=None)


def passing(base: KnowledgeBase, item: str) -> list[str]:
    (result,) = base.retrieve([f"Within how many days goes the {item} back?"], scope_of("support"))
    return [chunk.document_id for chunk in result.chunks]


def test_cases_are_asked_as_their_askers_would_and_judged_by_their_gold(
    base: KnowledgeBase, fitted: Fitted
) -> None:
    # What is hidden from its asker is one to refuse; an outage says nothing of relevance.
    assert (fitted.answerable, fitted.unanswerable, fitted.not_found) == (22, 23, ())
    assert fitted.generation == base.collection
    assert (fitted.pairs[0].scripts, fitted.pairs[0].right_chunks) == (ScriptPair.NEITHER, 22)
    assert fitted.refusals.due
    assert fitted.default_refusals.due
    assert fitted.refusals.due.value > fitted.default_refusals.due.value


def signals_of_anvil(base: KnowledgeBase, calibration: Calibration, *queries: str) -> Signals:
    quote = Quote(document="rules/anvil.md", text="The anvil goes back within\n5days.")
    case = Case(
        id="anvil",
        category=Category.ANSWERABLE,
        question="When does the anvil go back?",
        queries=queries,
        groups=("support",),
        expect=(Outcome.ANSWERED,),
        quotes=(quote,),
    )
    (asked,) = search_cases([("s/anvil", case)], base.services, base.collection, calibration)
    # White space does not count in quotes, as it does not where questions are scored.
    (one,) = asked.right
    return one.signals


def test_the_signals_of_a_chunk_are_those_of_the_query_that_asking_would_take(base: KnowledgeBase) -> None:
    queries = ("anvil exceptions", "Within how many days goes the anvil back to the shop, wherever it went?")
    winners = []
    for weights in (
        Weights(intercept=0.0, dense=1.0, coverage=0.0),
        Weights(intercept=0.0, dense=-1.0, coverage=0.0),
    ):
        calibration = Calibration(fitted_for="test", weights=dict.fromkeys(ScriptPair, weights))
        alone = [signals_of_anvil(base, calibration, query) for query in queries]
        best = max(alone, key=calibration.relevance)
        assert signals_of_anvil(base, calibration, *queries) == best
        winners.append(alone.index(best))
    assert sorted(winners) == [0, 1]


def test_calibrating_a_knowledge_base_changes_what_passes_until_it_is_forgotten(
    base: KnowledgeBase, fitted: Fitted, tmp_path: Path
) -> None:
    by_default = passing(base, "kettle"), passing(base, "umbrella")
    assert by_default[1]

    file = store(fitted, base.services, tmp_path).calibration
    assert passing(base, "kettle") == ["rules/kettle.md"]
    assert not passing(base, "umbrella")
    stored = base.services.ledger.calibrations.of(fitted.fingerprint)
    assert stored
    assert stored.questions == 45

    assert forget(fitted.fingerprint, base.services)
    assert (passing(base, "kettle"), passing(base, "umbrella")) == by_default
    assert not forget(fitted.fingerprint, base.services)

    apply(read_file(file), base.services)
    assert not passing(base, "umbrella")
    forget(fitted.fingerprint, base.services)


def test_a_file_of_another_fingerprint_is_not_applied(base: KnowledgeBase) -> None:
    with pytest.raises(ConfigurationError, match="fitted for the fingerprint 0123456789abcdef, and no"):
        apply(fitted_to(searched(30, seed=15)), base.services)


def test_a_file_holds_no_words_of_documents_or_questions(fitted: Fitted, tmp_path: Path) -> None:
    for file in write_files(fitted, tmp_path):
        text = file.read_text(encoding="utf-8")
        assert "goes back" not in text
        assert "Within how many" not in text


def test_what_cannot_be_calibrated_is_refused_with_a_reason(base: KnowledgeBase, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no generation nobody"):
        calibrate([question_set()], base.services, generation="nobody")
    with pytest.raises(ConfigurationError, match="Nothing is indexed"):
        calibrate([question_set()], KnowledgeBase(tmp_path).services, generation=None)
    with pytest.raises(ConfigurationError, match="between 0 and 1"):
        calibrate([question_set()], base.services, generation=None, false_refusals=5)
