"""Lines of one paragraph as running text that knows where each line went."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

_CJK: Final = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_ENDS_IN_CJK: Final = re.compile(f"[{_CJK}]$")
_STARTS_WITH_CJK: Final = re.compile(f"^[{_CJK}]")
_HYPHENATED: Final = re.compile(r"[^\W\d_][\u2010\u00ad-]$")
# What ends a sentence, closing quotes and brackets after it included.
_ENDS_SENTENCE: Final = re.compile(r"[.!?:;。！？：；…؟۔।]['\"”’」』）)\]]*$")
# Leaders of a table of contents: they say nothing, and there are more of them than words.
_LEADERS: Final = re.compile(r"\s*(?:[.·•…_]\s?){5,}\s*")


class Flow(NamedTuple):
    """Running text, and for each line from which character to which it stands."""

    text: str
    spans: list[tuple[int, int]]


def flow(lines: Sequence[str]) -> Flow:
    """Join lines: hyphens at line ends undone, Chinese and Japanese joined tightly, leaders shortened."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for line in lines:
        text = " ".join(_LEADERS.sub(" … ", line).split())
        before = parts[-1] if parts else ""
        if before and text:
            if _HYPHENATED.search(before) and text[:1].islower():
                parts[-1] = before[:-1]
                spans[-1] = (spans[-1][0], spans[-1][1] - 1)
                at -= 1
            elif not (_ENDS_IN_CJK.search(before) and _STARTS_WITH_CJK.search(text)):
                parts.append(" ")
                at += 1
        spans.append((at, at + len(text)))
        if text:
            parts.append(text)
        at += len(text)
    return Flow("".join(parts), spans)


def join_lines(texts: Iterable[str]) -> str:
    """Lines of one paragraph as running text."""
    return flow(list(texts)).text


def ends_sentence(text: str) -> bool:
    """Whether a line ends where a sentence does."""
    return _ENDS_SENTENCE.search(text.rstrip()) is not None


def has_leaders(text: str) -> bool:
    """Whether a line is an entry of a table of contents: dots lead from its title to its page."""
    return _LEADERS.search(text) is not None


def goes_on(text: str, following: str) -> bool:
    """Whether a text that ends within a sentence may go on with another in the next column or page."""
    if not text or not following or ends_sentence(text):
        return False
    first = following.lstrip("\"'“‘「『（(")[:1]
    # Scripts without small letters leave it to the missing end.
    return first.islower() or first.isdecimal() or (first.isalpha() and not first.isupper())
