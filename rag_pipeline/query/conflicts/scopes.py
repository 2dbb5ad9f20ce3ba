"""Which documents are about the region, plan or product that a question names.

No list of places is needed: a document says for whom it is ("orders delivered to Denmark or Norway"), or
another one says so of it ("orders to Norway follow the Nordic exception instead").
"""

from collections.abc import Sequence

from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.query.conflicts.asked import Asked
from rag_pipeline.query.conflicts.candidate import Candidate
from rag_pipeline.query.conflicts.terms import Term, term_parts
from rag_pipeline.query.evidence import Evidence

_REFERRAL = 2
"""How many words of another document's title a sentence must have to refer to it."""


class Scopes:
    """Whom each document is for, of those that the question names."""

    def __init__(self, asked: Asked, evidence: Sequence[Evidence]) -> None:
        self._names = asked.names
        self._titles = {one.document_id: _title_words(one) for one in evidence}
        self._asked = asked
        self._about: dict[str, set[str]] = {document: set() for document in self._titles}
        for one in evidence:
            for name in asked.places:
                if _has(name, term_parts(one.heading)):
                    self._about[one.document_id].add(name.key)
                for start, end in sentence_spans(one.text):
                    sentence = one.text[start:end]
                    if _has(name, term_parts(sentence)):
                        self._about[self._referred(one.document_id, sentence)].add(name.key)

    def degree(self, candidate: Candidate) -> int:
        """How many of the names in the question the statement or its document is about."""
        document = candidate.evidence.document_id
        return sum(candidate.names(name) or name.key in self._about[document] for name in self._names)

    def narrow(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Of a document's statements those for whom the question names, all where none is in particular.

        Where the document as a whole is for them, a table that compares it with others speaks for it in the
        column that is named like it.
        """
        naming = [one for one in candidates if any(_named_by(one, name) for name in self._names)]
        if naming and len(naming) < len(candidates):
            return naming
        if self._names and self._about[candidates[0].evidence.document_id]:
            return [one for one in candidates if not self._is_of_another_column(one)]
        return candidates

    def _is_of_another_column(self, candidate: Candidate) -> bool:
        title = self._titles[candidate.evidence.document_id]
        own = len(title & term_parts(candidate.statement.column))
        return any(len(title & term_parts(other)) > own for other in candidate.statement.siblings)

    def _referred(self, document: str, sentence: str) -> str:
        """The document that a sentence refers to, its own where it refers to none."""
        words = term_parts(sentence)
        for other, title in sorted(self._titles.items()):
            distinct = title - self._titles[document] - self._asked.keys
            if other != document and len(distinct & words) >= _REFERRAL:
                return other
        return document


def _title_words(evidence: Evidence) -> frozenset[str]:
    return term_parts(evidence.document_title)


def _named_by(candidate: Candidate, name: Term) -> bool:
    return _has(name, candidate.parts)


def _has(name: Term, parts: frozenset[str]) -> bool:
    return all(part in parts for part in name.parts)
