"""The command that asks."""

import sys
from typing import Annotated, Any

import typer

from rag_pipeline.settings import load_settings

app = typer.Typer()

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

BAD_REQUEST = 2


def _text(value: str | None) -> str | None:
    # Python reads bytes of a command line that are no text as characters that nothing can store or search.
    if any("\ud800" <= one <= "\udfff" for one in value or ""):
        raise typer.BadParameter("must be valid Unicode")
    return value


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    groups: Annotated[
        str,
        typer.Option(
            help="Your access groups, with commas between. None: public documents only.", callback=_text
        ),
    ] = "",
    user: Annotated[
        str | None, typer.Option(help="Who asks; traces hold a hash of it.", callback=_text)
    ] = None,
    tenant: Annotated[str, typer.Option(help="Your tenant.", callback=_text)] = "default",
    query: Annotated[
        list[str] | None, typer.Option("--query", "-q", help="Search for this instead; up to five times.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(help="The day whose rules are asked for, such as 2025-06-01.")
    ] = None,
    environment: Annotated[str | None, typer.Option(help="Only what holds in it.")] = None,
    audience: Annotated[str | None, typer.Option(help="Only what is written for it.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this source; may be given often.")] = None,
    session: Annotated[str | None, typer.Option(help="Ties questions together in the traces.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the live generation, each claim with the passage that it rests on."""
    from rag_pipeline.console import show_answer
    from rag_pipeline.query import ask as answer
    from rag_pipeline.query.identity import Identity
    from rag_pipeline.query.trace import Outcome
    from rag_pipeline.services import Services

    body: dict[str, Any] = {
        "question": question, "queries": query or None, "as_of": as_of, "environment": environment,
        "audience": audience, "session_id": session, "filters": {"sources": source} if source else None,
    }  # fmt: skip
    with Services(load_settings()) as services:
        services.export_spans()
        response = answer(
            {name: value for name, value in body.items() if value is not None},
            Identity(user, frozenset(group.strip() for group in groups.split(",") if group.strip()), tenant),
            services,
        )
    if as_json:
        sys.stdout.write(response.model_dump_json(indent=2) + "\n")
    else:
        show_answer(response)
    if response.outcome is Outcome.INVALID_REQUEST:
        raise typer.Exit(BAD_REQUEST)
