"""Telling the items of lists by their bullets and numbers, and their nesting by where these stand."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from rag_pipeline.normalize.layout.page_text import Line

_BULLETS: Final = "•◦‣▪▫●○■□◆◇►▸▶➢➤✓✔❖∙⁃○–—·※\uf0b7\uf0a7\uf0d8\uf0fc\uf076*-"
_BULLET: Final = re.compile(rf"^[{_BULLETS}]\s+(?=\S)|^[•◦‣▪●■►➢❖\uf0b7\uf0a7](?=\S)")
_NUMBERED: Final = re.compile(
    r"^(?:[(（](?:\d{1,3}|[a-zA-Z]|[ivx]{2,5})[)）]|(?:\d{1,3}|[a-zA-Z]|[ivx]{2,5})[.)])\s+(?=\S)"
    r"|^(?:\d{1,2}、|[①-⑳])\s*(?=\S)"
)
# A word in a font of its own that begins this many lines is a bullet whose sign the font does not tell.
_LEAST_ALIKE: Final = 2
_MOST_MARKER: Final = 10
# Items that begin within this many line heights of each other are on one level.
_SAME_INDENT: Final = 0.8
_MOST_DEPTH: Final = 5


class Marker(NamedTuple):
    """What marks a line as the beginning of an item: `text` as it stands there, bullet or number."""

    text: str
    bullet: bool


class Markers:
    """Finds the markers of a document's lists; it has to see all lines to know its unnamed bullets."""

    def __init__(self, lines: Iterable[Line]) -> None:
        leads: Counter[str] = Counter()
        elsewhere: Counter[str] = Counter()
        for line in lines:
            if line.lead and len(line.lead) <= _MOST_MARKER and line.text.startswith(line.lead + " "):
                leads[line.lead] += 1
            elsewhere.update(line.text.split()[1:])
        self._signs = frozenset(
            lead
            for lead, count in leads.items()
            if count >= _LEAST_ALIKE and count > elsewhere[lead] and _is_sign(lead)
        )

    def of(self, line: Line) -> Marker | None:
        """The marker that a line begins with, or None."""
        if line.lead in self._signs:
            return Marker(line.text[: len(line.lead) + 1], bullet=True)
        if match := _BULLET.match(line.text):
            return Marker(match[0], bullet=True)
        if match := _NUMBERED.match(line.text):
            return Marker(match[0], bullet=False)
        return None


def _is_sign(lead: str) -> bool:
    """A single letter that no sentence begins with, or the name of a glyph such as SM590000 or g131."""
    return (len(lead) == 1 and not (lead.isupper() or lead.isdigit())) or (
        lead[:1].isalpha() and lead[-1:].isdigit() and lead.isalnum()
    )


class Nesting:
    """How deep the items of a list are nested: a stack of where the levels' markers begin."""

    def __init__(self) -> None:
        self._levels: list[tuple[float, int]] = []

    def indent(self, left: float, height: float, marker: Marker) -> str:
        """The white space before an item whose marker begins at `left`, as Markdown nests it."""
        while self._levels and self._levels[-1][0] > left - _SAME_INDENT * height:
            self._levels.pop()
        indent = " " * sum(width for _, width in self._levels[-_MOST_DEPTH:])
        self._levels.append((left, 2 if marker.bullet else len(marker.text.strip()) + 1))
        return indent

    def end(self) -> None:
        """The list is over."""
        self._levels.clear()


def item_markdown(marker: Marker, text: str) -> str:
    """An item's first line as Markdown: bullets become hyphens, numbers that Markdown knows stay."""
    if marker.bullet:
        return f"- {text}"
    number = marker.text.strip()
    if re.fullmatch(r"\d{1,3}[.)]", number):
        return f"{number} {text}"
    return f"- {number} {text}"
