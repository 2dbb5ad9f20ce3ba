"""Finding the conflicts among the evidence for a question."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_pipeline.query.conflicts.asked import ask_about
from rag_pipeline.query.conflicts.candidate import Candidate
from rag_pipeline.query.conflicts.conflict import Conflict, Position, ValueKind
from rag_pipeline.query.conflicts.policy import ConflictPolicies
from rag_pipeline.query.conflicts.precedence import Side, decide
from rag_pipeline.query.conflicts.scopes import Scopes
from rag_pipeline.query.conflicts.statements import statements
from rag_pipeline.query.conflicts.subject import Subject
from rag_pipeline.query.evidence import Evidence

_AS_GOOD = 0.1
"""How much less of the question a document's other statements may cover to count beside its best one."""


def find_conflicts(
    question: str, evidence: Sequence[Evidence], policies: ConflictPolicies
) -> tuple[Conflict, ...]:
    """The conflicts among the evidence, at most one for each kind of value.

    Of each document the statements count that cover the question best. Two documents are in conflict where
    none of the values of one agrees with any of the other; a document is never in conflict with itself. A
    conflict has a position for every document that contradicts another one, in the order of the evidence.
    """
    asked = ask_about(question)
    scopes = Scopes(asked, evidence)
    subject = Subject(asked, evidence, scopes)
    conflicts = []
    for kind in ValueKind:
        if kind in asked.kinds:
            documents = list(_by_document(subject, evidence, kind, scopes))
            sides = [_side(best, documents, scopes) for best in documents]
            if conflict := _conflict(question, subject, kind, sides, policies):
                withheld = _withheld(conflict, sides, subject, evidence)
                conflicts.append(replace(conflict, withheld=withheld))
    return tuple(conflicts)


def _by_document(
    subject: Subject, evidence: Sequence[Evidence], kind: ValueKind, scopes: Scopes
) -> Iterable[list[Candidate]]:
    """The best statements of each document, the very best first."""
    found: dict[str, list[tuple[float, Candidate]]] = defaultdict(list)
    for one in evidence:
        for statement in statements(one.text, frozenset({kind})):
            candidate = Candidate(one, statement)
            if share := subject.share(candidate):
                found[one.document_id].append((share, candidate))
    for rated in found.values():
        scoped = scopes.narrow([candidate for _, candidate in rated])
        kept = [(share, candidate) for share, candidate in rated if candidate in scoped]
        best = max(share for share, _ in kept)
        ranked = sorted(
            kept, key=lambda one: (-one[0], one[1].evidence.chunk_id, one[1].statement.value.start)
        )
        yield [candidate for share, candidate in ranked if share >= best - _AS_GOOD]


def _side(best: Sequence[Candidate], documents: Sequence[Sequence[Candidate]], scopes: Scopes) -> Side:
    """What a document says. Of its equally good statements the one leads whose unit most others have too."""
    units = Counter(
        unit for one in documents for unit in {candidate.statement.value.unit for candidate in one}
    )
    lead = max(best, key=lambda candidate: units[candidate.statement.value.unit])
    return Side(lead, tuple(candidate.statement.value for candidate in best), scopes.degree(lead))


def _conflict(
    question: str, subject: Subject, kind: ValueKind, sides: Sequence[Side], policies: ConflictPolicies
) -> Conflict | None:
    involved = [side for side in sides if any(_contradict(side, other, subject) for other in sides)]
    if not involved:
        return None
    winner, rule = decide(involved)
    types = {side.candidate.evidence.source_type for side in involved}
    return Conflict(
        kind=kind,
        positions=tuple(_position(side, winner) for side in involved),
        winner=winner.candidate.evidence.label if winner else None,
        decided_by=rule,
        policy=policies.policy_for(question, types),
    )


def _withheld(
    conflict: Conflict, sides: Sequence[Side], subject: Subject, evidence: Sequence[Evidence]
) -> tuple[str, ...]:
    """The labels of all that documents which lost say about the question, and the winner does not."""
    if conflict.winner is None:
        return ()
    lost = {position.document_id for position in conflict.lost}
    (winner,) = (side for side in sides if side.candidate.evidence.label == conflict.winner)
    return tuple(
        one.label
        for one in evidence
        if one.document_id in lost
        and any(
            subject.share(Candidate(one, statement))
            and not any(statement.value.agrees_with(value) for value in winner.values)
            for statement in statements(one.text, frozenset({conflict.kind}))
        )
    )


def _contradict(one: Side, other: Side, subject: Subject) -> bool:
    if one.candidate.evidence.document_id == other.candidate.evidence.document_id:
        return False
    return not _agree(one, other) and subject.is_same_thing(one.candidate, other.candidate)


def _agree(one: Side, other: Side) -> bool:
    return any(value.agrees_with(theirs) for value in one.values for theirs in other.values)


def _position(side: Side, winner: Side | None) -> Position:
    evidence, statement = side.candidate.evidence, side.candidate.statement
    followed = winner is not None and _agree(side, winner)
    return Position(evidence.label, evidence.document_id, statement.value.shown, statement.sentence, followed)
