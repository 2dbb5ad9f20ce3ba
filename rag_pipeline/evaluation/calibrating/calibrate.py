"""Fitting a calibration to question sets, and judging it by cases that were not fitted."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from rag_pipeline.errors import BadQuestionSet, ConfigurationError
from rag_pipeline.evaluation.asked_generation import asked_generation
from rag_pipeline.evaluation.calibrating.doubts import SCRIPTS_IN_WORDS, doubts, overridden
from rag_pipeline.evaluation.calibrating.examples import AskedCase, examples_of
from rag_pipeline.evaluation.calibrating.fitted import CurvePoint, Fitted, Origin, PairFigures, Refusals
from rag_pipeline.evaluation.calibrating.pairs import LEAST_EXAMPLES, Fit, fit_pairs, pairs_with_enough
from rag_pipeline.evaluation.calibrating.proportions import rate, scores
from rag_pipeline.evaluation.calibrating.regression import moved, rounded
from rag_pipeline.evaluation.calibrating.searching_cases import search_cases, usable_cases
from rag_pipeline.evaluation.calibrating.thresholds import SAME_SCRIPT, Held, cross_validate
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.query.relevance.calibration import Calibration, Weights
from rag_pipeline.query.relevance.defaults import default_calibration
from rag_pipeline.query.relevance.signals import ScriptPair
from rag_pipeline.services import Services

# Where every calibration has its threshold, so that RAG_MIN_RELEVANCE means the same with each.
_THRESHOLD = 0.5
_STEPS = 100
# More digits than the cases can tell, and few enough for a person to read.
_DIGITS = 3


def calibrate(
    sets: Sequence[NamedSet], services: Services, *, generation: str | None, false_refusals: float = 0.05
) -> Fitted:
    """Fit relevance to question sets, for a generation or else the live one; nothing is stored.

    `false_refusals` is the share of answerable questions that the threshold may refuse. Raises
    BadQuestionSet where the sets have too few cases, ConfigurationError where there is no such generation,
    and what searching raises.
    """
    if not 0 < false_refusals < 1:
        raise ConfigurationError(f"A rate of false refusals lies between 0 and 1: {false_refusals} does not.")
    chosen = asked_generation(services, generation)
    default = default_calibration(chosen.settings["model"])
    cases = search_cases(usable_cases(sets), services, chosen.name, default)
    model = services.embedder_of(chosen.settings["model"]).identity.key
    fitted = fit_cases(
        cases,
        default,
        fingerprint=chosen.fingerprint,
        generation=chosen.name,
        embedding_model=model,
        sets=tuple(one.name for one in sets),
        false_refusals=false_refusals,
    )
    warnings = (*fitted.warnings, *overridden(services.settings.min_relevance))
    return fitted.model_copy(update={"warnings": warnings})


def fit_cases(
    cases: Sequence[AskedCase],
    default: Calibration,
    *,
    fingerprint: str,
    generation: str,
    embedding_model: str,
    sets: tuple[str, ...],
    false_refusals: float,
) -> Fitted:
    """Fit relevance to cases that were searched. Raises BadQuestionSet where there are too few."""
    pairs = pairs_with_enough(cases)
    if not pairs:
        raise BadQuestionSet(_too_few(cases))
    own_threshold = _logit(default.threshold)
    kept = {pair: moved(weights, -own_threshold) for pair, weights in default.weights.items()}
    expected = cross_validate(cases, pairs, kept, false_refusals)
    fit = fit_pairs(cases, pairs, kept)
    weights = {**fit.kept, **{pair: moved(one, -expected.threshold) for pair, one in fit.fitted.items()}}
    calibration = Calibration(
        fitted_for=fingerprint,
        weights={pair: rounded(weights[pair], _DIGITS) for pair in ScriptPair},
        threshold=_THRESHOLD,
    )
    measured, reliability = scores(expected.probabilities, expected.labels)
    figures = tuple(_figures(pair, cases, expected.held, fit) for pair in ScriptPair)
    refusals, by_default = _headline(expected.held), _headline(_held_by(kept, cases))
    not_found = tuple(one.key for one in cases if one.answerable and not one.right)
    return Fitted(
        calibration=calibration,
        generation=generation,
        embedding_model=embedding_model,
        fitted_at=datetime.now(UTC),
        sets=sets,
        answerable=sum(one.answerable for one in cases),
        unanswerable=sum(not one.answerable for one in cases),
        not_found=not_found,
        by_document=expected.by_document,
        wanted_false_refusals=false_refusals,
        refusals=refusals,
        default_refusals=by_default,
        scores=measured,
        moved=-expected.threshold,
        pairs=figures,
        warnings=tuple(
            doubts(
                figures,
                weights,
                refusals,
                by_default,
                wanted=false_refusals,
                auc=measured.auc,
                not_found=len(not_found),
                by_document=expected.by_document,
            )
        ),
        curve=_curve(expected.held),
        reliability=reliability,
    )


def _too_few(cases: Sequence[AskedCase]) -> str:
    counted = {pair: [len(some) for some in examples_of(cases, pair)] for pair in ScriptPair}
    there = "; ".join(
        f"{SCRIPTS_IN_WORDS[pair]}: {right} right and {wrong} wrong chunks"
        for pair, (right, wrong) in counted.items()
        if right or wrong
    )
    return (
        f"The question sets are too small to fit anything: it takes {LEAST_EXAMPLES} right and "
        f"{LEAST_EXAMPLES} wrong chunks, and there are {there or 'none'}. Write more answerable and "
        "unanswerable cases; until then the model's default counts."
    )


def _held_by(weights: Mapping[ScriptPair, Weights], cases: Sequence[AskedCase]) -> list[Held]:
    fit = Fit({}, weights)
    return [Held(one, fit.margins(one.right).above(0), fit.margins(one.found).above(0)) for one in cases]


def _headline(held: Sequence[Held]) -> Refusals:
    """What is wanted is so of questions in the script of their documents: `false` is of these."""
    in_one_script = [one for one in held if one.case.scripts in SAME_SCRIPT and one.case.answerable]
    return Refusals(false=_refusals(in_one_script or held).false, due=_refusals(held).due)


def _refusals(held: Iterable[Held]) -> Refusals:
    chosen = list(held)
    return Refusals(
        false=rate(one.right < 0 for one in chosen if one.case.answerable and one.case.right),
        due=rate(one.found < 0 for one in chosen if not one.case.answerable),
    )


def _figures(scripts: ScriptPair, cases: Sequence[AskedCase], held: Iterable[Held], fit: Fit) -> PairFigures:
    right, wrong = examples_of(cases, scripts)
    own = [one for one in held if one.case.scripts is scripts]
    return PairFigures(
        scripts=scripts,
        weights=Origin.FITTED if scripts in fit.fitted else Origin.DEFAULT,
        right_chunks=len(right),
        wrong_chunks=len(wrong),
        answerable=sum(one.case.answerable for one in own),
        unanswerable=sum(not one.case.answerable for one in own),
        refusals=_refusals(own),
    )


def _curve(held: Sequence[Held]) -> tuple[CurvePoint, ...]:
    answerable = np.array([one.case.answerable for one in held])
    right = np.array([_relevance(one.right) for one in held])
    found = np.array([_relevance(one.found) for one in held])
    points: list[CurvePoint] = []
    for step in range(_STEPS + 1):
        threshold = step / _STEPS
        passes, passes_rightly = found >= threshold, answerable & (right >= threshold)
        points.append(
            CurvePoint(
                threshold=threshold,
                recall=_share(passes_rightly.sum(), answerable.sum()),
                precision=_share(passes_rightly.sum(), passes.sum()),
                refused=_share((~passes & ~answerable).sum(), (~answerable).sum()),
            )
        )
    return tuple(points)


def _relevance(margin: float) -> float:
    """What a chunk's relevance is with the threshold at one half; below 0 where there is no chunk."""
    return -1.0 if margin == -math.inf else 1 / (1 + math.exp(-max(-700.0, min(700.0, margin))))


def _share(part: np.integer, whole: np.integer) -> float | None:
    return float(part / whole) if whole else None


def _logit(probability: float) -> float:
    inside = min(1 - 1e-9, max(1e-9, probability))
    return math.log(inside / (1 - inside))
