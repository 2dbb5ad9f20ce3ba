"""Comments on the cells of a workbook: notes, and threads with their authors and times."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rag_pipeline.normalize.office.package import Package, XmlElement, tag
from rag_pipeline.normalize.office.reviewing import comment_text
from rag_pipeline.normalize.office.sheet_grid import Worksheet

_THREADED: Final = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
# Older programs see a thread as a note by an author of this name.
_THREAD_AUTHOR: Final = "tc={"


@dataclass(frozen=True, slots=True)
class CellComment:
    """A comment on the cell at `row` and `column`, counted from 1; `text` says whose and what it is."""

    row: int
    column: int
    text: str


def sheet_comments(sheet: Worksheet, package: Package, part: str) -> list[CellComment]:
    """The comments on a sheet, `part` of the package, in the order of its cells, each before its answers."""
    threads = _threads(package, part)
    comments = []
    for row, column in sorted(place for place, cell in sheet._cells.items() if cell.comment):
        cell = sheet._cells[row, column]
        thread = threads.get(cell.coordinate)
        if thread is None or not cell.comment.author.startswith(_THREAD_AUTHOR):
            thread = [comment_text(cell.coordinate, cell.comment.author, None, cell.comment.text)]
        comments += [CellComment(row, column, text) for text in thread]
    return comments


def _threads(package: Package, part: str) -> dict[str, list[str]]:
    people = {
        person.get("id"): person.get("displayName")
        for name in package.related_parts(package.main_part() or "", "person")
        for person in package.tree(name).iter(tag(_THREADED, "person"))
    }
    threads: dict[str, list[str]] = {}
    for name in package.related_parts(part, "threadedComment"):
        for comment in _in_order(package.tree(name)):
            cell = comment.get("ref", "")
            text = comment.findtext(tag(_THREADED, "text")) or ""
            author = people.get(comment.get("personId"))
            threads.setdefault(cell, []).append(comment_text(cell, author, _moment(comment.get("dT")), text))
    return threads


def _moment(stored: str | None) -> str | None:
    try:
        return datetime.fromisoformat(stored).isoformat(timespec="milliseconds") if stored else None
    except ValueError:
        return stored


def _in_order(root: XmlElement) -> Iterator[XmlElement]:
    """Each comment followed by the answers to it, which may be stored anywhere."""
    comments = list(root.iter(tag(_THREADED, "threadedComment")))
    answers: dict[str | None, list[XmlElement]] = {}
    ids = {comment.get("id") for comment in comments}
    for comment in comments:
        parent = comment.get("parentId")
        answers.setdefault(parent if parent in ids else None, []).append(comment)
    for comment in answers.get(None, []):
        yield comment
        yield from sorted(answers.get(comment.get("id"), []), key=lambda answer: answer.get("dT", ""))
