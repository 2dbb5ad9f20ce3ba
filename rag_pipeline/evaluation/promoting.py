"""The gate between a built generation and its readers: the question sets, asked of it and of live."""

import logging

from rag_pipeline.evaluation.evaluating import EvaluationOptions
from rag_pipeline.evaluation.filing import evaluate_and_file, report_file
from rag_pipeline.evaluation.gates import load_gates
from rag_pipeline.evaluation.question_sets import has_sets, load_sets
from rag_pipeline.evaluation.result import Evaluation, GateResult, Severity
from rag_pipeline.ledger.generations import Generation
from rag_pipeline.rebuilding import EvaluationGate
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)

_CASES_SHOWN = 10


def promotion_gate(services: Services) -> EvaluationGate:
    """What asks the question sets of a generation, and says why it is not good enough.

    They are read at once, before hours are spent on a build: raises BadQuestionSet where one cannot be used.
    """
    folder = services.settings.evaluations_folder
    sets = [one for one in load_sets(folder) if one.questions.cases] if has_sets(folder) else []
    load_gates(folder)

    def reasons(generation: Generation) -> list[str]:
        if not sets:
            logger.warning("There is no question in %s, so %s is not evaluated.", folder, generation.name)
            return []
        # Lifecycle cases try the indexing, on a scratch collection: they say nothing of this generation.
        options = EvaluationOptions(lifecycle=False)
        found = evaluate_and_file(services, sets, generation=generation.name, options=options)
        logger.info("The cases that changed, both ways, are in %s", report_file(services, found))
        return broken_gates(found)

    return reasons


def broken_gates(evaluation: Evaluation) -> list[str]:
    """Why an evaluation does not pass, a sentence a gate; nothing if it does. Warnings are logged."""
    for gate in evaluation.gates:
        if not gate.passed and gate.severity is Severity.WARN:
            logger.warning("%s", _in_words(gate))
    return [
        _in_words(gate) for gate in evaluation.gates if not gate.passed and gate.severity is Severity.ERROR
    ]


def _in_words(gate: GateResult) -> str:
    shown = ", ".join(gate.cases[:_CASES_SHOWN])
    more = f" and {len(gate.cases) - _CASES_SHOWN} more" if len(gate.cases) > _CASES_SHOWN else ""
    return f"gate {gate.name}: {gate.message}" + (f" ({shown}{more})" if shown else "")
