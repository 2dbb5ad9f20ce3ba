"""What a set of questions is too small, or too odd, to say of a calibration."""

from collections.abc import Iterator, Mapping, Sequence

from rag_pipeline.evaluation.calibrating.fitted import Origin, PairFigures, Refusals
from rag_pipeline.evaluation.calibrating.pairs import LEAST_EXAMPLES
from rag_pipeline.evaluation.calibrating.thresholds import SAME_SCRIPT
from rag_pipeline.query.relevance.calibration import Weights
from rag_pipeline.query.relevance.signals import ScriptPair

_LEAST_CASES = 30
_DOUBTFUL_AUC = 0.8

SCRIPTS_IN_WORDS: Mapping[ScriptPair, str] = {
    ScriptPair.NEITHER: "questions and passages in other scripts than Han",
    ScriptPair.BOTH: "questions and passages in Han characters",
    ScriptPair.QUERY: "questions in Han characters on passages in other scripts",
    ScriptPair.CHUNK: "questions in other scripts on passages in Han characters",
}


def overridden(min_relevance: float | None) -> Iterator[str]:
    """The warning where a setting counts in place of every threshold."""
    if min_relevance is not None:
        yield (
            f"RAG_MIN_RELEVANCE is set to {min_relevance:g} and counts in place of the threshold. Unset it "
            "to have the rate of false refusals that was fitted."
        )


def backwards(weights: Mapping[ScriptPair, Weights]) -> Iterator[str]:
    """The warnings of weights by which a chunk counts for less the more it is like the question."""
    for scripts, one in weights.items():
        # Across scripts few terms are shared, and what their weight is hardly matters.
        if one.dense + one.lift < 0 or (scripts in SAME_SCRIPT and one.coverage < 0):
            yield (
                f"For {SCRIPTS_IN_WORDS[scripts]} a chunk counts for less the more it is like the question, "
                "which is hardly true of other questions. Look at the quotes of the cases."
            )


def doubts(
    pairs: Sequence[PairFigures],
    weights: Mapping[ScriptPair, Weights],
    refusals: Refusals,
    by_default: Refusals,
    *,
    wanted: float,
    auc: float,
    not_found: int,
    by_document: bool,
) -> Iterator[str]:
    """The warnings, in words."""
    for one in pairs:
        yield from _of_pair(one, weights[one.scripts])
    if (false := refusals.false) and false.high - false.low > 2 * wanted:
        yield (
            f"{false.n} answerable questions are too few for a rate of {wanted:.1%}: it may be anything from "
            f"{false.low:.1%} to {false.high:.1%}."
        )
    if _no_worse(by_default, refusals):
        yield (
            "By the model's default no more answerable questions are refused, and no fewer others: keep it, "
            "or fit again for another rate of false refusals."
        )
    if auc < _DOUBTFUL_AUC:
        yield (
            f"The signals hardly tell right chunks from wrong ones: AUC {auc:.2f}, where 0.5 is chance. Look "
            "at the quotes of the cases, or at the embedding model."
        )
    if not_found:
        yield (
            f"{not_found} answerable questions find none of their passages, whatever the threshold. They are "
            "left out of the rate of false refusals, and listed as not found."
        )
    if not by_document:
        yield (
            "Most questions are about the same few documents, so that a document's questions were fitted and "
            "measured: on other documents expect somewhat worse figures."
        )


def _no_worse(one: Refusals, other: Refusals) -> bool:
    """Whether one refuses no more that has an answer, and no less that has none."""
    return bool(
        one.false
        and other.false
        and one.due
        and other.due
        and one.false.value <= other.false.value
        and one.due.value >= other.due.value
    )


def _of_pair(figures: PairFigures, weights: Weights) -> Iterator[str]:
    words = SCRIPTS_IN_WORDS[figures.scripts]
    if figures.weights is Origin.DEFAULT:
        if figures.right_chunks or figures.wrong_chunks:
            yield (
                f"For {words} the model's default weights are kept: {figures.right_chunks} right and "
                f"{figures.wrong_chunks} wrong chunks are too few to fit, it takes {LEAST_EXAMPLES} of each."
            )
        return
    if min(figures.answerable, figures.unanswerable) < _LEAST_CASES:
        yield (
            f"For {words} there are {figures.answerable} answerable and {figures.unanswerable} unanswerable "
            f"questions: too few to say how well it works, it takes {_LEAST_CASES} of each."
        )
    yield from backwards({figures.scripts: weights})
