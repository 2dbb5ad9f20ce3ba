"""A chunk: the piece of a document that is embedded, stored, found and cited."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_LONGEST_TITLE = 200
_LONGEST_PATH = 200


@dataclass(frozen=True, slots=True)
class Chunk:
    """An ordered piece of a normalized document.

    `body` is exactly `markdown[span_from:span_to]`; the bodies of a document's chunks, put together, are its
    Markdown. `lead` is context repeated in front of the body: the end of the chunk before it in the same
    section, or the header of the table that the body continues. `section_path` holds the headings above
    the chunk, outermost first. Pages count from 1, None where the format has none. `context_limit` is how
    many characters of the context line are embedded where it would crowd out the text, None for all.
    """

    index: int
    lead: str
    body: str
    span_from: int
    span_to: int
    section_path: tuple[str, ...] = ()
    page_from: int | None = None
    page_to: int | None = None
    context_limit: int | None = None

    @property
    def text(self) -> str:
        """What is stored and cited."""
        return self.lead + self.body

    @property
    def text_hash(self) -> str:
        """sha256 of `text`, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def to_json(self) -> list[Any]:
        """As a compact JSON-serializable list."""
        return [
            self.index, self.lead, self.body, self.span_from, self.span_to,
            list(self.section_path), self.page_from, self.page_to, self.context_limit,
        ]  # fmt: skip

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> "Chunk":
        """The inverse of `to_json`."""
        index, lead, body, span_from, span_to, section_path, page_from, page_to, context_limit = value
        return cls(
            index, lead, body, span_from, span_to, tuple(section_path), page_from, page_to, context_limit
        )


def context_parts(title: str, section_path: Sequence[str]) -> list[str]:
    """The title and the headings that are embedded with a chunk, outermost first.

    A first heading that repeats the title is named once. An overlong title is cut; of an overlong path the
    innermost headings stay, since they say most about the text.
    """
    title = " ".join(title.split())
    headings = [h for h in section_path if h]
    if headings and headings[0].casefold() == title.casefold():
        headings = headings[1:]
    kept: list[str] = []
    room = _LONGEST_PATH
    for heading in reversed(headings):
        if kept and len(heading) > room:
            break
        kept.insert(0, heading[:room].rstrip())
        room -= len(heading)
    return [part for part in (title[:_LONGEST_TITLE].rstrip(), *kept) if part]


def context_line(title: str, section_path: Sequence[str]) -> str:
    """The context parts as one line; empty where there are none."""
    return " > ".join(context_parts(title, section_path))


def under_context(context: str, text: str) -> str:
    """A text below its context line, without white space around it."""
    text = text.strip()
    return f"{context}\n\n{text}" if context else text


def embedding_input(title: str, chunk: Chunk) -> str:
    """What of a chunk is embedded: its document's title, the heading path, and the text.

    The window is guaranteed for exactly this string, so nothing else may be embedded for a chunk.
    """
    context = context_line(title, chunk.section_path)[: chunk.context_limit].rstrip()
    return under_context(context, chunk.text)
