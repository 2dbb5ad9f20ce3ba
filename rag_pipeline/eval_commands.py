"""Commands that judge answers: question sets and their gates, gold that stands, where a case was lost."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rag_pipeline.errors import BadQuestionSet, ConfigurationError
from rag_pipeline.settings import load_settings

if TYPE_CHECKING:
    from rag_pipeline.evaluation.asking_cases import OnCase
    from rag_pipeline.evaluation.result import Evaluation

GATES_BROKEN = 1


class _RunsUnlessTold(TyperGroup):
    """`eval` alone, or with names of sets, is `eval run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h")):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunsUnlessTold,
    help="Ask question sets and hold the gates against the answers. Exit code 0: the gates hold; 1: one is "
    "broken, or the store or an endpoint fails; 2: a set or an argument cannot be used. `eval [SET…]` is "
    "`eval run [SET…]`.",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Sets = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SET]…", help="Names in manifests/evaluations/, or files; all if none is given."),
]
Against = Annotated[str, typer.Option(help="The generation to ask: live, or a name.")]


def _generation(against: str) -> str | None:
    return None if against == "live" else against


@app.command()
def run(
    sets: Sets = None,
    against: Against = "live",
    baseline: Annotated[
        Path | None,
        typer.Option(help="Compare with this evaluation, as --json printed it."),
    ] = None,
    as_json: AsJson = False,
    html: Annotated[Path | None, typer.Option(help="Write the report to this file, as one page.")] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the results to this file, as JSONL with Ragas' columns.")
    ] = None,
    lifecycle: Annotated[
        bool, typer.Option(help="Run the lifecycle cases, which index documents on a scratch collection.")
    ] = True,
) -> None:
    """Ask question sets, and say which gates hold and what changed since the last time."""
    from rag_pipeline.evaluation.evaluating import EvaluationOptions
    from rag_pipeline.evaluation.exporting import export_results
    from rag_pipeline.evaluation.filing import evaluate_and_file, write_page
    from rag_pipeline.evaluation.question_sets import load_sets
    from rag_pipeline.services import Services

    settings = load_settings()
    named = load_sets(settings.evaluations_folder, sets or [])
    options = EvaluationOptions(lifecycle=lifecycle, baseline=_read(baseline) if baseline else None)
    for file in (html, export):
        if file and not file.absolute().parent.is_dir():
            raise ConfigurationError(f"{file} cannot be written: there is no folder {file.parent}.")
        if file and file.is_dir():
            raise ConfigurationError(f"{file} cannot be written: it is a folder.")
    with Services(settings) as services:
        evaluation = evaluate_and_file(
            services,
            named,
            generation=_generation(against),
            options=options,
            on_case=_counting(sum(len(one.questions.cases) for one in named)),
        )
    if as_json:
        sys.stdout.write(evaluation.model_dump_json(indent=2) + "\n")
    else:
        from rag_pipeline.evaluation_views import show_evaluation

        show_evaluation(evaluation)
    if export:
        export_results(evaluation, named, export)
    if html:
        try:
            write_page(evaluation, html)
        except OSError as error:
            raise ConfigurationError(f"{html} cannot be written: {error.strerror}.") from None
    if not evaluation.passed:
        raise typer.Exit(GATES_BROKEN)


@app.command()
def check(sets: Sets = None, against: Against = "live", as_json: AsJson = False) -> None:
    """Prove that every quote still stands in its document; name the cases that a change made invalid."""
    from dataclasses import asdict

    from rag_pipeline.console import print_json
    from rag_pipeline.evaluation.gold import stale_gold
    from rag_pipeline.evaluation.question_sets import load_sets
    from rag_pipeline.services import Services

    settings = load_settings()
    named = load_sets(settings.evaluations_folder, sets or [])
    with Services(settings) as services:
        stale = stale_gold(named, services, _generation(against))
    if as_json:
        print_json({"stale": [asdict(one) for one in stale]})
    else:
        for one in stale:
            sys.stdout.write(f"{one}\n")
        cases = sum(len(one.questions.cases) + len(one.questions.lifecycle) for one in named)
        sys.stdout.write(
            f"{len({(one.set_name, one.case_id) for one in stale})} of {cases} cases are invalid.\n"
        )
    if stale:
        raise typer.Exit(GATES_BROKEN)


@app.command()
def explain(
    case: Annotated[str, typer.Argument(metavar="[SET/]CASE", help="The case, by its id.")],
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Look for it in this set, by name or file; else in all.")
    ] = None,
    against: Against = "live",
    as_json: AsJson = False,
) -> None:
    """Walk from the source to the citation, and say at which step the right passage was lost."""
    from rag_pipeline.console import print_json
    from rag_pipeline.evaluation.explaining import explain as explained
    from rag_pipeline.evaluation.question_sets import find_case, load_sets
    from rag_pipeline.services import Services

    settings = load_settings()
    found = find_case(load_sets(settings.evaluations_folder, sets or []), case)
    with Services(settings) as services:
        explanations = explained(found, services, _generation(against))
    if as_json:
        print_json({"case": found.id, "explanations": [one.to_json() for one in explanations]})
    else:
        from rag_pipeline.trace_views import show_explanations

        show_explanations(found, explanations)


@app.command()
def calibrate(
    sets: Sets = None,
    against: Against = "live",
    false_refusals: Annotated[
        float, typer.Option(help="The share of answerable questions that the threshold may refuse.")
    ] = 0.05,
    apply: Annotated[bool, typer.Option("--apply", help="Let it count for the generation at once.")] = False,
    output: Annotated[Path, typer.Option(help="The folder for the file and its curves.")] = Path(),
    file: Annotated[
        Path | None, typer.Option(help="Fit nothing: let this file count, as a person has reviewed it.")
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Fit nothing: let the model's default count again.")
    ] = False,
) -> None:
    """Fit relevance and its threshold to question sets, and write both for a person to review."""
    from rag_pipeline.evaluation.asked_generation import asked_generation
    from rag_pipeline.evaluation.calibrating import files
    from rag_pipeline.evaluation.calibrating.calibrate import calibrate as fit
    from rag_pipeline.evaluation.question_sets import load_sets
    from rag_pipeline.evaluation_views import show_fitted
    from rag_pipeline.services import Services

    if forget and file:
        raise ConfigurationError("Say --forget or --file, not both.")
    if sets and (forget or file):
        raise ConfigurationError("--forget and --file fit nothing, and take no set.")
    settings = load_settings()
    with Services(settings) as services:
        if forget:
            fingerprint = asked_generation(services, _generation(against)).fingerprint
            had = files.forget(fingerprint, services)
            sys.stdout.write("The model's default counts again.\n" if had else "None was stored.\n")
            return
        if file:
            fitted = files.read_file(file)
            files.apply(fitted, services)
            sys.stdout.write(f"{file} counts for generations of {fitted.fingerprint[:12]}.\n")
            return
        fitted = fit(
            load_sets(settings.evaluations_folder, sets or []),
            services,
            generation=_generation(against),
            false_refusals=false_refusals,
        )
        written = files.write_files(fitted, output)
        if apply:
            files.apply(fitted, services)
    show_fitted(fitted)
    sys.stdout.write(f"Written: {written.calibration} and {written.page}\n")
    sys.stdout.write("It counts now.\n" if apply else "It does not count yet: --apply, or --file, lets it.\n")


@app.command("import")
def import_questions(
    file: Annotated[Path, typer.Argument(help="SQuAD JSON, or CSV or JSONL with Ragas' columns.")],
    name: Annotated[str, typer.Option(help="The new set's name in manifests/evaluations/.")],
    groups: Annotated[str, typer.Option(help="The access groups that ask, with commas between.")] = "",
    source: Annotated[
        str | None, typer.Option(help="SQuAD: the id of the source that its paragraphs become.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="SQuAD: a new folder for the paragraphs, for a manifest to point at.")
    ] = None,
) -> None:
    """Make a question set of other people's questions; of SQuAD's, its paragraphs as documents too."""
    from rag_pipeline.evaluation.importing.imported import write_imported, write_set
    from rag_pipeline.evaluation.importing.ragas import read_ragas
    from rag_pipeline.evaluation.importing.squad import read_squad
    from rag_pipeline.evaluation.indexed_texts import indexed_texts
    from rag_pipeline.evaluation.question_sets import GATES_FILE
    from rag_pipeline.services import Services

    settings = load_settings()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ConfigurationError(f"A set cannot be called {name!r}: use letters, digits, - and _.")
    if name in {Path(GATES_FILE).stem, *_names_of_commands()}:
        raise ConfigurationError(f"A set cannot be called {name}: a command or the file of the gates is.")
    set_file = settings.evaluations_folder / f"{name}.yaml"
    asking = [one.strip() for one in groups.split(",") if one.strip()]
    if file.suffix.lower() == ".json":
        if source is None or documents is None:
            raise BadQuestionSet("SQuAD's paragraphs become a source: say --source and --documents.")
        imported = read_squad(file, source_id=source, title=name, groups=asking)
        write_imported(imported, set_file=set_file, folder=documents)
        sys.stdout.write(
            f"{len(imported.documents)} documents are in {documents}: write a manifest of {source} for them, "
            "then `rag-pipeline index`.\n"
        )
        cases = len(imported.questions.cases)
    else:
        if source or documents:
            raise BadQuestionSet(
                "--source and --documents are for SQuAD's paragraphs; Ragas' contexts are looked up in what "
                "is indexed."
            )
        with Services(settings) as services:
            rows = read_ragas(file, indexed_texts(services), title=name, groups=asking)
        write_set(rows.questions, set_file)
        for note in rows.notes:
            sys.stdout.write(f"{note}\n")
        for one in rows.unplaced:
            sys.stdout.write(f"{one.place}: context {one.context} {one.reason}: {one.beginning}\n")
        cases = len(rows.questions.cases)
    sys.stdout.write(f"{cases} cases are in {set_file}.\n")


def _names_of_commands() -> set[str]:
    return {str(one.name or one.callback.__name__) for one in app.registered_commands if one.callback}


def _read(file: Path) -> "Evaluation":
    from pydantic import ValidationError

    from rag_pipeline.evaluation.result import Evaluation

    try:
        return Evaluation.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadQuestionSet(f"The baseline {file} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        raise BadQuestionSet(
            f"The baseline {file} is no evaluation as `eval --json` prints it: {error.error_count()} fields "
            "are wrong."
        ) from None


def _counting(cases: int) -> "OnCase":
    """Counts the cases on a terminal's standard error."""
    done = 0

    def on_case() -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            end = "\n" if done == cases else ""
            sys.stderr.write(f"\r{done} of {cases} cases asked{end}")

    return on_case
