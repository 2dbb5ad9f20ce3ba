"""AsciiDoc as Markdown: its blocks by their delimiters, what they are by the lines above them."""

import re
from collections.abc import Sequence
from typing import Final

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.assembling import Piece, assemble, code_markdown
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument, Removed
from rag_pipeline.normalize.markdown.blocks import first_title
from rag_pipeline.normalize.markup.asciidoc_inline import first_argument, inline
from rag_pipeline.normalize.markup.asciidoc_tables import separated_table, table
from rag_pipeline.normalize.web.html_blocks import quote_markdown
from rag_pipeline.normalize.web.html_lists import item_pieces

_HEADING: Final = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_SET_ATTRIBUTE: Final = re.compile(r":(!?[\w-]+!?):(?:[ \t]+(.*))?")
_BLOCK_ATTRIBUTES: Final = re.compile(r"\[(?!\[)([^\n]*)\][ \t]*|\[\[[^\n]+\]\][ \t]*")
_TITLE: Final = re.compile(r"\.(?![.\s])(\S.*)")
_DELIMITER: Final = re.compile(
    r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}[\w+-]*|[|,:!]={3,})[ \t]*"
)
_MACRO: Final = re.compile(r"(\w+)::([^\s\[]*)\[([^\n]*)\][ \t]*")
_CONDITION: Final = re.compile(r"(?:ifdef|ifndef|ifeval|endif)::")
_RULE: Final = re.compile(r"'{3,}|<{3,}|-{3}|\*{3}")
_ITEM: Final = re.compile(r"([ \t]*)(\*{1,6}|-|\.{1,6}|\d{1,4}\.|[a-zA-Z]\.|<\d{1,3}>|<\.>)[ \t]+(\S.*)")
_TERM: Final = re.compile(r"([ \t]*)(\S.*?)(:{2,4}|;;)(?:[ \t]+(\S.*))?[ \t]*")
_ADMONITIONS: Final = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})
_AUTHOR: Final = re.compile(r"[^\W\d_][\w.' -]*(?:<[^<>\s]+>)?(?:;[^;]+)*")
_TASK: Final = {"[*]": "[x]", "[x]": "[x]", "[ ]": "[ ]"}
# Blocks nested deeper are read as plain text: no author means it.
_DEEPEST: Final = 30


def convert_asciidoc(data: bytes) -> NormalizedDocument:
    """Read a text. Files that it includes are not read; both branches of its conditions are."""
    decoded = decode(data)
    text, warnings = clean(decoded.text)
    reader = _Reader()
    markdown, blocks = assemble(reader.pieces(text.split("\n"), 0))
    return NormalizedDocument(
        markdown=markdown,
        blocks=blocks,
        title=first_title(markdown, blocks),
        warnings=(*decoded.warnings, *warnings),
        decisions=(decoded.decision,),
        removed=tuple(reader.removed),
    )


class _Reader:
    """Reads lines into pieces; keeps the document's attributes, and what it left out."""

    def __init__(self) -> None:
        self.removed: list[Removed] = []
        self._attributes = {
            "empty": "",
            "sp": " ",
            "nbsp": " ",
            "amp": "&",
            "lt": "<",
            "gt": ">",
            "plus": "+",
        }

    def pieces(self, lines: Sequence[str], depth: int) -> list[Piece]:
        """The pieces of lines that are not inside of any delimiter."""
        pieces: list[Piece] = []
        given = title = ""
        at = 0
        while at < len(lines):
            line = lines[at].rstrip()
            if not line.strip():
                at += 1
            elif line.startswith("//") and not line.startswith("////"):
                self._remove("comment", line[2:])
                at += 1
            elif _CONDITION.match(line):
                self._remove("directive", line)
                at += 1
            elif match := _SET_ATTRIBUTE.fullmatch(line):
                self._attributes[match.group(1).strip("!")] = match.group(2) or ""
                at += 1
            elif match := _BLOCK_ATTRIBUTES.fullmatch(line):
                given = ",".join(filter(None, [given, match.group(1) or ""]))
                at += 1
            elif (match := _TITLE.fullmatch(line)) and not _DELIMITER.fullmatch(line):
                title = self._inline(match.group(1))
                at += 1
            else:
                if title:
                    pieces.append(Piece(BlockKind.PARAGRAPH, title))
                at = self._block(lines, at, given, pieces, depth)
                given = title = ""
        if title:
            pieces.append(Piece(BlockKind.PARAGRAPH, title))
        return pieces

    def _block(self, lines: Sequence[str], at: int, given: str, pieces: list[Piece], depth: int) -> int:
        """Read the block that begins at line `at`; returns the number of the line after it."""
        line = lines[at].rstrip()
        if match := _HEADING.fullmatch(line):
            level = len(match.group(1))
            text = self._inline(match.group(2))
            pieces.append(Piece(BlockKind.HEADING, f"{'#' * level} {text}", level))
            return self._header(lines, at + 1, pieces) if level == 1 and len(pieces) == 1 else at + 1
        if match := _DELIMITER.fullmatch(line):
            end = _closing(lines, at, match.group(1))
            self._delimited(match.group(1), lines[at + 1 : end], given, pieces, depth)
            return end + 1
        if match := _MACRO.fullmatch(line):
            self._macro(match, pieces)
            return at + 1
        if _RULE.fullmatch(line):
            return at + 1
        if _ITEM.fullmatch(line) or _TERM.fullmatch(line):
            end = _list_end(lines, at)
            pieces += self._list(lines[at:end], depth)
            return end
        if line.startswith("|"):
            end = next((n for n in range(at, len(lines)) if not lines[n].startswith("|")), len(lines))
            self._table(lines[at:end], given, pieces)
            return end
        return self._paragraph(lines, at, given, pieces)

    def _header(self, lines: Sequence[str], at: int, pieces: list[Piece]) -> int:
        """The lines right below the document's title: its author and revision."""
        facts: list[str] = []
        while at < len(lines) and lines[at].strip() and len(facts) < 2:
            line = lines[at].strip()
            if _SET_ATTRIBUTE.fullmatch(line) or line.startswith("//"):
                break
            if not (_AUTHOR.fullmatch(line) if not facts else re.match(r"v?\d", line)):
                break
            facts.append(line)
            at += 1
        if facts:
            pieces.append(Piece(BlockKind.PARAGRAPH, "  \n".join(facts)))
        return at

    def _paragraph(self, lines: Sequence[str], at: int, given: str, pieces: list[Piece]) -> int:
        end = at + 1
        while end < len(lines) and lines[end].strip() and not _interrupts(lines[end]):
            end += 1
        part = [line.rstrip() for line in lines[at:end]]
        style = _style(given)
        if style in ("source", "listing", "literal") or part[0].startswith((" ", "\t")):
            pieces.append(Piece(BlockKind.CODE, code_markdown("\n".join(part), _language(given))))
            return end
        text = self._text(part)
        if style in ("quote", "verse"):
            pieces.append(Piece(BlockKind.QUOTE, quote_markdown(self._attributed(text, given))))
        else:
            named = f"{style}: " if style in _ADMONITIONS else ""
            pieces.append(Piece(BlockKind.PARAGRAPH, named + text))
        return end

    def _delimited(
        self, delimiter: str, inner: Sequence[str], given: str, pieces: list[Piece], depth: int
    ) -> None:
        kind = delimiter[0]
        style = _style(given)
        if kind == "/" or style == "comment":
            self._remove("comment", "\n".join(inner))
        elif kind in "|!" or kind in ",:":
            if kind in "|!":
                self._table(inner, given, pieces)
            else:
                pieces.append(Piece(BlockKind.TABLE, separated_table(inner, self._inline)))
        elif delimiter == "--" and style != "source" and depth < _DEEPEST:
            pieces += self.pieces(inner, depth + 1)
        elif kind in "-.`":
            code = [re.sub(r"\s*<(?:\d+|\.)>\s*$", "", line) for line in inner]  # callouts
            language = delimiter.lstrip("`") if kind == "`" else _language(given)
            pieces.append(Piece(BlockKind.CODE, code_markdown("\n".join(code).strip("\n"), language)))
        elif kind == "+":
            pieces.append(Piece(BlockKind.OTHER, "\n".join(inner)))
        elif depth >= _DEEPEST:
            pieces.append(Piece(BlockKind.PARAGRAPH, self._text(inner)))
        elif kind == "_":
            held = self.pieces(inner, depth + 1)
            pieces.append(Piece(BlockKind.QUOTE, quote_markdown([*held, *self._attributed("", given)])))
        else:
            if style in _ADMONITIONS:
                pieces.append(Piece(BlockKind.PARAGRAPH, f"{style}:"))
            pieces += self.pieces(inner, depth + 1)

    def _attributed(self, text: str, given: str) -> list[Piece]:
        """A quotation's text and, below it, whom its block's attributes name for it."""
        names = [name.strip().strip('"') for name in given.split(",")[1:] if name.strip() and "=" not in name]
        parts = [text, f"— {', '.join(names)}" if names else ""]
        return [Piece(BlockKind.PARAGRAPH, part) for part in parts if part]

    def _macro(self, match: re.Match[str], pieces: list[Piece]) -> None:
        name, _, arguments = match.groups()
        if name == "image":
            if text := picture_markdown(first_argument(arguments)):
                pieces.append(Piece(BlockKind.PARAGRAPH, text))
        else:
            self._remove("directive", match.group())

    def _table(self, lines: Sequence[str], given: str, pieces: list[Piece]) -> None:
        if text := table(lines, given, self._inline):
            pieces.append(Piece(BlockKind.TABLE, text))

    def _list(self, lines: Sequence[str], depth: int) -> list[Piece]:
        """The items of a list that all of the lines belong to."""
        pieces: list[Piece] = []
        levels: list[tuple[str, int]] = []
        numbers: list[int] = []
        starts = [number for number, line in enumerate(lines) if _is_item(lines, number)]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            item = _ITEM.fullmatch(lines[start].rstrip())
            term = None if item else _TERM.fullmatch(lines[start].rstrip())
            match = item or term
            if match is None:
                continue
            sign = match.group(2) if item else match.group(3)
            key = (re.sub(r"\w+|<[\d.]+>", "1", sign), len(match.group(1).expandtabs(4)))
            level = next((number for number, known in enumerate(levels) if known == key), len(levels))
            levels = [*levels[:level], key]
            numbers = [*numbers[: level + 1], *[0] * (level + 1 - len(numbers))]
            numbers[level] += 1
            marker = f"{numbers[level]}." if sign[0] in ".<" or sign[0].isdigit() else "-"
            marker = sign if sign[0].isalpha() else marker
            first = self._first_text(match, is_term=item is None)
            inner = self._item(first, lines[start + 1 : end], depth)
            for piece in item_pieces(marker, inner):
                pieces.append(_deeper(piece, "  " * level if piece.kind is BlockKind.LIST_ITEM else ""))
        return pieces

    def _first_text(self, match: re.Match[str], *, is_term: bool) -> str:
        if is_term:
            said = f": {match.group(4)}" if match.group(4) else ":"
            return f"**{match.group(2).strip()}**{said}"
        text = match.group(3)
        return f"{_TASK[text[:3]]}{text[3:]}" if text[:4] in ("[*] ", "[x] ", "[ ] ") else text

    def _item(self, first: str, rest: Sequence[str], depth: int) -> list[Piece]:
        """An item's text, and the blocks that `+` lines attach to it."""
        own = next((number for number, line in enumerate(rest) if line.strip() == "+"), len(rest))
        inner = [
            Piece(BlockKind.PARAGRAPH, self._text([first, *(line for line in rest[:own] if line.strip())]))
        ]
        attached = ["" if line.strip() == "+" else line for line in rest[own:]]
        if depth < _DEEPEST:
            return inner + self.pieces(attached, depth + 1)
        return [*inner, Piece(BlockKind.PARAGRAPH, self._text(attached))]

    def _text(self, lines: Sequence[str]) -> str:
        """Lines as one text; a line that ends in ` +` is broken there."""
        parts = [line.strip() for line in lines if not line.startswith("//")]
        broken = "\n".join(part.removesuffix(" +") + "  " if part.endswith(" +") else part for part in parts)
        return self._inline(broken)

    def _inline(self, text: str) -> str:
        return inline(text, self._attributes)

    def _remove(self, reason: str, text: str) -> None:
        if text.strip():
            self.removed.append(Removed(reason, text.strip()))


def _closing(lines: Sequence[str], at: int, delimiter: str) -> int:
    """The number of the line that closes a block; that after the last where none does."""
    wanted = "`" * (len(delimiter) - len(delimiter.lstrip("`"))) or delimiter
    return next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == wanted), len(lines))


def _interrupts(line: str) -> bool:
    """Whether a line ends the paragraph above it without an empty line between them."""
    line = line.rstrip()
    return bool(
        _BLOCK_ATTRIBUTES.fullmatch(line)
        or _DELIMITER.fullmatch(line)
        or _HEADING.fullmatch(line)
        or _CONDITION.match(line)
        or _MACRO.fullmatch(line)
    )


def _is_item(lines: Sequence[str], number: int) -> bool:
    line = lines[number].rstrip()
    return bool(_ITEM.fullmatch(line) or _TERM.fullmatch(line))


def _list_end(lines: Sequence[str], at: int) -> int:
    """The number of the line after a list that begins at line `at`, its attached blocks included."""
    number = at
    attached = False
    while number < len(lines):
        line = lines[number].rstrip()
        if not line:
            following = next((n for n in range(number, len(lines)) if lines[n].strip()), len(lines))
            if following == len(lines) or not (_is_item(lines, following) or lines[following].strip() == "+"):
                return number
            number = following
            continue
        if line == "+":
            attached = True
        elif attached and (match := _DELIMITER.fullmatch(line)):
            number = _closing(lines, number, match.group(1))
            attached = False
        elif attached and _BLOCK_ATTRIBUTES.fullmatch(line):
            pass
        elif _interrupts(line) and not _is_item(lines, number):
            return number
        else:
            attached = False
        number += 1
    return number


def _deeper(piece: Piece, indent: str) -> Piece:
    text = "\n".join(indent + line if line.strip() else line for line in piece.text.split("\n"))
    return Piece(piece.kind, text, piece.level)


def _style(given: str) -> str:
    return re.split(r"[,.#%]", given, maxsplit=1)[0].strip()


def _language(given: str) -> str:
    parts = [part.strip() for part in given.split(",")]
    stated = parts[1] if len(parts) > 1 and parts[0].split("%")[0] in ("source", "") else ""
    return stated if re.fullmatch(r"[\w+#-]+", stated) else ""
