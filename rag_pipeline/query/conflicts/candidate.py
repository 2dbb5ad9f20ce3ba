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

    @cached_property
    def own_text(self) -> str:
        """What is said of the value itself, the narrowest headings included."""
        section = self.evidence.section_path[-1] if self.evidence.section_path else ""
        heading = self.statement.heading or section
        return f"{self.statement.clause}\n{self.statement.whole}\n{heading}"

    @cached_property
    def words(self) -> Sequence[Term]:
        """The content words of `own_text`, in order."""
        return terms(self.own_text)

    @cached_property
    def parts(self) -> frozenset[str]:
        """The same, to look words up in."""
        return term_parts(self.own_text)

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
