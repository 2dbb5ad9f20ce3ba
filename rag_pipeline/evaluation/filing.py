"""An evaluation as a deployment runs it: by its own sets and gates, with a report kept beside the tables."""

import logging
from collections.abc import Sequence
from pathlib import Path

from upath import UPath

from rag_pipeline.evaluation.asking_cases import OnCase
from rag_pipeline.evaluation.evaluating import EvaluationOptions, evaluate
from rag_pipeline.evaluation.gates import load_gates
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.report.html import html_report
from rag_pipeline.evaluation.result import Evaluation
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)


def report_file(services: Services, evaluation: Evaluation) -> UPath:
    """Where the newest report on a generation is kept."""
    return services.evaluation_pages / f"{evaluation.generation}.html"


def evaluate_and_file(
    services: Services,
    sets: Sequence[NamedSet],
    *,
    generation: str | None = None,
    options: EvaluationOptions | None = None,
    on_case: OnCase = lambda: None,
) -> Evaluation:
    """Evaluate by the deployment's gates, and keep the report in the place of the generation's last one.

    Raises what `evaluate` does, and BadQuestionSet where the gates cannot be used.
    """
    gates = load_gates(services.settings.evaluations_folder)
    evaluation = evaluate(
        sets,
        services,
        gates,
        generation=generation,
        options=options or EvaluationOptions(),
        on_case=on_case,
    )
    file = report_file(services, evaluation)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_page(evaluation, file)
    except OSError as error:
        # What was found is stored and told all the same.
        logger.warning("The report cannot be written to %s: %s", file, error)
    return evaluation


def write_page(evaluation: Evaluation, file: Path | UPath) -> None:
    """Write the report of an evaluation, for this user alone: not everybody may read its passages."""
    if isinstance(file, Path):
        file.touch(mode=0o600)
    file.write_text(html_report(evaluation), encoding="utf-8")
