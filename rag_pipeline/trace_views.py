"""What the command line shows of traces and cases: requests as trees, ways from and to files, staleness."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from rag_pipeline.console import console, shown
from rag_pipeline.evaluation.case import Case
from rag_pipeline.evaluation.explanation import Explanation
from rag_pipeline.evaluation.verdict import verdict_of
from rag_pipeline.impact import StaleDocument
from rag_pipeline.ledger.feedback import GivenFeedback
from rag_pipeline.query.lineage import Lineage
from rag_pipeline.query.trace import RecordedConflict, RecordedPosition, Trace, UsedEvidence

_DOCUMENTS_SHOWN = 50
_WIDEST = 10_000
# Of what is right, wrong, or neither.
_COLOURS = {True: "green", False: "red", None: "yellow"}


def show_trace(trace: Trace, feedback: Sequence[GivenFeedback]) -> None:
    """Everything that a trace holds; parts that are empty are left out."""
    took = (trace.finished_at - trace.started_at).total_seconds() * 1000
    tree = Tree(f"[bold]{shown(trace.trace_id)}[/bold] {trace.outcome}, {took:.0f} ms")
    _leaf(tree, "question", trace.question)
    _leaf(tree, "reason", trace.reason)
    _leaf(tree, "asked", f"{trace.started_at:%Y-%m-%d %H:%M:%S %Z} by {trace.identity}")
    _leaf(tree, "request", trace.request_id)
    _leaf(tree, "session", trace.session_id)
    _branch(tree, "scope", _pairs(trace.scope))
    _leaf(tree, "sources", ", ".join(trace.sources))
    _leaf(tree, "generation", trace.generation)
    _branch(tree, "queries", trace.queries)
    _branch(tree, "steps", [f"{one.step}: {one.milliseconds:.1f} ms" for one in trace.steps])
    _add_evidence(tree, trace)
    _branch(tree, "rejected", [f"{one.chunk_id}: {one.reason}" for one in trace.rejected])
    _branch(tree, "notes", trace.notes)
    for call in trace.tool_calls:
        _branch(tree, "tool call", _pairs(call))
    for conflict in trace.conflicts:
        _branch(tree, f"conflict: {_ruling(conflict)}", map(_stated, conflict.positions))
    _leaf(tree, "think", trace.think_note)
    _leaf(tree, "prompt version", trace.prompt_version)
    for number, attempt in enumerate(trace.attempts, start=1):
        by = f"attempt {number} by {attempt.by}{f' ({attempt.model})' if attempt.model else ''}"
        text = [attempt.text] if attempt.text else []
        _branch(tree, by, [*text, *(attempt.problems or ["nothing wrong: it was used"])])
    _branch(
        tree,
        "citations",
        [f"{one.claim or 'a claim'} <- {', '.join(one.evidence_ids)}" for one in trace.citations],
    )
    _branch(
        tree,
        "feedback",
        [f"{one.rating} by {one.given_by}: {one.comment or 'no comment'}" for one in feedback],
    )
    _print(tree)


def _ruling(conflict: RecordedConflict) -> str:
    if conflict.winner is None:
        return f"{conflict.kind}, nothing decides, {conflict.policy}"
    return f"{conflict.kind}, {conflict.winner} is followed by {conflict.decided_by}, {conflict.policy}"


def _stated(position: RecordedPosition) -> str:
    sentence = f": {position.sentence}" if position.sentence else ""
    followed = ", followed" if position.followed else ""
    return f"{position.label} {position.document_id} {position.shown}{followed}{sentence}"


def _add_evidence(tree: Tree, trace: Trace) -> None:
    if not trace.evidence:
        return
    cited = {one for claim in trace.citations for one in claim.evidence_ids}
    branch = tree.add(f"[cyan]evidence[/cyan] {len(trace.evidence)}")
    for one in trace.evidence:
        mark = ", cited" if one.evidence_id in cited else ""
        leaf = branch.add(
            f"[bold]{shown(one.label)}[/bold] {shown(one.chunk_id)}{mark}\n"
            f"score {one.score:.3f}{_reasons(one)}"
        )
        if one.text is not None:
            leaf.add(shown(one.text))


def _reasons(evidence: UsedEvidence) -> str:
    parts = ", ".join(f"{shown(name)} {value:+.3f}" for name, value in evidence.reasons.items())
    return f" = {parts}" if parts else ""


def show_lineages(trace: Trace, lineages: Sequence[Lineage]) -> None:
    """Every link of every way back; the first one that no longer holds is marked."""
    if not lineages:
        console.print(f"{shown(trace.trace_id)} used no evidence, so it leads to no file.")
    for one in lineages:
        tree = Tree(
            f"[bold]{shown(one.label)}[/bold] {'holds' if one.broken is None else '[red]broken[/red]'}"
        )
        for link in one.links:
            what = f"{link.name}: {shown(link.what)}"
            if link.reason is None:
                tree.add(f"[green]ok[/green] {what}")
            else:
                mark = "[red]FIRST BROKEN[/red]" if link is one.broken else "[yellow]broken too[/yellow]"
                tree.add(f"{mark} {what}\n{shown(link.reason)}")
        _print(tree)


def show_explanations(case: Case, explanations: Sequence[Explanation]) -> None:
    """Every step of every passage of a case; the last one is marked where the passage was lost or stopped."""
    console.print(f"[bold]{shown(case.id)}[/bold] {case.category}: {shown(case.question)}")
    if case.outage:
        console.print(f"No outage is played: it is explained as if the {case.outage} answered.")
    if case.refusal and not explanations:
        console.print("Nothing was found.")
    elif not explanations:
        console.print("It names no document and no quote, and nothing was found that could be explained.")
    for one in explanations:
        verdict = verdict_of(case, one)
        colour = _COLOURS[verdict.right]
        tree = Tree(f"[bold]{shown(one.document)}[/bold] [{colour}]{verdict.how}[/{colour}]")
        _leaf(tree, "quote", one.quote)
        for step in one.steps:
            sign = "[green]ok[/green]" if step.held else f"[{colour}]{verdict.stop}[/{colour}]"
            tree.add(f"{sign} {step.name}: {shown(step.what)}")
        _print(tree)


def show_impact(found: Sequence[StaleDocument], days: int) -> None:
    """The stale documents that answers cite as a table, and how many others are stale."""
    cited = [one for one in found if one.answers]
    if cited:
        table = Table(box=box.SIMPLE)
        for name in ("answers", "document", "owner", "newest", "SLA"):
            table.add_column(name, justify="right" if name == "answers" else "left", overflow="fold")
        for one in cited[:_DOCUMENTS_SHOWN]:
            newest = f"{one.newest:%Y-%m-%d}" if one.newest else "unknown"
            table.add_row(
                f"{one.answers:,}", shown(one.document_id), shown(one.owner), newest, f"{one.sla_days} days"
            )
        console.print(table)
    if len(cited) > _DOCUMENTS_SHOWN:
        console.print(f"And {len(cited) - _DOCUMENTS_SHOWN:,} more; --json lists all.")
    console.print(
        f"{len(found):,} documents are past their SLA; answers of the last {days} days cite "
        f"{len(cited):,} of them."
    )


def _print(tree: Tree) -> None:
    # Wider than any line: ids that are cut or broken in two cannot be copied. A terminal folds by itself.
    Console(highlight=False, width=_WIDEST).print(tree)


def _leaf(tree: Tree, name: str, value: object) -> None:
    if value not in (None, ""):
        tree.add(f"[cyan]{escape(name)}[/cyan] {shown(str(value))}")


def _branch(tree: Tree, name: str, values: Iterable[str]) -> None:
    lines = list(values)
    if lines:
        branch = tree.add(f"[cyan]{escape(name)}[/cyan]")
        for line in lines:
            branch.add(shown(line))


def _pairs(value: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {inner}" for name, inner in value.items() if inner not in (None, [], {})]
