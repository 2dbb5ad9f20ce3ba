"""Changing parts of a Markdown text while all else stays as it is written."""

from collections.abc import Iterable
from typing import NamedTuple

from rag_pipeline.normalize.document import Removed


class Edit(NamedTuple):
    """`text[start:end]` becomes `text`; `reason` says why what stood there is left out, None where it is not.

    A line that holds nothing else after the edit is left out with it.
    """

    start: int
    end: int
    text: str = ""
    reason: str | None = None


class Edited(NamedTuple):
    """A text after its edits, and what they left out."""

    text: str
    removed: tuple[Removed, ...] = ()


def apply_edits(text: str, edits: Iterable[Edit]) -> Edited:
    """Apply edits in order of their places; of two that overlap the one that begins first wins."""
    parts: list[str] = []
    removed: list[Removed] = []
    touched: set[int] = set()
    at = line = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if edit.start < at:
            continue
        kept = text[at : edit.start]
        parts += (kept, edit.text)
        line += kept.count("\n")
        touched.update((line, line + edit.text.count("\n")))
        line += edit.text.count("\n")
        at = edit.end
        if edit.reason and (gone := text[edit.start : edit.end].strip()):
            removed.append(Removed(edit.reason, gone))
    parts.append(text[at:])
    return Edited(_without_emptied("".join(parts).split("\n"), touched), tuple(removed))


def _without_emptied(lines: list[str], touched: set[int]) -> str:
    """The lines joined, without those that edits emptied, but with an empty one where a block ended there."""
    kept: list[str] = []
    emptied = False
    for number, line in enumerate(lines):
        before = kept[-1] if kept else ""
        if line.strip():
            kept.append(line.rstrip() if number in touched and not line.endswith("  ") else line)
            emptied = False
        elif number not in touched:
            if not emptied or before.strip():
                kept.append(line)
        else:
            after = lines[number + 1] if number + 1 < len(lines) else ""
            in_table = before.lstrip().startswith("|") and after.lstrip().startswith("|")
            if before.strip() and after.strip() and not in_table:
                kept.append("")
            emptied = True
    return "\n".join(kept)
