"""Admonitions and tabs in Markdown (`:::note`, `!!! note`, `=== "Tab"`): only their titles are shown."""

import re
from typing import Final

from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.markdown.edits import Edit, Edited, apply_edits
from rag_pipeline.normalize.markdown.regions import MASK, find_regions

_TRIGGER: Final = re.compile(r":::|!!! |\?\?\?\+? |=== \"|^#.*\{[#.:]|\{:", re.MULTILINE)
_COLONS: Final = re.compile(
    r"(?P<indent>[ \t]*(?:>[ \t]*)*):{3,}(?P<space>[ \t]*)(?P<kind>\{[^{}\n]*\}|[A-Za-z][\w-]*)?"
    r"(?P<rest>[^\n]*)"
)
_BRACKETED: Final = re.compile(r"[ \t]*\[([^\n]*)\]")
_ATTRIBUTES: Final = re.compile(r"\{[^{}\n]*\}")
_MARKED: Final = re.compile(
    r"(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?)[ \t]+(?P<kind>[A-Za-z][\w-]*)(?:[ \t]+[\w-]+)*[ \t]*"
    r"(?:\"(?P<title>[^\"\n]*)\")?[ \t]*|(?P<tab_indent>[ \t]*)===[!+]?[ \t]+\"(?P<tab>[^\"\n]+)\"[ \t]*"
)
_HEADING_ATTRIBUTES: Final = re.compile(r"^#{1,6} [^\n]*?([ \t]*\{[#.:][^{}\n]*\})[ \t]*$", re.MULTILINE)
_LINE_ATTRIBUTES: Final = re.compile(r"^[ \t]*\{:[^{}\n]*\}[ \t]*$", re.MULTILINE)
# Kinds whose name is shown where they have no title of their own.
_NAMED: Final = frozenset(
    {"note", "tip", "info", "information", "warning", "danger", "caution", "important", "hint", "attention",
     "error", "success", "question", "seealso", "abstract", "summary", "example", "quote", "bug", "failure",
     "todo", "disclaimer", "notice"}
)  # fmt: skip
# One step of nesting in the documents of MkDocs.
_STEP: Final = 4
_DEEPEST: Final = 6


def without_directives(text: str) -> Edited:
    """The text with the titles of admonitions and tabs instead of the lines that open and close them."""
    if not _TRIGGER.search(text):
        return Edited(text)
    removed: tuple[Removed, ...] = ()
    for _ in range(_DEEPEST):
        step = _outdented(text)
        if step.text == text:
            break
        text, removed = step.text, removed + step.removed
    masked = find_regions(text).masked
    edits = []
    at = 0
    for line in masked.split("\n"):
        match = _COLONS.fullmatch(line) if ":::" in line else None
        if match and MASK not in line:
            title = _colon_title(match)
            edits.append(_opening(text, at, at + len(line), match.group("indent"), title))
        at += len(line) + 1
    for pattern, group in ((_HEADING_ATTRIBUTES, 1), (_LINE_ATTRIBUTES, 0)):
        edits += [Edit(m.start(group), m.end(group), reason="attributes") for m in pattern.finditer(masked)]
    edited = apply_edits(text, edits)
    return Edited(edited.text, removed + edited.removed)


def _colon_title(match: re.Match[str]) -> str:
    """The title that an admonition shows; "" where its line only opens or closes something."""
    kind = (match.group("kind") or "").strip("{}. \t").split(" ")[0]
    rest = match.group("rest")
    if bracketed := _BRACKETED.match(rest):
        return bracketed.group(1).strip()
    title = _ATTRIBUTES.sub("", rest).strip().strip(":").strip('"').strip()
    if title:
        return title
    return kind.capitalize() if kind.lower() in _NAMED else ""


def _opening(text: str, start: int, end: int, indent: str, title: str) -> Edit:
    """The edit of a line that opens an admonition: a paragraph of its own that is its title."""
    if not title:
        return Edit(start, end, indent if ">" in indent else "", "admonition mark")
    blank = indent.rstrip()
    before = f"{blank}\n" if text[max(0, start - 2) : start].strip("\n") else ""
    after = f"\n{blank}" if text[end : end + 2].strip("\n") else ""
    return Edit(start, end, f"{before}{indent}**{title}**{after}", "admonition mark")


def _outdented(text: str) -> Edited:
    """The text with the contents of its outermost marked admonitions and tabs moved out by one step."""
    lines = text.split("\n")
    masked = find_regions(text).masked.split("\n")
    kept: list[str] = []
    removed: list[Removed] = []
    number = 0
    while number < len(lines):
        match = _MARKED.fullmatch(masked[number])
        indent = (match.group("indent") or match.group("tab_indent") or "") if match else ""
        width = len(indent.expandtabs(_STEP))
        end = _contents_end(lines, number + 1, width) if match else number + 1
        if match is None or end == number + 1:
            kept.append(lines[number])
            number += 1
            continue
        title = match.group("tab") or match.group("title")
        if title is None and match.group("kind").lower() in _NAMED:
            title = match.group("kind").capitalize()
        removed.append(Removed("admonition mark", lines[number].strip()))
        kept += ["", f"{indent}**{title}**", ""] if title else [""]
        for line in lines[number + 1 : end]:
            wide = line.expandtabs(_STEP)
            kept.append(indent + wide[width + _STEP :] if line.strip() else "")
        kept.append("")
        number = end
    return Edited("\n".join(kept), tuple(removed)) if removed else Edited(text)


def _contents_end(lines: list[str], first: int, indent: int) -> int:
    """The number of the line after the last that is indented by a step more than `indent`."""
    end = number = first
    while number < len(lines):
        line = lines[number].expandtabs(_STEP)
        if line.strip():
            if len(line) - len(line.lstrip(" ")) < indent + _STEP:
                break
            end = number + 1
        number += 1
    return end
