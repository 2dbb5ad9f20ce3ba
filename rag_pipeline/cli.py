"""The command line: `rag-pipeline …`. Results go to standard output, everything else to standard error."""

import json
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from rag_pipeline import ask_commands, eval_commands, generation_commands, trace_commands
from rag_pipeline.errors import ConfigurationError, RagPipelineError
from rag_pipeline.settings import Settings, described, load_settings

NOT_RECONCILED, BAD_CONFIGURATION, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="rag-pipeline",
    help="Build and keep a RAG knowledge base in Qdrant whose every answer can be traced to its source.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
manifests_app = typer.Typer(help="Check source manifests, or print their schema.", no_args_is_help=True)
letters_app = typer.Typer(help="What failed, why, and trying it again.", invoke_without_command=True)
app.add_typer(ask_commands.app)
app.add_typer(generation_commands.app)
app.add_typer(trace_commands.app)
app.add_typer(eval_commands.app, name="eval")
app.add_typer(manifests_app, name="manifests")
app.add_typer(letters_app, name="dead-letters")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def main() -> None:
    """Entry point: errors of ours end with their sentence and exit code, never with a stack trace."""
    _log_to_stderr()
    try:
        app()
    except ConfigurationError as error:
        _end(error, BAD_CONFIGURATION)
    except RagPipelineError as error:
        _end(error, NOT_RECONCILED)


def _log_to_stderr() -> None:
    # On our own logger rather than the root: during a run Dagster hangs its handler there too, and rewrites
    # each record with the run's name before the root sees it.
    ours = logging.getLogger("rag_pipeline")
    ours.setLevel(logging.INFO)
    ours.handlers = [logging.StreamHandler(sys.stderr)]
    ours.propagate = False


def _end(error: Exception, code: int) -> NoReturn:
    sys.stderr.write(f"rag-pipeline: {error}\n")
    raise SystemExit(code)


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


@app.command()
def index(
    sources: Annotated[list[str] | None, typer.Argument(help="Source ids; all if none is given.")] = None,
    as_json: AsJson = False,
    strict: Annotated[bool, typer.Option(help="Dead letters make the command fail.")] = False,
) -> None:
    """Index sources and account for every chunk.

    Exit code 0: reconciled; 1: not reconciled, or a source failed; 2: a setting or argument is wrong;
    130: interrupted.
    """
    from rag_pipeline.indexing import index_sources, outcome_json

    try:
        with _progress(live=sys.stderr.isatty()) as progress:
            outcome = index_sources(load_settings(), sources or [], progress)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted. What was finished is kept; run again to complete it.\n")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        _print_json(outcome_json(outcome))
    else:
        from rag_pipeline.console import show_reports, show_withheld

        show_reports(outcome.reports, outcome.errors)
        show_withheld(outcome.withheld)
    if not outcome.reconciled or (strict and outcome.dead_letters):
        raise typer.Exit(NOT_RECONCILED)


@contextmanager
def _progress(*, live: bool) -> Iterator[Any]:
    if live:
        from rag_pipeline.console import LiveProgress

        with LiveProgress() as progress:
            yield progress
    else:
        from rag_pipeline.progress import LoggedProgress

        yield LoggedProgress()


@app.command()
def status(as_json: AsJson = False) -> None:
    """Which generation is live and how each source stands."""
    from rag_pipeline.catalogue import Catalogue
    from rag_pipeline.services import Services

    services = Services(load_settings())
    found = Catalogue(services).manifests()
    ledger, alias = services.ledger, services.settings.alias
    live = ledger.generations.live(alias)
    recorded = ledger.reconciliations.of_generation(live.name) if live else {}
    letters = ledger.dead_letters.counted()
    withheld = {one: kept for one, kept in ledger.withheld.all().items() if not kept.approved}
    if as_json:
        _print_json(
            {
                "alias": alias,
                "generation": live.name if live else None,
                "sources": {
                    source_id: {
                        "indexed_at": recorded[source_id].finished_at.isoformat(),
                        "dead_letters": letters.get(source_id, 0),
                        **recorded[source_id].report,
                    }
                    if source_id in recorded
                    else None
                    for source_id in sorted(found.manifests.keys() | recorded.keys())
                },
                "withheld": {source_id: list(kept.document_ids) for source_id, kept in withheld.items()},
            }
        )
        return
    from rag_pipeline.console import show_status, show_withheld

    show_status(
        alias=alias,
        generation=live.name if live else None,
        sources=sorted(found.manifests.keys() | recorded.keys()),
        without_manifest=recorded.keys() - found.manifests.keys(),
        recorded=recorded,
        dead_letters=letters,
    )
    show_withheld(withheld)


@app.command()
def retrieve(
    queries: Annotated[
        list[str], typer.Option("--query", "-q", help="A question; may be given several times.")
    ],
    groups: Annotated[
        str, typer.Option(help="Your access groups, with commas between. None: public documents only.")
    ] = "",
    user: Annotated[str | None, typer.Option(help="Who you are.")] = None,
    tenant: Annotated[str, typer.Option(help="Your tenant.")] = "default",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Passages a question.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search the live generation by dense vectors and BM25, under your groups' access, as of now."""
    from rag_pipeline.query import Identity
    from rag_pipeline.query.results import public_json
    from rag_pipeline.query.retrieving import retrieve_for
    from rag_pipeline.services import Services

    named = frozenset(group.strip() for group in groups.split(",") if group.strip())
    if not named:
        sys.stderr.write("No --groups given: only public documents are searched.\n")
    with Services(load_settings()) as services:
        results = retrieve_for(Identity(user, named, tenant), queries, services, limit=limit)
        titles = {source_id: manifest.title for source_id, manifest in services.manifests().items()}
    if as_json:
        _print_json(public_json(results, titles))
    else:
        from rag_pipeline.console import show_results

        show_results(results)


@app.command()
def normalize(
    files: Annotated[
        list[Path], typer.Argument(help="Files of any supported format.", exists=True, dir_okay=False)
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the Markdown: DIR/<file name>.md.")] = None,
    explained: Annotated[
        bool, typer.Option("--explain", help="Print what was detected, chosen and removed, and why.")
    ] = False,
    html: Annotated[
        bool,
        typer.Option("--html", help="Also write DIR/<file name>.html: the pages with their blocks' boxes."),
    ] = False,
) -> None:
    """Convert files to Markdown as indexing would, each in a limited worker process."""
    from rag_pipeline.normalize.explaining import explain
    from rag_pipeline.normalize.files import normalize_files
    from rag_pipeline.normalize.options import ParsingOptions
    from rag_pipeline.sources.manifest import Limits

    if out is None and (html or not explained):
        raise ConfigurationError(
            "Name a folder with --out DIR, or print how the files are read with --explain."
        )
    failed = False
    results = normalize_files(
        files,
        out,
        views=html,
        options=ParsingOptions(),
        workers=load_settings().workers,
        limits=Limits(),
    )
    for result in results:
        if result.error:
            failed = True
            sys.stderr.write(f"{result.document.path}: {result.error.category}: {result.error.message}\n")
            continue
        sys.stdout.write(f"{out / result.document.path}.md\n" if out else f"{result.document.path}\n")
        if explained and result.normalized:
            sys.stdout.write(f"{explain(result.normalized)}\n")
    if failed:
        raise typer.Exit(NOT_RECONCILED)


@app.command()
def chunks(
    file: Annotated[
        Path, typer.Argument(help="A file of any supported format.", exists=True, dir_okay=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Show the chunks that indexing would make of a file."""
    from rag_pipeline.chunking.chunk import embedding_input
    from rag_pipeline.chunking.chunker import chunk_document
    from rag_pipeline.normalize.files import convert_file
    from rag_pipeline.normalize.options import ParsingOptions
    from rag_pipeline.services import Services
    from rag_pipeline.sources.manifest import Limits

    services = Services(load_settings())
    document = convert_file(file, options=ParsingOptions(), limits=Limits())
    title = document.title or file.stem
    count = services.embedder.count_tokens
    found = chunk_document(document, title=title, options=services.chunking, count_tokens=count)
    if as_json:
        _print_json(
            [
                {
                    "index": chunk.index,
                    "section_path": list(chunk.section_path),
                    "span": [chunk.span_from, chunk.span_to],
                    "pages": [chunk.page_from, chunk.page_to],
                    "tokens": count(embedding_input(title, chunk)),
                    "text": chunk.text,
                }
                for chunk in found
            ]
        )
        return
    for chunk in found:
        section = " > ".join(chunk.section_path) or "(no heading)"
        tokens = count(embedding_input(title, chunk))
        sys.stdout.write(f"--- {chunk.index}: {section}, {tokens} tokens\n{chunk.text.strip()}\n")


@manifests_app.command("check")
def manifests_check() -> None:
    """Validate all manifests; name file, field and reason of each problem."""
    from rag_pipeline.sources.manifest_folder import load_manifests

    found = load_manifests(load_settings().sources_folder)
    for problem in found.problems:
        sys.stderr.write(f"{problem}\n")
    sys.stdout.write(f"{len(found.manifests)} sources are valid: {', '.join(found.manifests)}\n")
    if found.problems:
        raise typer.Exit(BAD_CONFIGURATION)


@manifests_app.command("schema")
def manifests_schema() -> None:
    """Print the JSON Schema of a manifest, for editors."""
    from rag_pipeline.sources.manifest import manifest_schema

    _print_json(manifest_schema())


@letters_app.callback()
def dead_letters(context: typer.Context, as_json: AsJson = False) -> None:
    """List what failed: source, document, chunk, stage, category, message, attempts, times."""
    if context.invoked_subcommand:
        return
    from dataclasses import asdict

    from rag_pipeline.services import Services

    letters = Services(load_settings()).ledger.dead_letters.listed()
    if as_json:
        sys.stdout.write(
            json.dumps([asdict(one) for one in letters], default=str, ensure_ascii=False, indent=2) + "\n"
        )
        return
    from rag_pipeline.console import show_dead_letters

    show_dead_letters(letters)


@letters_app.command("retry")
def dead_letters_retry(
    context: typer.Context,
    letter: Annotated[str | None, typer.Argument(help="Id of a dead letter.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
) -> None:
    """Try dead letters again now, by indexing their sources."""
    if (letter is None) != every:
        raise ConfigurationError("Name the id of one dead letter, or --all.")
    from rag_pipeline.services import Services

    services = Services(load_settings())
    letters = services.ledger.dead_letters
    asked = letters.ask_retry(None if letter is None else [letter])
    if letter is not None and not asked:
        raise ConfigurationError(f"There is no dead letter {letter}; `rag-pipeline dead-letters` lists them.")
    from rag_pipeline.catalogue import Catalogue

    known = Catalogue(services).manifests().manifests
    for source_id in asked:
        if source_id not in known:
            sys.stderr.write(f"Source {source_id} has no manifest any more; its dead letters are dropped.\n")
            letters.drop(source_id)
    sources = [source_id for source_id in asked if source_id in known]
    if not sources:
        sys.stdout.write("No dead letters to try again.\n")
        return
    context.invoke(index, sources=sources, as_json=False, strict=False)


@app.command()
def settings() -> None:
    """List every setting with its value and meaning; secrets are only said to be set."""
    for variable, value, meaning in described(load_settings()):
        sys.stdout.write(f"{variable}={value}\n    {meaning}\n")


@app.command()
def ui(port: Annotated[int, typer.Option(help="Port of the web page.")] = 3000) -> None:
    """Start Dagster's UI and daemon on this project."""
    from rag_pipeline.orchestration.running import prepare_environment

    current: Settings = load_settings()
    prepare_environment(current.home)
    sys.stderr.write(f"Dagster is starting on http://127.0.0.1:{port}; Ctrl-C ends it.\n")
    # A script's `&` leaves SIGINT ignored; Dagster would then ignore SIGTERM too, and nothing would end it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Quiet: the daemon tells twice a minute that there is nothing to do, and Dagster that `dg dev` is newer.
    python = [sys.executable, "-W", "ignore:Function `dev_command` is superseded", "-m", "dagster"]
    dev = ["dev", "--workspace", "workspace.yaml", "--port", str(port), "--log-level", "warning"]
    os.execv(sys.executable, python + dev)  # noqa: S606 - our own interpreter, fixed arguments
