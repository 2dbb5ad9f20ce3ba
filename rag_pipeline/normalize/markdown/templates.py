"""Template tags in Markdown (`{% … %}`, `{{ … }}`, comments): what a reader of the finished page would see.

Which program fills in the templates is not known, so the rule is one for all: a tag shows the words that it
is given in quotes, a link's target is the path that it is given, and comments show nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from rag_pipeline.normalize.markdown.edits import Edit, Edited, apply_edits
from rag_pipeline.normalize.markdown.regions import find_regions

_TRIGGER: Final = re.compile(r"<!--|\{[%{#]|\{/\*|\]: #")
_OPENING: Final = re.compile(r"<!--|\{%|\{\{|\{#(?=[\s-])|\{/\*")
_CLOSING: Final = {"<!--": "-->", "{%": "%}", "{{": "}}", "{#": "#}", "{/*": "*/}"}
_COMMENTS: Final = frozenset({"<!--", "{#", "{/*"})
# Longer than any tag; without a limit, one unclosed brace would be searched for through the whole text.
_LONGEST_TAG: Final = 2_000
_EMPTY_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_TAG: Final = re.compile(r"[<%]?[-~+]?\s*(/?[\w.-]*)")
_QUOTED: Final = re.compile(r"""([\w-]+)\s*[=:]\s*(?:"([^"]*)"|'([^']*)')|"([^"]*)"|'([^']*)'""")
_SHOWN_KEYS: Final = frozenset({"title", "alt", "caption", "label", "text", "heading", "summary", "name"})
_PATH: Final = re.compile(
    r"[\w.~@:?=&%#+-]*/\S*|[\w-]+(\.[\w-]+)*\.(html?|md|png|jpe?g|gif|svg|pdf|css|js|njk|liquid)"
)
_TARGET_BEFORE: Final = re.compile(r"""(\]\(\s*<?[^\s()]*|\b(href|src)\s*=\s*["']?[^\s"'<>]*)$""")
_LINK_COMMENT: Final = re.compile(r"^[ ]{0,3}\[(//|comment|_)\]:\s*(#|<>)\s+[(\"'].*[)\"']\s*$", re.MULTILINE)
# Tags between which nothing is a tag, and what ends them.
_CLOSED_BY: Final = {
    "comment": ("endcomment",), "raw": ("endraw",), "verbatim": ("endverbatim",),
    "highlight": ("endhighlight", "/highlight"),
}  # fmt: skip
_LANGUAGE: Final = re.compile(r"highlight\s+\"?([\w+#-]+)")
_IMAGE: Final = re.compile(r"\.(png|jpe?g|gif|svg|webp|avif)$", re.IGNORECASE)
# Longer than the beginning of any link's target.
_LONGEST_TARGET: Final = 300
_CONTROL: Final = frozenset(
    {"if", "elsif", "elseif", "elif", "else", "unless", "for", "while", "case", "when", "set", "assign",
     "macro", "block", "extends", "include", "include_relative", "render", "import", "from", "layout",
     "section", "capture", "with", "call", "filter", "cycle", "increment", "decrement", "end", "partial",
     "toc", "load", "slot", "style", "schema", "paginate", "tablerow", "break", "continue", "liquid",
     "autoescape", "spaceless"}
)  # fmt: skip


class _Found(NamedTuple):
    """A tag or comment: its place, how it opens, and what it holds."""

    start: int
    end: int
    opening: str
    inner: str

    @property
    def name(self) -> str:
        match = _TAG.match(self.inner)
        return match.group(1) if match and self.opening != "<!--" else ""


def without_templates(text: str) -> Edited:
    """The text without comments and template tags, with the words that tags show; code is left alone."""
    if not _TRIGGER.search(text):
        return Edited(text)
    masked = find_regions(text).masked
    edits = [Edit(m.start(), m.end(), reason="comment") for m in _LINK_COMMENT.finditer(masked)]
    found = list(_found(text, masked))
    numbers: dict[str, list[int]] = {}
    for number, tag in enumerate(found):
        numbers.setdefault(tag.name, []).append(number)
    at = 0
    while at < len(found):
        tag = found[at]
        last = _closed_at(tag, at, numbers)
        if last is None:
            edits += filter(None, [_edit(text, tag)])
            at += 1
        else:
            edits += _enclosed(text, tag, found[last])
            at = last + 1
    return apply_edits(text, edits)


def _closed_at(tag: _Found, at: int, numbers: dict[str, list[int]]) -> int | None:
    """The number of the tag that ends what tag number `at` begins, None where it begins nothing."""
    following = []
    for name in _CLOSED_BY.get(tag.name, ()):
        same = numbers.get(name, [])
        place = bisect_right(same, at)
        following += same[place : place + 1]
    return min(following, default=None)


def _enclosed(text: str, opening: _Found, closing: _Found) -> list[Edit]:
    """What becomes of two tags between which all is shown as it is written, or nothing is."""
    if opening.name == "comment":
        return [Edit(opening.start, closing.end, reason="comment")]
    before = after = ""
    if opening.name == "highlight":
        language = _LANGUAGE.search(opening.inner)
        before = _own_line(text, opening, f"```{language.group(1) if language else ''}")
        after = _own_line(text, closing, "```")
    return [
        Edit(opening.start, opening.end, before, "template tag"),
        Edit(closing.start, closing.end, after, "template tag"),
    ]


def _own_line(text: str, tag: _Found, line: str) -> str:
    """A line in a tag's place, with the newlines that the text lacks around it."""
    before = "" if text[max(0, tag.start - 1) : tag.start] in ("\n", "") else "\n"
    after = "" if text[tag.end : tag.end + 1] in ("\n", "") else "\n"
    return f"{before}{line}{after}"


def _found(text: str, masked: str) -> Iterator[_Found]:
    at = 0
    while match := _OPENING.search(masked, at):
        opening = match.group()
        start = match.start()
        comment = opening in _COMMENTS
        limit = len(masked) if comment else min(len(masked), start + _LONGEST_TAG)
        end = masked.find(_CLOSING[opening], match.end(), limit)
        at = match.end()
        if end < 0:
            if comment:
                masked = masked[:at] + masked[at:].replace(opening, "\x00" * len(opening))
            continue
        inner = text[match.end() : end]
        if comment or not _EMPTY_LINE.search(inner):
            at = end + len(_CLOSING[opening])
            yield _Found(start, at, opening, inner)


def _edit(text: str, tag: _Found) -> Edit | None:
    """What becomes of a tag; None where it stays, as an expression amid a sentence whose value is unknown."""
    if tag.opening in _COMMENTS:
        return Edit(tag.start, tag.end, reason="comment")
    given = list(_arguments(tag.inner))
    line_start = text.rfind("\n", 0, tag.start) + 1
    if _TARGET_BEFORE.search(text, max(line_start, tag.start - _LONGEST_TARGET), tag.start):
        path = next((value for _, value in given), "")
        return Edit(tag.start, tag.end, "".join(path.split()))
    if tag.opening == "{{" and not tag.inner.startswith(("<", "%")):
        if tag.inner.startswith("!"):
            return Edit(tag.start, tag.end, reason="comment")
        line = text[line_start : (text.find("\n", tag.end) + 1 or len(text) + 1) - 1]
        return (
            Edit(tag.start, tag.end, reason="template tag")
            if line.strip() == text[tag.start : tag.end]
            else None
        )
    shown = [] if tag.name in _CONTROL else [value for key, value in given if not key or key in _SHOWN_KEYS]
    words = [value for value in shown if not _PATH.fullmatch(value)]
    if any(_IMAGE.search(value) for _, value in given):
        words = words[-1:]  # its description; what stands before it says how to show it
    return Edit(tag.start, tag.end, " ".join(words), "template tag")


def _arguments(inner: str) -> Iterator[tuple[str, str]]:
    """A tag's quoted arguments with their keys, "" where they have none."""
    for match in _QUOTED.finditer(inner):
        key, *values = match.groups()
        if value := " ".join(next((text for text in values if text is not None), "").split()):
            yield key or "", value
