"""What cited evidence can vouch for: its words, quantities, links and wording."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest

from rag_pipeline.embedding.text import valid_text
from rag_pipeline.normalize.judging.instructions import find_instructions
from rag_pipeline.query.answering.links import links
from rag_pipeline.query.answering.opposites import Stance, stance_of
from rag_pipeline.query.answering.parts import Part, PartKind, parts_of
from rag_pipeline.query.answering.quantities import Quantity, is_stated, quantities
from rag_pipeline.query.answering.words import Terms, content_terms, first_term
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.scripts import HAN

_EMPHASIS = re.compile(r"\*+|`+|(?<!\w)_+|(?<!_)_++(?!\w)")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_BESIDE_HAN = re.compile(rf"\s+(?=[{HAN}])|(?<=[{HAN}])\s+")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|impossible)\b|n['’]t\b"
    r"|不(?!同|但|仅|断|管|论)|没有?|无(?!论)|未|禁止|勿|非(?!常)",
    re.IGNORECASE,
)

_CLAUSE = re.compile(r"[^,.;:!?，。；：！？\n]{0,120}")
# "Not allowed to return" says no to returning, as "not return" does.
_PERMISSION = re.compile(
    r"\s*(?:(?:be )?(?:allowed|permitted|possible|able) to\b|允许|准许|可以?|能够?|得|许|予)",
    re.IGNORECASE,
)
_HAN_NEGATION = "不未无没非"
_HAN_CHARACTER = re.compile(f"[{HAN}]")
# What such a sentence speaks of stands in the one before it.
_TAKES_UP = re.compile(
    r"\W*(?:(?:it|they|this|these|that|those|he|she|its|their)\b|其|该|此|这|它)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, list item or table row with what must be read with it: headings, lead-in, title.

    `denied` are those of its words that it says no to; one may be `negated` without any ("Approval: none").
    `scopes` are all words of a clause behind each no. What is `joint` is a list as a whole with its lead-in,
    whose items are statements too.
    """

    text: str
    wording: str
    terms: Terms
    surroundings: Terms
    quantities: tuple[Quantity, ...]
    denied: Terms
    negated: bool
    scopes: tuple[Terms, ...]
    stance: Stance
    joint: bool = False

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
        return stands_in(folded(text), self.wording)

    def is_whole(self, text: str) -> bool:
        """Whether a text is one statement word for word, neither more nor less."""
        wanted = folded(text)
        return any(wanted == one.wording for one in self.statements)

    def states(self, wanted: Quantity) -> bool:
        """Whether the evidence states a quantity anywhere."""
        return is_stated(wanted, self.quantities, self.text)


def support_of(evidence: Sequence[Evidence]) -> Support:
    """What these pieces of evidence vouch for."""
    each = [
        _support_of_one(item.text, (item.document_title, *item.section_path), _date(item))
        for item in evidence
    ]
    return Support(
        text="\n\n".join(one.text for one in each),
        wording="\n".join(one.wording for one in each),
        terms=Terms().union(*(one.terms for one in each)),
        all_terms=Terms().union(*(one.all_terms for one in each)),
        quantities=tuple(quantity for one in each for quantity in one.quantities),
        links=frozenset[str]().union(*(one.links for one in each)),
        statements=tuple(statement for one in each for statement in one.statements),
    )


def _date(evidence: Evidence) -> str:
    return evidence.effective_at.date().isoformat() if evidence.effective_at else ""


# Some 60 kB each.
@lru_cache(maxsize=512)
def _support_of_one(passage: str, headings: tuple[str, ...], date: str) -> Support:
    parts = parts_of(passage)
    heading = "\n".join(one for one in headings if not find_instructions(one))
    about = f"{heading}\n{date}"
    text = f"{about}\n{_without_instructions(passage, parts)}"
    statements = tuple(_statements(parts, about))
    inside = (content_terms(part.text) for part in parts if part.kind is PartKind.HEADING)
    return Support(
        text=text,
        wording=folded(text),
        terms=content_terms(heading).union(*inside, *(one.terms for one in statements)),
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


def _statements(parts: Sequence[Part], about: str) -> Iterator[Statement]:
    before = Terms()
    for part, following in zip_longest(parts, parts[1:]):
        if part.kind is not PartKind.STATEMENT:
            before = Terms()
            continue
        statement = statement_of(part.text, f"{about}\n{part.context}")
        if _TAKES_UP.match(part.text):
            statement = replace(statement, surroundings=statement.surroundings | before)
        joint = following is not None and "\n" in part.text and following.text in part.text
        yield replace(statement, joint=joint)
        before = statement.terms


def statement_of(text: str, surroundings: str = "") -> Statement:
    """One sentence as a statement, with the text that must be read with it."""
    stance = stance_of(text)
    return Statement(
        text=f"{surroundings}\n{text}",
        wording=folded(text),
        terms=content_terms(text),
        surroundings=content_terms(surroundings),
        quantities=(*quantities(text), *quantities(surroundings)),
        denied=denied_terms(text),
        negated=is_negated(text) or stance.forbids,
        scopes=tuple(content_terms(clause) for clause in _denied_clauses(text)),
        stance=stance,
    )


def matter_terms(text: str) -> Terms:
    """The content words of a text without its quantities, which words and digits spell differently."""
    text = valid_text(text)
    spans = sorted(quantity.span for quantity in quantities(text) if not quantity.vague)
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return content_terms(" ".join(text[start:end] for start, end in zip(starts, ends, strict=True)))


def denied_terms(text: str) -> Terms:
    """The content words that stand right behind a "not", "no", 不, 未 and the like."""
    return Terms().union(*map(first_term, _denied_clauses(text)))


def is_negated(text: str) -> bool:
    """Whether a text says no to anything."""
    return _NEGATION.search(text) is not None


def _denied_clauses(text: str) -> Iterator[str]:
    """What follows each "not" or "not allowed to", up to the end of the clause."""
    for negation in _NEGATION.finditer(text):
        permission = _PERMISSION.match(text, negation.end())
        if clause := _CLAUSE.match(text, permission.end() if permission else negation.end()):
            yield clause[0]


def folded(text: str) -> str:
    """A text as quotations are compared: without emphasis, case, and kinds of quotation marks and blanks."""
    text = _EMPHASIS.sub("", valid_text(text)).translate(_QUOTES).casefold()
    return _BESIDE_HAN.sub("", " ".join(text.split()))


def stands_in(wanted: str, wording: str) -> bool:
    """Whether a wording holds another without cutting into a word, or off the 不 of a Chinese one."""
    at = wording.find(wanted)
    while at >= 0:
        before, after = wording[at - 1 : at] if at else "", wording[at + len(wanted) : at + len(wanted) + 1]
        if not (
            _is_one_word(before + wanted[:1])
            or _is_one_word(wanted[-1:] + after)
            or (before and before in _HAN_NEGATION and _HAN_CHARACTER.match(wanted))
        ):
            return True
        at = wording.find(wanted, at + 1) if wanted else -1
    return False


def _is_one_word(characters: str) -> bool:
    return len(characters) == 2 and characters.isalnum() and not _HAN_CHARACTER.search(characters)
