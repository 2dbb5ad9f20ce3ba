"""Commands that look back at answers: how they came about, what they rest on, whether they helped."""

import getpass
import sys
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from rag_pipeline.settings import load_settings

LINK_BROKEN = 1

app = typer.Typer()

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def trace(
    trace_id: Annotated[str, typer.Argument(help="The trace that an answer names, or one of its evidence.")],
    as_json: AsJson = False,
) -> None:
    """Show how an answer came about: queries, evidence with its scores, conflicts, drafts, citations."""
    from rag_pipeline.console import print_json
    from rag_pipeline.query.tracing import find_trace
    from rag_pipeline.services import Services
    from rag_pipeline.trace_views import show_trace

    ledger = Services(load_settings()).ledger
    found = find_trace(ledger, trace_id)
    given = ledger.feedback.of_trace(found.trace_id)
    if as_json:
        print_json({**found.model_dump(mode="json"), "feedback": [asdict(one) for one in given]})
    else:
        show_trace(found, given)


@app.command()
def feedback(
    trace_id: Annotated[str, typer.Argument(help="The trace that the answer names.")],
    rating: Annotated[Literal["up", "down"], typer.Option(help="Whether the answer helped.")],
    comment: Annotated[str | None, typer.Option(help="What was right or wrong.")] = None,
) -> None:
    """Say whether an answer helped; it is kept with the answer's trace, under your name."""
    from rag_pipeline.ledger.feedback import Rating
    from rag_pipeline.services import Services

    given = Services(load_settings()).ledger.feedback.record(
        trace_id, Rating(rating), comment=comment, by=getpass.getuser()
    )
    sys.stdout.write(f"Noted for {given.trace_id}: {given.rating}.\n")


@app.command()
def lineage(
    some_id: Annotated[
        str, typer.Argument(metavar="TRACE_ID|EVIDENCE_ID", help="An answer's trace, or one of its evidence.")
    ],
    as_json: AsJson = False,
) -> None:
    """Walk from an answer back to the source files and re-check every hash on the way.

    Exit code 0: every link holds; 1: one no longer does; 2: there is no such trace or evidence.
    """
    from rag_pipeline.catalogue import Catalogue
    from rag_pipeline.console import print_json
    from rag_pipeline.index.store import open_store
    from rag_pipeline.query.lineage_reading import Places, evidence_to_walk, walk_back
    from rag_pipeline.query.tracing import find_trace
    from rag_pipeline.services import Services
    from rag_pipeline.trace_views import show_lineages

    services = Services(load_settings())
    found = find_trace(services.ledger, some_id)
    with open_store(services.store) as client:
        places = Places(client, services.ledger, services.artifacts, Catalogue(services).find)
        lineages = walk_back(found, evidence_to_walk(found, some_id), places)
    holds = not any(one.broken for one in lineages)
    if as_json:
        print_json(
            {
                "trace_id": found.trace_id,
                "holds": holds,
                "lineages": [one.to_json() for one in lineages],
            }
        )
    else:
        show_lineages(found, lineages)
    if not holds:
        raise typer.Exit(LINK_BROKEN)


@app.command()
def impact(as_json: AsJson = False) -> None:
    """List documents that are past their source's freshness SLA, those first that most answers cite."""
    from rag_pipeline.catalogue import Catalogue
    from rag_pipeline.console import print_json
    from rag_pipeline.impact import stale_documents
    from rag_pipeline.services import Services
    from rag_pipeline.trace_views import show_impact

    services = Services(load_settings())
    days = services.settings.trace_retention_days
    found = stale_documents(services, Catalogue(services).manifests().manifests.values())
    if as_json:
        print_json({"days": days, "documents": [one.to_json() for one in found]})
    else:
        show_impact(found, days)
