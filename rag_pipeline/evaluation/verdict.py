"""Whether a passage came as far as its case wants: to a citation, or not even into the evidence."""

from dataclasses import dataclass

from rag_pipeline.evaluation.case import Case, Category
from rag_pipeline.evaluation.explanation import Explanation, StepName
from rag_pipeline.query.trace import Outcome

_CAME_TO = {
    StepName.CITATION: "cited",
    StepName.EVIDENCE: "among the evidence",
    StepName.FILTER: "for the asker to find",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the way of a passage ended as it should, and how; None: the case says nothing of it.

    `stop` is what happened at its last step, in a word.
    """

    right: bool | None
    how: str
    stop: str = "stopped"


def verdict_of(case: Case, explanation: Explanation) -> Verdict:
    """What the way of a passage means for its case.

    What must stay hidden is withheld by the filter, and by nothing later. Of what must be refused nothing
    becomes evidence or, where too little evidence is right as well, nothing is cited.
    """
    lost = explanation.lost_at
    ended = f"lost at: {lost.name}" if lost else "cited"
    hidden = case.category is Category.UNAUTHORIZED and explanation.document in case.documents.ids
    if not hidden and not case.refusal:
        if case.category is Category.UNAUTHORIZED and explanation.quote is None:
            return Verdict(None, ended)
        return Verdict(lost is None, ended, "LOST")
    if case.outage or all(one.name is not StepName.FILTER for one in explanation.steps):
        # It is no outage that is played here, and what is not in the store is not withheld either.
        return Verdict(None, ended)
    held = {one.name for one in explanation.steps if one.held}
    too_far = next((one for one in _too_far(case, hidden=hidden) if one in held), None)
    if too_far:
        wanted = "it must stay hidden" if hidden else "the question must be refused"
        return Verdict(False, f"{_CAME_TO[too_far]}, though {wanted}", "TOO LATE")
    withheld = lost is not None and lost.name is StepName.FILTER
    return Verdict(True, "rightly withheld" if withheld else "rightly refused")


def _too_far(case: Case, *, hidden: bool) -> tuple[StepName, ...]:
    """The steps that a passage must not come through, the last one first."""
    if hidden:
        return StepName.CITATION, StepName.EVIDENCE, StepName.FILTER
    if Outcome.INSUFFICIENT in case.expect:
        return (StepName.CITATION,)
    return StepName.CITATION, StepName.EVIDENCE
