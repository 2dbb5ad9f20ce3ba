"""What is wrong with a draft that can be seen without weighing what the evidence says."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from rag_pipeline.query.answering.draft import Draft
from rag_pipeline.query.answering.problems import Problem, doubtful, shown, wrong
from rag_pipeline.query.answering.prompts import ANSWER_PROMPT, RETRY_PROMPT, THINK_PROMPT
from rag_pipeline.query.evidence import Evidence

# So many words of the prompts in a row are no accident.
_LEAKED_WORDS: Final = 6
_LABELS = re.compile(r"(?<!\s)\s*+[\[(（【]\s*+(S\d++(?:\s*+(?:[,，、;；]\s*+)?S\d++)*+)\s*+[\])）】]")
_LABEL = re.compile(r"S\d+")
_WORD = re.compile(r"\w+")
_Words = tuple[str, ...]


def form_problems(draft: Draft, by_label: Mapping[str, Evidence]) -> Iterator[Problem]:
    """Missing parts, labels that are none, and what must never be in an answer."""
    if not draft.text:
        yield wrong("The answer is empty.")
    if not draft.claims:
        yield wrong("The answer has no claims with citations.")
    for number, claim in enumerate(draft.claims, 1):
        if not claim.text:
            yield wrong(f"Claim {number} is empty.")
        if claim.text.endswith(("?", "？")):
            yield doubtful(f"Claim {number} asks instead of stating something.")
        if not claim.labels:
            yield wrong(f"Claim {number} cites nothing.")
        for label in claim.labels:
            if label not in by_label:
                yield wrong(f"Claim {number} cites {shown(label)}, which is no passage of this request.")
    cited = {label for claim in draft.claims for label in claim.labels}
    given = "\n".join(by_label[label].text for label in sorted(cited) if label in by_label)
    text, named = split_labels(draft.text)
    # "Amazon storage (S3)" is a passage's own wording and no label.
    for label in sorted(named - cited - split_labels(given)[1]):
        yield wrong(f"The answer names {shown(label)}, which no claim cites.")
    everything = "\n".join((text, *(claim.text for claim in draft.claims)))
    if any(border in everything and border not in given for border in ("<<<", ">>>")):
        yield wrong("The answer holds the lines that stand around passages.")
    if _runs(everything) & _PROMPT_RUNS - _runs(given):
        yield wrong("The answer repeats what the model was told.")
    if _invisible(everything) - _invisible(given):
        yield wrong("The answer holds invisible characters.")


def split_labels(text: str) -> tuple[str, frozenset[str]]:
    """An answer without the labels that stand in brackets in it, and those labels."""
    labels = {label for match in _LABELS.finditer(text) for label in _LABEL.findall(match[1])}
    return _LABELS.sub("", text), frozenset(labels)


def _runs(text: str) -> frozenset[_Words]:
    words = _WORD.findall(text.casefold())
    return frozenset(tuple(words[at : at + _LEAKED_WORDS]) for at in range(len(words) - _LEAKED_WORDS + 1))


_PROMPT_RUNS: Final = frozenset().union(*map(_runs, (ANSWER_PROMPT, THINK_PROMPT, RETRY_PROMPT)))


def _invisible(text: str) -> frozenset[str]:
    kinds = ("Cc", "Cf", "Co", "Cs")
    return frozenset(c for c in text if unicodedata.category(c) in kinds and c not in "\r\n\t")
