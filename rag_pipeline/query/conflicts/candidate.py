"""A statement together with the evidence that it stands in."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rag_pipeline.query.conflicts.statements import Statement
from rag_pipeline.query.conflicts.terms import Term, share_found, term_parts, terms
from rag_pipeline.query.evidence import Evidence

# How much a word of the question counts by where it stands: what the value's own clause says is surely about
# it, what a heading says less so.
_IN_CLAUSE: Final = 1.0
_IN_SENTENCE: Final = 0.6
_NEARBY: Final = 0.7
_IN_TITLE: Final = 0.7


@dataclass(frozen=True)
class Candidate:
    """A statement in its piece of evidence."""

    evidence: Evidence
    statement: Statement

    @property
    def _own_texts(self) -> tuple[str, str, str]:
        section = self.evidence.section_path[-1] if self.evidence.section_path else ""
        return self.statement.clause, self.statement.whole, self.statement.heading or section

    @cached_property
    def words(self) -> Sequence[Term]:
        """The content words of clause and sentence and of the narrowest heading above them."""
        return [term for text in self._own_texts for term in terms(text)]

    @cached_property
    def parts(self) -> frozenset[str]:
        """The same, to look words up in."""
        return frozenset[str]().union(*map(term_parts, self._own_texts))

    @cached_property
    def levels(self) -> Sequence[tuple[float, frozenset[str]]]:
        """The words around the value, nearest first, each with what a word found there counts."""
        statement, evidence = self.statement, self.evidence
        nearby = " \n ".join((*evidence.section_path, statement.heading, statement.before))
        return (
            (_IN_CLAUSE, term_parts(statement.clause)),
            (_IN_SENTENCE, term_parts(statement.whole)),
            (_NEARBY, term_parts(nearby)),
            (_IN_TITLE, term_parts(f"{evidence.document_title} \n {evidence.source_title}")),
        )

    def names(self, name: Term) -> bool:
        """Whether the statement or the headings above it name this."""
        return any(share_found(name, parts) >= 1 for parts in (self.parts, term_parts(self.evidence.heading)))
