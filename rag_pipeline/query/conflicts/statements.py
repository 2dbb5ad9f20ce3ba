"""A passage as statements: sentences, and cells of tables read together with their row and column."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.normalize.judging.instructions import find_instructions
from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.terms import terms
from rag_pipeline.query.conflicts.value import Value
from rag_pipeline.query.conflicts.values import find_values

_EMPHASIS = re.compile(
    r"(\*\*|__|`)(?=\S)([^*`\n]{1,300}?)(?<=\S)\1"
    # A lone asterisk may also multiply.
    r"|(?<![0-9A-Za-z*])\*(?=\S)([^*`\n]{1,300}?)(?<=\S)\*(?![0-9A-Za-z*])"
)
_BEFORE_LINE = re.compile(r"^[ \t]*(?:>[ \t]*)+|^[ \t]*(?:[-+*]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
_RULE = re.compile(r"[|:\- \t]+")
_CLAUSE_END = re.compile(r"[,;，；。：:()（）](?!\d)|[ ]but[ ]|[ ]whereas[ ]|[ ]while[ ]")
_JOINT = re.compile(r"[ ](?:and|or)[ ]|、|以及|和")
_PRONOUN = re.compile(r"\b(?:it|they|which|these)\b|其|它", re.IGNORECASE)
_STARTS_WITH_PRONOUN = re.compile(r"(?:it|they|these|this)\b", re.IGNORECASE)
_FULL_CLAUSE = 3
"""How many content words a part between two "and" must have to stand for itself."""
_LEAST_OF_A_CLAUSE = 2
"""A part with fewer goes on with what is before it: "parking is free, at most three hours"."""

_LONGEST_SENTENCE = 2_000
_MOST_COLUMNS = 40
_MOST_STATEMENTS = 200
"""Of a passage. One of usual size has a handful of values; a hostile one must not cost more than it says."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A value and the words that tell what it is about, the nearest ones first.

    `clause` is the part of the sentence, or the row and column of the cell, that the value stands in, `whole`
    the sentence or row without Markdown, `before` the sentence before it and `heading` a heading inside the
    passage. `column` is the header of a table's column, empty outside of tables; `siblings` are the headers
    of the row's other values.
    """

    value: Value
    sentence: str
    clause: str
    whole: str
    before: str
    heading: str
    column: str = ""
    siblings: tuple[str, ...] = ()


# Seldom more than some 50 kB each, of a hostile table a quarter of a megabyte.
@lru_cache(maxsize=512)
def statements(text: str, kinds: frozenset[ValueKind]) -> tuple[Statement, ...]:
    """The statements of a passage that hold a value of these kinds, in order."""
    return tuple(islice(_all_statements(text, kinds), _MOST_STATEMENTS))


def _all_statements(text: str, kinds: frozenset[ValueKind]) -> Iterator[Statement]:
    heading = ""
    for block in _blocks(text):
        if found := _HEADING.fullmatch(block[0]):
            heading = found[1].strip()[:_LONGEST_SENTENCE]
        elif block[0].startswith("|"):
            yield from _table(block, heading, kinds)
        else:
            yield from _prose("\n".join(block), heading, kinds)


def _blocks(text: str) -> Iterator[list[str]]:
    """Headings, tables and the text between them, each as its lines."""
    block: list[str] = []
    kind = ""
    for line in text.splitlines():
        stripped = line.strip()
        now = "heading" if _HEADING.fullmatch(stripped) else "table" if stripped.startswith("|") else "prose"
        if block and (now != kind or now == "heading"):
            yield block
            block = []
        kind = now
        block.append(line if now == "prose" else stripped)
    if block:
        yield block


def _prose(text: str, heading: str, kinds: frozenset[ValueKind]) -> Iterator[Statement]:
    before = ""
    for start, end in sentence_spans(text):
        for raw in _pieces(text[start:end]):
            whole = " ".join(_plain(raw).split())
            values = find_values(whole, kinds)
            if values and find_instructions(raw):
                # What speaks to a language model is no statement about anything.
                continue
            borders = [match.span() for match in _CLAUSE_END.finditer(whole)]
            joints = [match.span() for match in _JOINT.finditer(whole)]
            for value in values:
                clause = _clause(whole, value, borders, joints)
                if _STARTS_WITH_PRONOUN.match(clause) and whole.startswith(clause):
                    clause = f"{before} {clause}"
                yield Statement(value, whole, clause, whole, before, heading)
            before = whole


def _pieces(sentence: str) -> Iterator[str]:
    """Overlong sentences in pieces, so that the work a sentence costs is bounded."""
    for start in range(0, len(sentence), _LONGEST_SENTENCE):
        yield sentence[start : start + _LONGEST_SENTENCE]


def _clause(
    whole: str, value: Value, borders: Sequence[tuple[int, int]], joints: Sequence[tuple[int, int]]
) -> str:
    """The part of a sentence that says what a value is about.

    It goes on with the part before where it says too little, or names its subject by a pronoun only.
    """
    start, end = _between(value, borders, 0, len(whole))
    narrow_start, narrow_end = _between(value, joints, start, end)
    refers_back = _PRONOUN.search(whole, narrow_start, value.start) is not None
    if not refers_back and len(terms(whole[narrow_start:narrow_end])) >= _FULL_CLAUSE:
        return whole[narrow_start:narrow_end]
    while start and (refers_back or len(terms(whole[start:end])) < _LEAST_OF_A_CLAUSE):
        start = max((border[1] for border in borders if border[1] < start), default=0)
        refers_back = False
    return whole[start:end]


def _between(value: Value, borders: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """From the last border before a value to the first one behind it, inside start and end."""
    index = bisect_right(borders, (value.start, value.start))
    before = borders[index - 1] if index and borders[index - 1][1] <= value.start else (0, 0)
    behind = next((border for border in borders[index : index + 4] if border[0] >= value.end), (end, end))
    return max(start, before[1]), min(end, behind[0])


def _table(lines: Sequence[str], heading: str, kinds: frozenset[ValueKind]) -> Iterator[Statement]:
    rows = [_cells(line) for line in lines if not _RULE.fullmatch(line)]
    has_header = len(lines) > 1 and bool(_RULE.fullmatch(lines[1])) and "-" in lines[1]
    header = rows[0] if has_header else []
    for row in rows[1:] if has_header else rows:
        found = [(column, value) for column, cell in enumerate(row) for value in find_values(cell, kinds)]
        if found and find_instructions(" | ".join(row)):
            continue
        columns = {column for column, _ in found}
        for column, value in found:
            label = row[0] if column else " ".join(row[1:])
            own = _header(header, column)
            others = (cell for number, cell in enumerate(row) if number and number not in columns)
            yield Statement(
                value,
                sentence=" | ".join(row),
                clause=f"{label} {_header(header, 0)}; {own}: {row[column]}",
                whole=" ; ".join([label, own, *others]),
                before="",
                heading=heading,
                column=own,
                siblings=tuple(_header(header, other) for other in sorted(columns - {column})),
            )


def _header(header: Sequence[str], column: int) -> str:
    return header[column] if column < len(header) else ""


def _cells(line: str) -> list[str]:
    return [
        _plain(cell[:_LONGEST_SENTENCE]).strip() for cell in line.strip().strip("|").split("|", _MOST_COLUMNS)
    ]


def _plain(text: str) -> str:
    """A text without the marks of Markdown around words and before lines."""
    return _BEFORE_LINE.sub("", _EMPHASIS.sub(lambda found: found[2] or found[3], text))
