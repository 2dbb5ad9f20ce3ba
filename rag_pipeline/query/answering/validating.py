"""Checking a draft against the evidence that it cites. Nothing is believed, and nothing is put right here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.query.answering.agreeing import denies, is_mixed, moved_quantities
from rag_pipeline.query.answering.draft import Claim, Draft
from rag_pipeline.query.answering.form_checks import form_problems, split_labels
from rag_pipeline.query.answering.links import links, without_links
from rag_pipeline.query.answering.problems import Problem, Severity, doubtful, shown, wrong
from rag_pipeline.query.answering.quantities import quantities
from rag_pipeline.query.answering.supporting import (
    Support,
    folded,
    matter_terms,
    statement_of,
    support_of,
)
from rag_pipeline.query.answering.words import Terms, content_terms
from rag_pipeline.query.evidence import Evidence

# Fitted on the pairs in rag_pipeline_tests/support_pairs.py; test_answering_validating.py prints the figures.
LEAST_SUPPORT: Final = 0.5
# Of a claim that cites several passages, each must have at least this much.
_LEAST_SUPPORT_OF_EACH: Final = 0.3
# How much of a sentence of the answer its claims must hold.
_LEAST_COVERAGE: Final = 0.7

_QUOTATION_MARKS: Final = ('""', "“”", "「」", "『』", "«»", "„“", "„”")
_LIST_NUMBER = re.compile(r"^[ \t]*+(\d{1,2})[.)、][ \t]++(?=\S)", re.MULTILINE)
_EDGES = " \t,.;:!?，。；：！？…"


def validate(draft: Draft, evidence: Sequence[Evidence], question: str) -> tuple[str, ...]:
    """What is wrong with a draft, in plain sentences; empty where it may be shown.

    `evidence` is all that the draft may cite. A draft that does not answer has nothing wrong.
    """
    return tuple(problem.sentence for problem in find_problems(draft, evidence, question))


def find_problems(draft: Draft, evidence: Sequence[Evidence], question: str) -> tuple[Problem, ...]:
    """What is wrong with a draft, and how bad that is; each problem once."""
    if not draft.answered:
        return ()
    by_label = {item.label: item for item in evidence}
    found = list(form_problems(draft, by_label))
    if not any(problem.severity is Severity.WRONG for problem in found):
        for number, claim in enumerate(draft.claims, 1):
            cited = [by_label[label] for label in claim.labels]
            found += _of_claim(f"Claim {number}", claim, cited, question)
            if _is_beside_the_point(cited, evidence, question):
                found.append(doubtful(f"Claim {number} is about something else than the question."))
        found += _of_answer(draft, by_label, question)
    return tuple(dict.fromkeys(found))


def support_share(text: str, support: Support, question: str) -> float:
    """How much of a claim's words the evidence has, 0 to 1.

    Numbers are left out, being checked by themselves, and so are words of the question that the evidence
    lacks: they are the asker's, and a claim may take them up.
    """
    terms = matter_terms(text)
    counted = terms - (content_terms(question) - support.terms)
    if not counted:
        return 0.0 if terms else 1.0
    return len(counted & support.terms) / len(counted)


def _of_claim(name: str, claim: Claim, cited: Sequence[Evidence], question: str) -> Iterator[Problem]:
    support = support_of(cited)
    yield from _of_wording(name, claim.text, support)
    # Links are checked as such; what stands in them is no statement.
    text = without_links(claim.text, links(claim.text))
    terms = matter_terms(text)
    for wanted in dict.fromkeys(quantities(text)):
        if wanted.vague:
            continue
        if not support.states(wanted):
            yield wrong(f"{name}: “{shown(wanted.shown)}” is not in what it cites.")
    for item in cited if len(cited) > 1 else ():
        of_item = support_of([item])
        if not of_item.quotes(claim.text) and support_share(text, of_item, question) < _LEAST_SUPPORT_OF_EACH:
            yield doubtful(f"{name} is not supported by {item.label}.")
    if support.is_whole(claim.text):
        return
    if not terms and not links(claim.text):
        yield doubtful(f"{name} is no full sentence.")
    if not support.quotes(claim.text) and support_share(text, support, question) < LEAST_SUPPORT:
        yield doubtful(f"{name} is not supported by the words of what it cites.")
    for sentence in _sentences(text):
        if not support.quotes(sentence):
            yield from _of_matter(name, sentence, support)
    # Here links are left in: they tell which statement is meant.
    for sentence in _sentences(claim.text):
        if not support.is_whole(sentence) and denies(sentence, support.statements):
            yield doubtful(f"{name} denies what it cites, or states what that denies.")


def _of_matter(name: str, sentence: str, support: Support) -> Iterator[Problem]:
    """Whether a sentence of a claim says of one thing what its source says of another."""
    for wanted in moved_quantities(sentence, support.statements):
        yield doubtful(f"{name}: “{shown(wanted.shown)}” is said of something else in what it cites.")
    if is_mixed(sentence, support.statements):
        yield doubtful(f"{name} says of one what its source says of another.")


def _is_beside_the_point(cited: Sequence[Evidence], evidence: Sequence[Evidence], question: str) -> bool:
    """Whether the cited passages share no word with the question although others do."""
    asked = content_terms(question)
    return not asked & support_of(cited).all_terms and bool(asked & support_of(evidence).all_terms)


def _of_answer(draft: Draft, by_label: Mapping[str, Evidence], question: str) -> Iterator[Problem]:
    """What the answer states beyond its claims."""
    text = without_list_numbers(split_labels(draft.text)[0])
    cited = dict.fromkeys(label for claim in draft.claims for label in claim.labels)
    yield from _of_wording("The answer", text, support_of([by_label[label] for label in cited]))
    claimed = [
        statement_of(sentence)
        for claim in draft.claims
        for sentence in _sentences(without_links(claim.text, links(claim.text)))
    ]
    wordings = {one.wording for one in claimed}
    covered = Terms().union(*(matter_terms(claim.text) for claim in draft.claims))
    repeated = content_terms(question) - covered
    for sentence in _sentences(without_links(text, links(text))):
        if folded(sentence) in wordings:
            continue
        terms = matter_terms(sentence)
        new = terms - repeated
        # A mere "Yes." says much and has no word to compare.
        if len(new & covered) < _LEAST_COVERAGE * len(new) or not (terms or quantities(sentence)):
            yield doubtful("The answer states something that no claim states.")
        for wanted in moved_quantities(sentence, claimed):
            yield wrong(f"The answer says “{shown(wanted.shown)}”, which no claim says of the same.")
        if denies(sentence, claimed):
            yield wrong("The answer denies what its claims state, or states what they deny.")
        if is_mixed(sentence, claimed):
            yield doubtful("The answer says of one what a claim says of another.")


def _of_wording(name: str, text: str, support: Support) -> Iterator[Problem]:
    """Quotations and links that the evidence does not hold."""
    for number, quoted in enumerate(_quotations(text), 1):
        if not support.quotes(quoted.strip(_EDGES)):
            yield wrong(f"{name}: its quotation {number} does not stand in what is cited.")
    for link in sorted(links(text) - support.links):
        yield Problem(Severity.FOREIGN_LINK, f"{name}: the link {shown(link)} is not in what is cited.")


def _quotations(text: str) -> list[str]:
    """What stands between quotation marks in a line, in order."""
    found = []
    for number, line in enumerate(text.split("\n")):
        for opening, closing in _QUOTATION_MARKS:
            start = line.find(opening)
            while start >= 0 and (end := line.find(closing, start + 1)) >= 0:
                quoted = line[start + 1 : end]
                if quoted:
                    found.append((number, start, quoted))
                start = line.find(opening, end + 1 if quoted else start + 1)
    return [quoted for _, _, quoted in sorted(found)]


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from (line[start:end].strip() for start, end in sentence_spans(line))


def without_list_numbers(text: str) -> str:
    """The text without the numbers in front of lines, if they count 1, 2, 3 and so say nothing."""
    numbers = [int(number) for number in _LIST_NUMBER.findall(text)]
    return _LIST_NUMBER.sub("", text) if numbers == list(range(1, len(numbers) + 1)) else text
