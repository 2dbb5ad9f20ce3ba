"""What cited evidence can vouch for: its words, quantities, links and wording."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_pipeline.embedding.text import valid_text
from rag_pipeline.normalize.judging.instructions import find_instructions
from rag_pipeline.query.answering.links import links
from rag_pipeline.query.answering.parts import Part, PartKind, parts_of
from rag_pipeline.query.answering.quantities import Quantity, is_stated, quantities
from rag_pipeline.query.answering.words import Terms, content_terms, first_term
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.scripts import HAN

_EMPHASIS = re.compile(r"\*+|`+|(?<!\w)_+|(?<!_)_++(?!\w)")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_BESIDE_HAN = re.compile(rf"\s+(?=[{HAN}])|(?<=[{HAN}])\s+")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b"
    r"|不(?!同|但|仅|断|管|论)|没有?|无(?!论)|未|禁止|勿|非(?!常)",
    re.IGNORECASE,
)


_CLAUSE = re.compile(r"[^,.;:!?，。；：！？\n]{0,60}")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, list item or table row with what must be read with it: headings, lead-in, title.

    `denied` are those of its words that it says no to; one may be `negated` without any ("Approval: none").
    """

    text: str
    wording: str
    terms: Terms
    surroundings: Terms
    quantities: tuple[Quantity, ...]
    denied: Terms
    negated: bool

    def states(self, wanted: Quantity) -> bool:
        """Whether the quantity occurs in it or in what must be read with it."""
        return is_stated(wanted, self.quantities, self.text)


@dataclass(frozen=True, slots=True)
class Support:
    """Pieces of evidence together. What instructs a machine in them vouches for nothing.

    `terms` are those of statements and headings; `all_terms` are those of questions too.
    """

    text: str
    wording: str
    terms: Terms
    all_terms: Terms
    quantities: tuple[Quantity, ...]
    links: frozenset[str]
    statements: tuple[Statement, ...]

    def quotes(self, text: str) -> bool:
        """Whether the evidence holds a text word for word, white space and emphasis aside."""
        return folded(text) in self.wording

    def states(self, wanted: Quantity) -> bool:
        """Whether the evidence states a quantity anywhere."""
        return is_stated(wanted, self.quantities, self.text)

    def nearest(self, terms: Terms) -> Statement | None:
        """The statement that shares most of these words; the shorter one where two share as many."""
        shared = [(len(one.terms & terms), -len(one.terms), one) for one in self.statements]
        return max(shared, key=lambda each: each[:2])[2] if shared else None


def support_of(evidence: Sequence[Evidence]) -> Support:
    """What these pieces of evidence vouch for."""
    each = [_support_of_one(item) for item in evidence]
    return Support(
        text="\n\n".join(one.text for one in each),
        wording="\n".join(one.wording for one in each),
        terms=Terms().union(*(one.terms for one in each)),
        all_terms=Terms().union(*(one.all_terms for one in each)),
        quantities=tuple(quantity for one in each for quantity in one.quantities),
        links=frozenset[str]().union(*(one.links for one in each)),
        statements=tuple(statement for one in each for statement in one.statements),
    )


@lru_cache(maxsize=256)
def _support_of_one(evidence: Evidence) -> Support:
    parts = parts_of(evidence.text)
    heading = "\n".join(
        one for one in (evidence.document_title, *evidence.section_path) if not find_instructions(one)
    )
    date = evidence.effective_at.date().isoformat() if evidence.effective_at else ""
    about = f"{heading}\n{date}"
    text = f"{about}\n{_without_instructions(evidence.text, parts)}"
    statements = tuple(_statement(part, about) for part in parts if part.kind is PartKind.STATEMENT)
    headings = (content_terms(part.text) for part in parts if part.kind is PartKind.HEADING)
    return Support(
        text=text,
        wording=folded(text),
        terms=content_terms(heading).union(*headings, *(one.terms for one in statements)),
        all_terms=content_terms(text),
        # What is a number in a part may read as a piece of one in the whole, where parts end oddly.
        quantities=(*quantities(text), *(quantity for one in statements for quantity in one.quantities)),
        links=links(text).union(*(links(one.text) for one in statements)),
        statements=statements,
    )


def _without_instructions(text: str, parts: Sequence[Part]) -> str:
    for part in parts:
        if part.kind is PartKind.INSTRUCTION:
            # A table's row is a part together with the header, which stands farther up.
            text = text.replace(part.text if part.text in text else part.text.splitlines()[-1], " ")
    return text


def _statement(part: Part, about: str) -> Statement:
    surroundings = f"{about}\n{part.context}"
    return Statement(
        text=f"{surroundings}\n{part.text}",
        wording=folded(part.text),
        terms=content_terms(part.text),
        surroundings=content_terms(surroundings),
        quantities=(*quantities(part.text), *quantities(surroundings)),
        denied=denied_terms(part.text),
        negated=_NEGATION.search(part.text) is not None,
    )


def matter_terms(text: str) -> Terms:
    """The content words of a text without its quantities, which words and digits spell differently."""
    text = valid_text(text)
    spans = sorted(quantity.span for quantity in quantities(text) if not quantity.vague)
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return content_terms(" ".join(text[start:end] for start, end in zip(starts, ends, strict=True)))


def denied_terms(text: str) -> Terms:
    """The content words that stand right behind a "not", "no", 不, 未 and the like."""
    clauses = (_CLAUSE.match(text, negation.end()) for negation in _NEGATION.finditer(text))
    return Terms().union(*(first_term(clause[0]) for clause in clauses if clause))


def folded(text: str) -> str:
    """A text as quotations are compared: without emphasis, case, and kinds of quotation marks and blanks."""
    text = _EMPHASIS.sub("", valid_text(text)).translate(_QUOTES).casefold()
    return _BESIDE_HAN.sub("", " ".join(text.split()))
