"""Which outdated documents do most damage: those past their source's freshness SLA that answers cite."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rag_pipeline.accounting import is_stale
from rag_pipeline.services import Services
from rag_pipeline.sources.manifest import Manifest

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StaleDocument:
    """A document that was neither updated nor reviewed within its SLA, and how many answers cite it.

    `newest` is the later of its update and its source's review; None where neither is known.
    """

    document_id: str
    source_id: str
    owner: str
    sla_days: int
    newest: datetime | None
    answers: int

    def to_json(self) -> dict[str, Any]:
        """As JSON-serializable values."""
        return asdict(self) | {"newest": self.newest.isoformat() if self.newest else None}


def stale_documents(services: Services, manifests: Iterable[Manifest]) -> list[StaleDocument]:
    """The stale documents that readers see, most cited first, then oldest first.

    Answers count as far back as traces are kept.
    """
    ledger = services.ledger
    live = ledger.generations.live(services.settings.alias)
    if live is None:
        return []
    since = datetime.now(UTC) - timedelta(days=services.settings.trace_retention_days)
    cited = ledger.traces.citations_by_document(since)
    found = []
    for manifest in manifests:
        days = manifest.freshness_sla_days
        if days is None:
            continue
        for document in ledger.documents.of_source(live.name, manifest.source_id).values():
            updated = document.facts.get("updated_at")
            dates = [datetime.fromisoformat(updated)] if updated else []
            newest = max([*dates, *filter(None, [manifest.last_reviewed_at])], default=None)
            if is_stale(newest, days):
                found.append(
                    StaleDocument(
                        document_id=document.document_id,
                        source_id=manifest.source_id,
                        owner=manifest.owner,
                        sla_days=days,
                        newest=newest,
                        answers=cited.get(document.document_id, 0),
                    )
                )
    return sorted(found, key=lambda one: (-one.answers, one.newest or _NEVER, one.document_id))
