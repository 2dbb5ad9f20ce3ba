"""An evaluation as a deployment runs it: by its own sets and gates, with a report kept beside the tables."""

from collections.abc import Sequence

from upath import UPath

from rag_pipeline.evaluation.asking_cases import OnCase
from rag_pipeline.evaluation.evaluating import EvaluationOptions, evaluate
from rag_pipeline.evaluation.gates import load_gates
from rag_pipeline.evaluation.question_sets import load_sets
from rag_pipeline.evaluation.report.html import html_report
from rag_pipeline.evaluation.result import Evaluation
from rag_pipeline.services import Services


def report_file(services: Services) -> UPath:
    """Where the newest report of the alias is kept."""
    return services.evaluation_pages / f"{services.settings.alias}.html"


def evaluate_and_file(
    services: Services,
    names: Sequence[str] = (),
    *,
    generation: str | None = None,
    options: EvaluationOptions | None = None,
    on_case: OnCase = lambda: None,
) -> Evaluation:
    """Evaluate by the named sets, or by all of the deployment's, and keep the report in the last one's place.

    Raises BadQuestionSet where a set or the gates cannot be used, ConfigurationError without a generation.
    """
    folder = services.settings.evaluations_folder
    evaluation = evaluate(
        load_sets(folder, names),
        services,
        load_gates(folder),
        generation=generation,
        options=options or EvaluationOptions(),
        on_case=on_case,
    )
    file = report_file(services)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(html_report(evaluation), encoding="utf-8")
    return evaluation
