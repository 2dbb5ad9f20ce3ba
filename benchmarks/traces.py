"""What converting and embedding leave behind, whoever did it: to tell what a run really did."""

import sqlite3
from dataclasses import dataclass

from rag_pipeline_tests.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Traces:
    """What is there at one moment."""

    conversions: frozenset[tuple[str, int]]
    """Artifacts with the time they were written, and failed documents with their number of attempts."""
    vectors: int

    @classmethod
    def of(cls, base: KnowledgeBase, source: str) -> "Traces":
        """The traces of everything converted and embedded, and of a source's failures."""
        artifacts = (base.settings.home / "artifacts").rglob("*.json")
        letters = base.services.ledger.dead_letters.listed([source])
        with sqlite3.connect(base.settings.home / "ledger.sqlite") as ledger:
            ((vectors,),) = ledger.execute("select count(*) from vectors")
        written = {(str(file), file.stat().st_mtime_ns) for file in artifacts}
        failed = {(letter.document_id, letter.attempts) for letter in letters}
        return cls(frozenset(written | failed), vectors)

    def converted_since(self, before: "Traces") -> int:
        """How many documents were converted, or tried, since then."""
        new = {name for name, _ in self.conversions - before.conversions}
        return sum("/chunks/" not in name and not name.endswith(".summary.json") for name in new)
