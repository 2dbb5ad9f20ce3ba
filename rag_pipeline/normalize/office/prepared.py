"""A document's bytes as its parser should see them, and what was taken out before."""

from dataclasses import dataclass

from rag_pipeline.normalize.document import Removed


@dataclass(frozen=True, slots=True)
class Prepared:
    """`data` for the parser, with the passages that were `removed` and the `warnings` that arose.

    `comments` are those that the parser cannot place, as the text that is shown of them. `text` is what must
    come out again, in any order and form; empty where that is not known.
    """

    data: bytes
    removed: tuple[Removed, ...] = ()
    warnings: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    text: str = ""
