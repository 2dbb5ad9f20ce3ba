"""Commands that change what readers see: generations, withheld deletions, erasure."""

import getpass
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from rag_pipeline.errors import ConfigurationError, GenerationConflict
from rag_pipeline.settings import load_settings

app = typer.Typer()

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def generations(as_json: AsJson = False) -> None:
    """List the generations: which is live, which can be promoted or rolled back to, what they hold."""
    from rag_pipeline.console import print_json, show_generations
    from rag_pipeline.rebuilding import listed_generations
    from rag_pipeline.services import Services

    found = listed_generations(Services(load_settings()))
    if as_json:
        print_json({"generations": [one.to_json() for one in found]})
    else:
        show_generations(found)


@app.command()
def reindex(
    promote_after: Annotated[
        bool, typer.Option("--promote", help="Show it to readers if it passes its gates.")
    ] = False,
    waive: Annotated[
        list[str] | None,
        typer.Option(help="A source that need not be whole; recorded with your name."),
    ] = None,
) -> None:
    """Build a new generation with today's settings, beside the live one; go on with one that was begun."""
    from rag_pipeline.evaluation.promoting import promotion_gate
    from rag_pipeline.pipeline import Pipeline
    from rag_pipeline.rebuilding import blocked_in_words
    from rag_pipeline.rebuilding import reindex as build
    from rag_pipeline.services import Services

    services = Services(load_settings())
    outcome = build(
        Pipeline(services),
        promote_after=promote_after,
        waived=waive or [],
        waived_by=getpass.getuser(),
        evaluate=promotion_gate(services),
    )
    if not outcome.ready:
        raise GenerationConflict(blocked_in_words(outcome))
    done = "live" if promote_after else "ready; `rag-pipeline promote` shows it to readers"
    sys.stdout.write(f"{outcome.generation.name} is {done}.\n")


@app.command()
def promote(
    generation: Annotated[str | None, typer.Argument(help="Its name; the newest ready one if empty.")] = None,
) -> None:
    """Show readers a generation that is ready, by one alias action."""
    from rag_pipeline.rebuilding import promote as swap
    from rag_pipeline.services import Services

    sys.stdout.write(f"{swap(Services(load_settings()), generation).name} is live.\n")


@app.command()
def rollback() -> None:
    """Show readers the generation that was live before."""
    from rag_pipeline.rebuilding import rollback as roll_back
    from rag_pipeline.services import Services

    live = roll_back(Services(load_settings()))
    sys.stdout.write(f"{live.name} is live. `rag-pipeline index` brings it up to date.\n")


@app.command()
def gc(
    keep: Annotated[int, typer.Option(min=1, help="Previous generations to keep.")] = 1,
) -> None:
    """Remove failed generations, all but the newest previous ones, and traces past their retention."""
    from rag_pipeline.rebuilding import collect_garbage
    from rag_pipeline.services import Services

    services = Services(load_settings())
    for name in collect_garbage(services, keep):
        sys.stdout.write(f"Removed {name}\n")
    if forgotten := services.trace_recorder.forget_old():
        sys.stdout.write(f"Forgot {forgotten} traces\n")


@app.command()
def approve(source: Annotated[str, typer.Argument(help="The source whose deletions were withheld.")]) -> None:
    """Let the next run delete what was withheld from a source: these documents, and no others."""
    from rag_pipeline.services import Services

    approved = Services(load_settings()).ledger.withheld.approve(source, getpass.getuser())
    for document_id in approved.document_ids:
        sys.stdout.write(f"{document_id}\n")
    sys.stdout.write(
        f"Approved: {len(approved.document_ids)} of {approved.recorded} documents of {source} are deleted by "
        f"the next run. `rag-pipeline index {source}` runs it now.\n"
    )


@app.command()
def purge(
    document: Annotated[str, typer.Argument(help="Its id: <source_id>/<path>.")], as_json: AsJson = False
) -> None:
    """Erase a document everywhere, and write a certificate of what was removed and read back as gone."""
    from rag_pipeline.console import print_json
    from rag_pipeline.pipeline import Pipeline
    from rag_pipeline.purging import purge as erase
    from rag_pipeline.services import Services

    certificate, file = erase(Pipeline(Services(load_settings())), document)
    if as_json:
        print_json({**asdict(certificate), "certificate": str(file)})
        return
    sys.stdout.write(
        f"Erased {document}: {sum(certificate.points.values())} points, {certificate.artifacts} artifacts, "
        f"{certificate.vectors} vectors, {certificate.dead_letters} dead letters, its words in "
        f"{certificate.traces} traces and {certificate.comments} comments, and {certificate.pages} pages of "
        f"evaluations.\nCertificate: {file}\n"
    )
    if certificate.shared:
        sys.stdout.write(f"{certificate.shared} stored texts stay, since other documents hold them too.\n")
    if certificate.still_in_source:
        raise ConfigurationError(
            f"The source still holds {document}: remove the file or exclude it in the manifest, or else the "
            "next run indexes it again."
        )
