"""A chunk: the piece of a document that is embedded, stored, found and cited."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Chunk:
    """An ordered piece of a normalized document.

    `body` is exactly `markdown[span_from:span_to]`; the bodies of a document's chunks, put together, are its
    Markdown. `lead` is context repeated in front of the body: the end of the chunk before it in the same
    section, or the header of the table that the body continues. `section_path` holds the headings above
    the chunk, outermost first. Pages count from 1, None where the format has none.
    """

    index: int
    lead: str
    body: str
    span_from: int
    span_to: int
    section_path: tuple[str, ...] = ()
    page_from: int | None = None
    page_to: int | None = None

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
            list(self.section_path), self.page_from, self.page_to,
        ]  # fmt: skip

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> "Chunk":
        """The inverse of `to_json`."""
        index, lead, body, span_from, span_to, section_path, page_from, page_to = value
        return cls(index, lead, body, span_from, span_to, tuple(section_path), page_from, page_to)


def embedded_text(title: str, section_path: Sequence[str], text: str) -> str:
    """What of a chunk is embedded: the document's title, the heading path, and the text.

    A first heading that repeats the title is named once.
    """
    headings = [h for h in section_path if h]
    if headings and headings[0].casefold() == title.casefold():
        headings = headings[1:]
    above = " > ".join([title, *headings]) if title else " > ".join(headings)
    return f"{above}\n\n{text}" if above else text
