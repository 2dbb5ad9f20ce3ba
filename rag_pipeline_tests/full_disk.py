"""An update on a file system that fills up: run in a process and a mount name space of its own.

The process's argument is an empty folder, on which a small file system is mounted. What happened is printed
as JSON.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

from rag_pipeline import fault_points
from rag_pipeline.errors import RagPipelineError
from rag_pipeline_tests.knowledge_base import KnowledgeBase

QUESTION = "Within how many days does hardware go back?"


def main() -> None:
    folder = Path(sys.argv[1])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", str(folder)], check=True)
    base = KnowledgeBase(folder)
    base.manifest("rules")
    base.page("rules", *(f"page {number}" for number in range(5)))
    base.index("rules")
    old = found(base)
    base.page("rules", *(f"page {number}" for number in range(5)), sentence="Within 45 days, by post.")
    base.page("rules", *(f"new {number}" for number in range(20)))
    messages = []
    for full_at, left in (
        ("attempt counted", 0),
        ("listing recorded", 150_000),
        ("chunked", 0),
        ("documents unsettled", 0),
        ("points published", 0),
    ):
        fault_points.install(partial(fill_at, full_at, folder / "filler", left))
        try:
            base.index("rules")
        except RagPipelineError as error:
            messages.append(str(error))
        fault_points.install(lambda instant: None)
        (folder / "filler").unlink()
        whole(base, old)
    report = base.index("rules")
    answer = {
        "messages": messages,
        "reconciled": report.reconciled,
        "documents": len({one.document_id for one in base.find(QUESTION, "support", limit=500)}),
        "leases": len(base.services.ledger.leases.held()),
    }
    sys.stdout.write(json.dumps(answer) + "\n")


def fill_at(full_at: str, file: Path, left: int, instant: str) -> None:
    if instant == full_at:
        fill(file, left)


def fill(file: Path, left: int) -> None:
    """Leave so many bytes free."""
    with file.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(65_536))
        except OSError:
            stream.truncate(max(0, stream.tell() - left))


def found(base: KnowledgeBase) -> dict[str, set[str]]:
    documents: dict[str, set[str]] = {}
    for chunk in base.find(QUESTION, "support", limit=500):
        documents.setdefault(chunk.document_id, set()).add(chunk.content_hash)
    return documents


def whole(base: KnowledgeBase, old: dict[str, set[str]]) -> None:
    """No document that was there is gone, and none is there in two versions."""
    now = found(base)
    assert old.keys() <= now.keys(), old.keys() - now.keys()
    assert all(len(versions) == 1 for versions in now.values()), now
    for document_id in now:
        chunks = [one for one in base.find(QUESTION, "support", limit=500) if one.document_id == document_id]
        assert len(chunks) == base.chunk_count(document_id), document_id
