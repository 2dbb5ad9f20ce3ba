"""Text with emphasis, links and code as Markdown, as a reader of the page would copy it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

_SPACE: Final = re.compile(r"\s+")
_BREAK: Final = "  \n"
_MARKS: Final = (("em", "*"), ("strong", "**"), ("strike", "~~"))
_RAISED: Final = str.maketrans("0123456789+-\u2212=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_LOWERED: Final = str.maketrans("0123456789+-\u2212=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_SHIFTABLE: Final = re.compile(r"[0-9+\-\u2212=()]+")
# What follows an ordinal number (1st, 2e, 3º) reads the same on the line.
_AFTER_NUMBER: Final = re.compile(r"\d$")
# The page's own scripts, and pictures written into it, are nobody's target.
_NO_TARGET: Final = re.compile(r"\s*(javascript|vbscript|data|about|blob):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one look. `marks` holds any of strong, em, strike, code, sup, sub; `link` the target."""

    text: str
    marks: frozenset[str] = frozenset()
    link: str | None = None
    is_break: bool = False


def link_target(href: str | None) -> str | None:
    """A link's target as it is written, None where it leads nowhere that a reader could go."""
    if href is None or _NO_TARGET.match(href):
        return None
    target = "".join(href.split())
    return None if target in ("", "#") else target


def inline_markdown(runs: Iterable[Run], *, breaks: bool = True) -> str:
    """The runs as Markdown without white space around it; line breaks become spaces without `breaks`."""
    spaced = _spaced(runs, breaks=breaks)
    parts = []
    for link, numbered in groupby(enumerate(spaced), key=lambda pair: pair[1].link):
        text = "".join(_marked(spaced, at) for at, _ in numbered)
        parts.append(_linked(text, link) if link else text)
    return "".join(parts).strip()


def _spaced(runs: Iterable[Run], *, breaks: bool) -> list[Run]:
    """White space collapsed to one space, across runs, none around line breaks; equal neighbours joined."""
    joined: list[Run] = []
    after_space = True
    for (marks, link, is_break), group in groupby(runs, key=lambda run: (run.marks, run.link, run.is_break)):
        same = list(group)
        if is_break and breaks:
            _strip_end(joined)
            joined.append(Run(_BREAK * len(same), link=link, is_break=True))
            after_space = True
            continue
        text = " " if is_break else _SPACE.sub(" ", "".join(run.text for run in same))
        if after_space:
            text = text.lstrip(" ")
        if text:
            joined.append(Run(text, marks, link))
            after_space = text.endswith(" ")
    return joined


def _strip_end(runs: list[Run]) -> None:
    """Take the white space from the end of the last run that is no line break."""
    if runs and not runs[-1].is_break:
        last = runs.pop()
        if text := last.text.rstrip(" "):
            runs.append(replace(last, text=text))


def _marked(runs: Sequence[Run], at: int) -> str:
    """A run's text between the marks of its look, which stand close to it and never inside of a word."""
    run = runs[at]
    before = runs[at - 1].text[-1:] if at else ""
    after = runs[at + 1].text[:1] if at + 1 < len(runs) else ""
    core = run.text.strip(" ")
    if run.is_break or not core:
        return run.text
    lead = " " if run.text.startswith(" ") else ""
    trail = " " if run.text.endswith(" ") else ""
    if run.marks & {"sup", "sub"}:
        return lead + _shifted(core, raised="sup" in run.marks, before=before) + trail
    if "code" in run.marks:
        return lead + code_span(core) + trail
    inside_word = (not lead and before.isalnum() and core[0].isalnum()) or (
        not trail and after.isalnum() and core[-1].isalnum()
    )
    if not inside_word:
        for name, mark in _MARKS:
            if name in run.marks:
                core = f"{mark}{core}{mark}"
    return lead + core + trail


def code_span(text: str) -> str:
    """Text as inline code, between more backticks than it holds in a row."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _shifted(text: str, *, raised: bool, before: str) -> str:
    if _SHIFTABLE.fullmatch(text):
        return text.translate(_RAISED if raised else _LOWERED)
    if not raised or not before.isalnum() or not text[0].isalnum() or _AFTER_NUMBER.search(before):
        return text
    return f"^{text}"


def _linked(text: str, target: str) -> str:
    core = text.replace(_BREAK, " ").strip()
    if not core:
        return text
    lead = " " if text[0].isspace() else ""
    trail = " " if text[-1].isspace() else ""
    if core == target and "://" in target:
        return f"{lead}<{target}>{trail}"
    if core.count("[") != core.count("]"):
        core = core.replace("[", "\\[").replace("]", "\\]")
    if target.count("(") != target.count(")"):
        target = f"<{target}>"
    return f"{lead}[{core}]({target}){trail}"
