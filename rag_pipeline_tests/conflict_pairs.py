"""The labelled pairs of passages, and how well conflicts are told from harmless differences on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import yaml

from rag_pipeline.query.conflicts.conflict import Conflict
from rag_pipeline.query.conflicts.finding import find_conflicts
from rag_pipeline.query.conflicts.policy import ConflictPolicies
from rag_pipeline.query.evidence import Evidence

TUNED_ON, HELD_OUT = "tuned on", "held out"
FLOORS = {TUNED_ON: (0.95, 0.95), HELD_OUT: (0.9, 0.85)}
"""Precision and recall that must be reached. The held-out pairs say what to expect of other texts."""

_FILE = Path(__file__).with_suffix(".yaml")
_SIDES = {"S1": "first", "S2": "second"}


def evidence(label: str, of: str, text: str, **facts: Any) -> Evidence:
    """A passage under a path of title and headings, `A > B > C`, with the facts that precedence looks at."""
    title, *sections = of.split(" > ")
    since: date | None = facts.get("since")
    return Evidence(
        label=label,
        evidence_id=f"trace:{label}",
        source_id="source",
        source_title="Source",
        source_type=facts.get("source_type", "official_policy"),
        lifecycle=facts.get("lifecycle", "active"),
        document_id=facts.get("document", of),
        chunk_id=f"{of}:{text[:20]}",
        document_title=title,
        section_path=tuple(sections),
        pages=None,
        text=text,
        language=None,
        score=facts.get("score", 0.5),
        relevance=0.5,
        retrieved_at=datetime(2026, 11, 30, tzinfo=UTC),
        effective_at=datetime.combine(since, time(), UTC) if since else None,
        valid_until=None,
        last_reviewed_at=None,
        updated_at=None,
        trust_tier=facts.get("trust", 1),
        owner="owner",
        content_hash="0" * 64,
        citation_url=None,
    )


@dataclass(frozen=True)
class Pair:
    """A question, two passages and what holds of them."""

    number: int
    question: str
    passages: tuple[Evidence, Evidence]
    says: Mapping[str, str]
    expected: Mapping[str, Any]

    @property
    def part(self) -> str:
        """What it is for: nothing was tuned on what is held out."""
        return HELD_OUT if self.number % 3 == 0 and not self.expected.get("tuned") else TUNED_ON

    @property
    def is_conflict(self) -> bool:
        """Whether the passages contradict each other."""
        return bool(self.expected["conflict"] != "none")

    def find(self) -> tuple[Conflict, ...]:
        """The conflicts that are found in it."""
        return find_conflicts(self.question, self.passages, ConflictPolicies())

    def is_right(self, conflict: Conflict) -> bool:
        """Whether a found conflict is the one of this pair: its kind, and the value on both sides."""
        return (
            self.is_conflict
            and conflict.kind == self.expected["conflict"]
            and [position.label for position in conflict.positions] == ["S1", "S2"]
            and all(_alike(position.shown, self.says[position.label]) for position in conflict.positions)
        )

    def has_right_winner(self, conflict: Conflict) -> bool:
        """Whether the side and the rule are the expected ones."""
        winner = _SIDES.get(conflict.winner or "", "nobody")
        return winner == self.expected["winner"] and conflict.decided_by == self.expected.get("by")


@dataclass
class Score:
    """Found conflicts against labelled ones."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    right_winner: int = 0

    @property
    def precision(self) -> float:
        """The share of found conflicts that are there."""
        found = self.right + len(self.wrong)
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        """The share of conflicts there that are found."""
        there = self.right + len(self.missed)
        return self.right / there if there else 1.0

    @property
    def winners(self) -> float:
        """The share of rightly found conflicts whose winner and rule are right."""
        return self.right_winner / self.right if self.right else 1.0


def pairs() -> Iterator[Pair]:
    """All labelled pairs, numbered from 1."""
    rows: Sequence[dict[str, Any]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    for number, row in enumerate(rows, start=1):
        passages = []
        says = {}
        for label, side in _SIDES.items():
            facts = dict(row.pop(side))
            says[label] = str(facts.pop("says", ""))
            passages.append(evidence(label, facts.pop("of"), facts.pop("text"), **facts))
        question = row.pop("question")
        yield Pair(number, question, (passages[0], passages[1]), says, row)


def part_of(name: str) -> list[Pair]:
    """The labelled pairs of one part."""
    return [pair for pair in pairs() if pair.part == name]


def score(chosen: Sequence[Pair]) -> Score:
    """Every found conflict is right or wrong; a pair whose conflict is not found right is missed."""
    result = Score()
    for pair in chosen:
        found = pair.find()
        right = [conflict for conflict in found if pair.is_right(conflict)]
        result.right += len(right)
        result.right_winner += sum(map(pair.has_right_winner, right))
        result.wrong += [f"{pair.number} {pair.question} {one.kind}" for one in found if one not in right]
        if pair.is_conflict and not right:
            result.missed.append(f"{pair.number} {pair.question}")
    return result


def _alike(shown: str, says: str) -> bool:
    return bool(shown) and (shown in says or says in shown)
