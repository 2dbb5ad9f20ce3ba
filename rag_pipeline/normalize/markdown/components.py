"""MDX in Markdown: imports, exports and components, of which a reader sees labels and contents only."""

import re
from collections.abc import Iterator
from typing import Final

from rag_pipeline.normalize.markdown.edits import Edit, Edited, apply_edits
from rag_pipeline.normalize.markdown.regions import find_regions

_TRIGGER: Final = re.compile(r"^(import|export)\b|</?[A-Z>]|<[a-z][^<>\n]*=\{", re.MULTILINE)
_IMPORT: Final = re.compile(
    r"^import[ \t]+(?:[\w$*{},\s]+?[ \t\n]+from[ \t]+)?(['\"])[^'\"\s]+\1[ \t]*;?[ \t]*$", re.MULTILINE
)
_EXPORT: Final = re.compile(
    r"^export[ \t]+(?:(?:const|let|var)[ \t]+[\w${\[][^\n=]*="
    r"|(?:default[ \t]+)?(?:async[ \t]+)?(?:function|class)\b[^\n]*[({]"
    r"|default[ \t]+[\w$]+;|default[ \t]*[({]|\{)(?:[^\n]|\n(?![^\S\n]*(?:\n|$)))*",
    re.MULTILINE,
)
_COMPONENT: Final = re.compile(r"<(/?)([A-Z]\w*[a-z]\w*(?:\.\w+)*)(?=[\s/>])|<(/?)>")
_ATTRIBUTE: Final = re.compile(
    r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|\{\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`$]*)`)\s*\})"
)
_SHOWN: Final = ("label", "title", "heading", "summary", "caption", "alt", "tab", "value")
# What follows a tag's name up to its end; braces may hold braces, as settings do.
_REST: Final = re.compile(
    r"(?:[^<>{}\"']|\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\})*>"
)
_LONGEST_TAG: Final = 5_000


def without_components(text: str) -> Edited:
    """The text without imports, exports and the tags of components; their labels and contents stay."""
    if not _TRIGGER.search(text):
        return Edited(text)
    masked = find_regions(text).masked
    edits = [Edit(m.start(), m.end(), reason="import") for m in _IMPORT.finditer(masked)]
    edits += [Edit(m.start(), m.end(), reason="export") for m in _EXPORT.finditer(masked)]
    edits += _tags(text, masked)
    return apply_edits(text, edits)


def _tags(text: str, masked: str) -> Iterator[Edit]:
    """Tags of components; `<Placeholder>` alone, which nothing closes, is text."""
    matches = list(_COMPONENT.finditer(masked))
    closed = {match.group(2) for match in matches if match.group(1)}
    fragments = any(match.group(3) for match in matches)
    for match in matches:
        name = match.group(2)
        if name is None:
            if fragments:
                yield Edit(match.start(), match.end(), reason="component")
            continue
        rest = _REST.match(masked, match.end(), match.end() + _LONGEST_TAG)
        if rest is None or not (name in closed or rest.group().endswith("/>")):
            continue
        label = "" if match.group(1) else _label(text[rest.start() : rest.end()])
        line_start = masked.rfind("\n", 0, match.start()) + 1
        before = masked[max(0, line_start - 2) : line_start]
        if label and not masked[line_start : match.start()].strip():
            label = f"{_gap(before)}**{label}**{_gap(masked[rest.end() : rest.end() + 2])}"
        yield Edit(match.start(), rest.end(), label, "component")


def _gap(beside: str) -> str:
    """What keeps a line apart from that beside it, of which the two nearest characters are given."""
    return "\n" if beside.strip("\n") else ""


def _label(attributes: str) -> str:
    given = {
        match.group(1): " ".join(next(value for value in match.groups()[1:] if value is not None).split())
        for match in _ATTRIBUTE.finditer(attributes)
    }
    return next((given[name] for name in _SHOWN if given.get(name)), "")
