"""What the asker gets: the answer, how the request ended, and what each claim rests on. Nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from rag_pipeline.query.answering.draft import Claim, Draft
from rag_pipeline.query.answering.validating import find_problems
from rag_pipeline.query.conflicts.conflict import Conflict
from rag_pipeline.query.evidence import Evidence
from rag_pipeline.query.scripts import asks_in_chinese
from rag_pipeline.query.trace import Outcome


class _Public(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Citation(_Public):
    """A claim and one passage that it rests on."""

    label: str
    """What the answer calls the passage, S1 and so on."""
    claim: str
    title: str
    section: str
    url: str | None
    effective_at: datetime | None
    trust_tier: int


class AskResponse(_Public):
    """The public answer. Scores, point ids, prompts and rejected evidence are in the trace alone."""

    answered: bool
    outcome: Outcome
    answer: str
    """The answer, or one sentence that says why there is none, in the question's language."""
    citations: tuple[Citation, ...]
    trace_id: str


def cited(claims: Iterable[Claim], evidence: Mapping[str, Evidence]) -> tuple[Citation, ...]:
    """The public form of claims; `evidence` is by label."""
    return tuple(
        Citation(
            label=label,
            claim=claim.text,
            title=evidence[label].document_title,
            section=" > ".join(evidence[label].section_path),
            url=evidence[label].citation_url,
            effective_at=evidence[label].effective_at,
            trust_tier=evidence[label].trust_tier,
        )
        for claim in claims
        for label in claim.labels
    )


def sound(claims: Sequence[Claim], evidence: Mapping[str, Evidence], question: str) -> tuple[Claim, ...]:
    """Claims that quote sides of conflicts; of one that its evidence does not support, the title alone."""
    return tuple(
        Claim(evidence[one.labels[0]].document_title, one.labels)
        if find_problems(Draft(True, one.text, (one,)), [evidence[label] for label in one.labels], question)
        else one
        for one in claims
    )


def as_of_note(question: str, as_of: datetime) -> str:
    """What an answer about another day begins with."""
    return f"以下截至 {as_of:%Y-%m-%d}：" if asks_in_chinese(question) else f"As of {as_of:%Y-%m-%d}:"


def decided(conflicts: Sequence[Conflict], answer: str) -> tuple[Claim, ...]:
    """What the followed sides of conflicts say, where an answer does not already give their value."""
    claims: dict[str, Claim] = {}
    for conflict in conflicts:
        for position in conflict.positions:
            if position.label == conflict.winner and position.shown not in answer:
                claims.setdefault(position.sentence, Claim(position.sentence, (position.label,)))
    return tuple(claims.values())


def quoted(claims: Sequence[Claim]) -> str:
    """Claims as lines of an answer, each with its label."""
    return "\n".join(f"{claim.text} [{claim.labels[0]}]" for claim in claims)


def differing(conflicts: Sequence[Conflict]) -> tuple[Claim, ...]:
    """What those sides of decided conflicts say that are not followed, each as a claim of its own."""
    claims: dict[tuple[str, str], Claim] = {}
    for conflict in conflicts:
        for position in conflict.lost:
            claims.setdefault(
                (position.label, position.sentence), Claim(position.sentence, (position.label,))
            )
    return tuple(claims.values())


def differing_note(question: str, claims: Sequence[Claim]) -> str:
    """A sentence a claim that another source says otherwise."""
    chinese = asks_in_chinese(question)
    return "\n".join(
        f"另有来源的说法不同：“{claim.text}” [{claim.labels[0]}]"
        if chinese
        else f"Another source differs: “{claim.text}” [{claim.labels[0]}]"
        for claim in claims
    )


def sides(conflicts: Sequence[Conflict]) -> tuple[Claim, ...]:
    """What every side of conflicts says, each as a claim of its own."""
    claims: dict[tuple[str, str], Claim] = {}
    for conflict in conflicts:
        for position in conflict.positions:
            claims.setdefault(
                (position.label, position.sentence), Claim(position.sentence, (position.label,))
            )
    return tuple(claims.values())


def both_sides(question: str, claims: Sequence[Claim]) -> str:
    """What is said where a person has to decide."""
    opening = (
        "来源之间说法不一，需要人工核实："
        if asks_in_chinese(question)
        else "The sources differ, and a person has to decide:"
    )
    return "\n".join([opening, *(f"- “{claim.text}” [{claim.labels[0]}]" for claim in claims)])
