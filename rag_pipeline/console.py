"""What the command line shows: progress, the report, dead letters, found passages."""

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from rag_pipeline.index.reconciling import SourceReport, total
from rag_pipeline.ledger.dead_letters import DeadLetter
from rag_pipeline.ledger.reconciliations import RecordedReconciliation
from rag_pipeline.ledger.withheld import WithheldDeletion
from rag_pipeline.query.response import AskResponse
from rag_pipeline.query.results import QueryResult
from rag_pipeline.rebuilding import ListedGeneration

_PASSAGE_LENGTH = 400
_MESSAGE_LENGTH = 300
_WITHHELD_SHOWN = 5
_LONGEST_SHOWN = 400

# So that a row fits into 80 columns.
_SHORT = {"orphaned": "orphans", "duplicated": "doubles"}

console = Console(highlight=False, soft_wrap=True)
"""Where a command's result goes: standard output."""


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "")


class LiveProgress:
    """Bars on a terminal, one a stage: done of total, rate, time left."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            _Rate(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def start(self, source_id: str, stage: str, total: int, unit: str) -> None:
        """A stage of a source begins: a new bar."""
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(f"{source_id}: {stage}", total=total, unit=unit)

    def advance(self, count: int = 1) -> None:
        """The bar moves on."""
        if self._task is not None:
            self._bars.advance(self._task, count)

    def finish(self) -> None:
        """The stage is over: its bar stays until the next one starts."""


def show_reports(reports: Mapping[str, SourceReport], failed: Mapping[str, str]) -> None:
    """The reconciliation of sources, documents and chunks, then what failed and what is wrong."""
    rows = [*reports.values(), total(reports.values())] if len(reports) > 1 else list(reports.values())
    for part in ("documents", "chunks"):
        table = Table(title=part.capitalize(), title_justify="left", box=None, padding=(0, 1, 0, 0))
        table.add_column("source", no_wrap=True)
        for report in rows:
            counts = report.to_json()[part]
            if not table.rows:
                for name in counts:
                    table.add_column(_SHORT.get(name, name), justify="right", no_wrap=True)
            table.add_row(report.source_id, *map(str, counts.values()))
        console.print(table)
    for report in reports.values():
        for name, ids in report.examples.items():
            if ids:
                console.print(f"{report.source_id}: {name}: {escape(', '.join(ids))}")
    for source_id, reason in failed.items():
        console.print(f"[red]{source_id} failed:[/red] {escape(reason)}")
    wrong = [report.source_id for report in reports.values() if not report.reconciled]
    embedded = sum(report.embedded for report in reports.values())
    if wrong or failed:
        console.print(f"[red]Not reconciled:[/red] {', '.join(dict.fromkeys([*wrong, *failed]))}")
    else:
        console.print(f"Reconciled: every chunk is accounted for. {embedded} texts were embedded.")


def show_status(
    *,
    alias: str,
    generation: str | None,
    sources: Iterable[str],
    without_manifest: Collection[str],
    recorded: Mapping[str, RecordedReconciliation],
    dead_letters: Mapping[str, int],
) -> None:
    """Which generation is live and how each source stands; one without a manifest is still searchable."""
    console.print(f"alias {alias} -> {generation or 'nothing indexed yet'}")
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("source", "documents", "chunks", "dead letters", "reconciled", "last indexed"):
        table.add_column(name, no_wrap=True)
    for source_id in sources:
        last = recorded.get(source_id)
        letters = str(dead_letters.get(source_id, 0))
        if last is None:
            table.add_row(source_id, "", "", letters, "never indexed", "")
            continue
        report = SourceReport.from_json(source_id, last.report)
        table.add_row(
            source_id,
            str(report.documents.seen),
            str(report.chunks.stored),
            letters,
            "yes" if last.reconciled else "[red]no[/red]",
            f"{last.finished_at:%Y-%m-%d %H:%M}Z",
        )
    console.print(table)
    for source_id in sorted(without_manifest):
        console.print(
            f"{source_id} has no manifest (or a broken one), and what is indexed of it is still found."
        )


def show_dead_letters(letters: Sequence[DeadLetter]) -> None:
    """What failed, why, and how often it was tried."""
    if not letters:
        console.print("No dead letters.")
    for letter in letters:
        chunk = "" if letter.chunk_index is None else f" chunk {letter.chunk_index}"
        kind = "will be tried again" if letter.transient else "waits for new content or a retry"
        console.print(
            f"[bold]{letter.id}[/bold] {escape(letter.document_id)}{chunk}\n"
            f"  {letter.stage}: {letter.category} ({kind}), {letter.attempts} attempts, "
            f"last {letter.last_failed_at:%Y-%m-%d %H:%M} UTC\n"
            f"  {escape(letter.message[:_MESSAGE_LENGTH])}"
        )


def show_results(results: Iterable[QueryResult]) -> None:
    """The found passages of each query with their source."""
    for result in results:
        console.print(f"\n[bold]{escape(result.query)}[/bold]")
        for note in result.notes:
            console.print(f"  [yellow]{escape(note)}[/yellow]")
        if result.message:
            console.print(f"  {result.message}")
        for rank, chunk in enumerate(result.chunks, start=1):
            section = " > ".join(chunk.section_path)
            pages = f", page {chunk.page_from}" if chunk.page_from else ""
            console.print(
                f"{rank}. [cyan]{escape(chunk.title)}[/cyan] {escape(section)}{pages}\n"
                f"   [dim]{escape(chunk.chunk_id)}, trust {chunk.trust_tier}, "
                f"relevance {chunk.relevance:.2f}[/dim]"
            )
            text = " ".join(chunk.text.split())
            shown = text if len(text) <= _PASSAGE_LENGTH else text[:_PASSAGE_LENGTH] + " …"
            console.print(f"   {escape(shown)}")


def show_withheld(withheld: Mapping[str, WithheldDeletion]) -> None:
    """Say which deletions wait for a person, and what that person can do."""
    for source_id, one in withheld.items():
        shown = ", ".join(one.document_ids[:_WITHHELD_SHOWN])
        more = len(one.document_ids) - _WITHHELD_SHOWN
        console.print(
            f"{source_id}: the deletion of {len(one.document_ids)} of {one.recorded} documents is withheld, "
            f"since so many are gone: {shown}{f' and {more} more' if more > 0 else ''}. If that is right: "
            f"rag-pipeline approve {source_id}",
            markup=False,
        )


def show_generations(found: Sequence[ListedGeneration]) -> None:
    """The generations as a table, oldest first."""
    table = Table(box=box.SIMPLE)
    for name in ("generation", "state", "documents", "points", "built with", "created", "promoted"):
        table.add_column(name, overflow="fold")
    for one in found:
        generation = one.generation
        table.add_row(
            generation.name,
            generation.state.value,
            f"{one.documents:,}",
            "missing" if one.points is None else f"{one.points:,}",
            f"{generation.settings['model']['model']} ({generation.fingerprint[:8]})",
            f"{generation.created_at:%Y-%m-%d %H:%M}",
            f"{generation.promoted_at:%Y-%m-%d %H:%M}" if generation.promoted_at else "",
        )
    console.print(table)
    for one in found:
        if one.generation.reason:
            console.print(f"{one.generation.name}: {one.generation.reason}", markup=False)


def shown(text: str) -> str:
    """A text on one line, not too long, without what would steer the terminal or pass for markup."""
    line = " ".join(text.split())
    if len(line) > _LONGEST_SHOWN:
        line = line[:_LONGEST_SHOWN] + " …"
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return escape(plain)


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def show_answer(response: AskResponse) -> None:
    """An answer and what each claim rests on."""
    console.print(escape(response.answer))
    seen: set[str] = set()
    for citation in response.citations:
        if citation.label in seen:
            continue
        seen.add(citation.label)
        parts = [citation.title, citation.section, f"trust tier {citation.trust_tier}"]
        if citation.effective_at:
            parts.append(f"effective {citation.effective_at:%Y-%m-%d}")
        if citation.url:
            parts.append(citation.url)
        console.print(
            escape(f"[{citation.label}] ") + escape(", ".join(part for part in parts if part)), style="dim"
        )
    console.print(f"{response.outcome.value}; trace {response.trace_id}", style="dim")
