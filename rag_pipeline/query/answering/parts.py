"""What of a passage can be quoted by itself: sentences, list items, table rows, code blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.chunking.tables import table_rows
from rag_pipeline.normalize.judging.instructions import find_instructions

_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
# Not the emphasis of **Note:**, nor a negative or decimal number.
_ITEM = re.compile(r"\s*(?:[-*+](?=\s)|\d{1,3}[.)](?!\d)|[（(]?[一二三四五六七八九十]{1,3}[、)）])\s*(?=\S)")
_QUESTION_END = re.compile(r"[?？][\s*_”’\"')）」』]*\Z")
_LEAD_IN_END = re.compile(r"[:：][\s*_]*\Z")
# A list longer than this is not quoted as a whole with the sentence that announces it.
_LONGEST_LIST = 700
# A list item longer than this is taken apart into sentences.
_LONGEST_ITEM = 300


class PartKind(Enum):
    """What a part is good for: statements answer and support, headings only say what the text is about."""

    STATEMENT = auto()
    QUESTION = auto()
    HEADING = auto()
    INSTRUCTION = auto()


@dataclass(frozen=True, slots=True)
class Part:
    """A part as it stands in the passage. `context` is what must be read with it: heading, lead-in."""

    text: str
    kind: PartKind
    context: str = ""


@lru_cache(maxsize=512)
def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a passage's Markdown, in order. Each row of a table is one, below the table's header."""
    parts: list[Part] = []
    heading = lead_in = ""
    lead_at = end = 0
    for block in _blocks(text):
        start = text.index(block, end)
        end = start + len(block)
        if _HEADING.match(block):
            heading, lead_in = block.strip(), ""
            parts.append(Part(heading, _kind(heading, PartKind.HEADING)))
            continue
        context = f"{heading}\n{lead_in}".strip()
        found = [Part(one, _kind(one), context) for one in _quotable(block)]
        if _ITEM.match(block) and parts and parts[-1].text == lead_in:
            whole = text[lead_at:end].strip()
            kinds = {part.kind for part in (parts[-1], *found)}
            if len(whole) <= _LONGEST_LIST and kinds == {PartKind.STATEMENT}:
                parts[-1] = Part(whole, PartKind.STATEMENT, heading)
        if found and all(part.kind is not PartKind.INSTRUCTION for part in found) and _instructs(block):
            # Only all of it together shows what it is.
            found = [Part(part.text, PartKind.INSTRUCTION) for part in found]
        parts += found
        if not _ITEM.match(block):
            lead_in = found[-1].text if found and _LEAD_IN_END.search(found[-1].text) else ""
            lead_at = text.rfind(lead_in, start, end)
    return tuple(parts)


def _blocks(text: str) -> Iterator[str]:
    """Headings, code blocks, tables, lists and paragraphs."""
    block: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        opened = _FENCE.match(line)
        if fence:
            block.append(line)
            if opened and opened[1].startswith(fence):
                yield "".join(block)
                block, fence = [], ""
            continue
        alone = _HEADING.match(line) is not None
        if block and (alone or opened or not line.strip() or not _goes_on(block, line)):
            yield "".join(block)
            block = []
        if opened:
            block, fence = [line], opened[1]
        elif alone:
            yield line
        elif line.strip():
            block.append(line)
    if block:
        yield "".join(block)


def _goes_on(block: list[str], line: str) -> bool:
    """Whether a line belongs to the block; one below a list's item goes on with it, indented or not."""
    sort = _sort(line)
    return sort == _sort(block[0]) or (sort == "text" and _sort(block[0]) == "list")


def _sort(line: str) -> str:
    if line.lstrip().startswith("|"):
        return "table"
    return "list" if _ITEM.match(line) or line[:1] in " \t" else "text"


def _quotable(block: str) -> Iterator[str]:
    if _FENCE.match(block):
        yield block.strip()
    elif _sort(block) == "table":
        header, rows = table_rows(block)
        yield from ((header + row).strip() for row in rows)
    elif _sort(block) == "list":
        for item in _items(block):
            yield from [item] if len(item) <= _LONGEST_ITEM else _sentences(item)
    else:
        yield from _sentences(block)


def _items(block: str) -> Iterator[str]:
    item = ""
    for line in block.splitlines(keepends=True):
        marker = _ITEM.match(line)
        if marker and item.strip():
            yield item.strip()
        item = line[marker.end() :] if marker else item + line
    if item.strip():
        yield item.strip()


def _sentences(text: str) -> Iterator[str]:
    for start, end in sentence_spans(text):
        if sentence := text[start:end].strip():
            yield sentence


def _kind(text: str, harmless: PartKind = PartKind.STATEMENT) -> PartKind:
    if _instructs(text):
        return PartKind.INSTRUCTION
    if harmless is PartKind.STATEMENT and _QUESTION_END.search(text):
        return PartKind.QUESTION
    return harmless


def _instructs(text: str) -> bool:
    """Whether a text, or a cell of a table in it, is meant for a language model."""
    cells = [cell.strip() for cell in text.split("|")] if text.startswith("|") else []
    return any(find_instructions(one) for one in (text, *cells))
