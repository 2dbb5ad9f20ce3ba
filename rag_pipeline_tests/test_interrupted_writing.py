"""A run that dies at any call to Qdrant or the ledger: readers see whole versions, the next puts all right.

The death is an exception that nothing catches, before or after the call has taken effect: what a killed
process leaves in the store is the same, and every instant can be tried.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from rag_pipeline.ledger.documents import Documents
from rag_pipeline_tests.knowledge_base import KnowledgeBase

WRITES = (
    (QdrantClient, ("upsert", "set_payload", "batch_update_points", "delete")),
    (Documents, ("record", "bury", "unsettle", "confirm_deletions", "restrict")),
)
QUESTION = "Within how many days does hardware go back?"
# More calls than an update of this knowledge base makes; the test says when that is no longer so.
MOST_CALLS = 24


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed_at(call: int, *, after: bool, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Die at the given one of the writing calls (from 0); yields the names of those made."""
    made: list[str] = []

    def deadly(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: object, *args: Any, **kwargs: Any) -> Any:
            made.append(name)
            fatal = len(made) == call + 1
            if fatal and not after:
                raise Killed
            result = original(self, *args, **kwargs)
            if fatal:
                raise Killed
            return result

        return method

    with monkeypatch.context() as patch:
        for owner, names in WRITES:
            for name in names:
                patch.setattr(owner, name, deadly(name, getattr(owner, name)))
        yield made


def first_state(base: KnowledgeBase) -> None:
    """Pages to be kept, replaced, deleted, and one whose title and access will change."""
    base.manifest("rules", roles=["support", "everyone"])
    base.page("rules", "kept", "replaced", "deleted", "titled")
    base.write("rules", {"titled.md.meta.yaml": "title: First title\n"})


def second_state(base: KnowledgeBase) -> None:
    base.manifest("rules", roles=["support", "finance"])
    base.page("rules", "replaced", "added", sentence="Hardware goes back within 45 days.")
    base.remove("rules", "deleted.md")
    base.write("rules", {"titled.md.meta.yaml": "title: Second title\n"})


def versions_read(base: KnowledgeBase) -> dict[str, set[tuple[str, int, int]]]:
    """By document: content hash, chunk count and how many of its chunks a reader finds."""
    found: dict[str, set[tuple[str, int, int]]] = {}
    chunks = base.find(QUESTION, "support", limit=200)
    for document_id in {chunk.document_id for chunk in chunks}:
        own = [chunk for chunk in chunks if chunk.document_id == document_id]
        found[document_id] = {(own[0].content_hash, base.chunk_count(own[0].document_id), len(own))}
        assert {chunk.content_hash for chunk in own} == {own[0].content_hash}, "never both versions"
    return found


def comparable(base: KnowledgeBase) -> dict[str, dict[str, Any]]:
    return {
        point: {name: value for name, value in payload.items() if name not in ("indexed_at", "updated_at")}
        for point, payload in base.points().items()
    }


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("back", [False, True], ids=["forth", "back"])
def test_a_run_killed_at_any_call_is_put_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool, back: bool
) -> None:
    undisturbed = KnowledgeBase(tmp_path / "undisturbed")
    first_state(undisturbed)
    undisturbed.index("rules")
    if not back:
        second_state(undisturbed)
        undisturbed.index("rules")
    wanted = comparable(undisturbed)

    for call in range(MOST_CALLS):
        base = KnowledgeBase(tmp_path / str(call))
        first_state(base)
        base.index("rules")
        old = {f"rules/{name}.md" for name in ("kept", "replaced", "titled")}
        second_state(base)
        with killed_at(call, after=after, monkeypatch=monkeypatch) as made:
            try:
                base.index("rules")
            except Killed:
                pass
            else:
                assert len(made) <= call, "every writing call has been tried"
                break
        for document_id, versions in versions_read(base).items():
            ((_, chunk_count, found),) = versions
            assert chunk_count == found, f"{document_id} is whole after {made}"
            old.discard(document_id)
        assert not old, f"never none: {old} after {made}"
        listed = "restrict" in made[:-1]
        if listed:
            assert base.find(QUESTION, "everyone") == (), "narrowed access holds from the listing on"
        if back:
            first_state(base)
            base.remove("rules", "added.md")
        report = base.index("rules")
        assert report.reconciled
        assert report.embedded == 0 or not listed, "nothing is embedded again"
        assert comparable(base) == wanted, f"killed at call {call}, {made[-1]}"
    else:
        pytest.fail(f"an update makes more than {MOST_CALLS} writing calls")
