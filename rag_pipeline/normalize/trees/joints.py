"""Words that change their formatting in the middle.

docling takes a paragraph apart where the formatting changes and puts a space between the parts, so that
"**Note**:" becomes "**Note** :". Where a document has no space there, both sides are marked before docling
reads it, and the space between two marks is taken out of what docling writes.
"""

import re
from typing import Final

# The word joiner: invisible, no white space, and removed from every text when it is cleaned.
MARK: Final = "\u2060"
_JOINED: Final = re.compile(rf"{MARK}([*~`]*) +([*~`]*){MARK}")
# Parts that keep their own spaces get another; the bars of a table have two between them by right.
_SPACES: Final = re.compile(r"(?<=[^\s|]) {2,}(?=[^\s|])")


def is_joint(before: str, after: str) -> bool:
    """Whether two texts that follow each other are one word, or a word and its punctuation."""
    return bool(before and after) and not before[-1].isspace() and not after[0].isspace()


def joined(text: str) -> str:
    """What docling wrote of several parts, put together as the document has it."""
    return _SPACES.sub(" ", _JOINED.sub(r"\1\2", text))
