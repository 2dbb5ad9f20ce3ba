"""A run that is killed at any instant: readers see whole versions, and the next run puts everything right.

Every instant is tried by `make test-nightly`, and those that matter most by `make test`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.crashing import Crasher, running_crasher
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.whole_state import differences, whole_state

NIGHTLY = settings().max_examples > 100
pytestmark = pytest.mark.timeout(3600 if NIGHTLY else 300)

QUESTION = "Within how many days does hardware go back?"
LONG_AGO = 1_700_000_000

CRITICAL = (
    "deletions noticed",
    "documents unsettled",
    "points written",
    "points published",
    "versions recorded",
    "deleted documents' points deleted",
    "artifact deleted",
    "uses recorded",
)

Versions = dict[str, frozenset[tuple[str, str]]]
"""By document: the content hash and the text of each of its chunks that a reader finds."""


def long_page(parts: int) -> str:
    return "# long\n\n" + "\n\n".join(
        f"## Part {number}\n\nHardware of kind {number} goes back within {number} days of its delivery."
        for number in range(parts)
    )


def first_state(base: KnowledgeBase) -> None:
    """Documents to be kept, replaced, deleted, renamed, shortened, and one whose title will change."""
    base.manifest("rules", roles=["support", "everyone"])
    base.page("rules", "kept", "replaced", "deleted", "renamed")
    base.write("rules", {"titled.md.meta.yaml": "title: First title\n", "long.md": long_page(24)})
    base.page("rules", "titled")
    remove(base, "added.md", "below/renamed.md")
    stamp(base, LONG_AGO)


def second_state(base: KnowledgeBase) -> None:
    """The same with every kind of change, and with access for others than before."""
    base.manifest("rules", roles=["support", "finance"])
    base.page("rules", "replaced", "added", sentence="Hardware goes back within 45 days.")
    base.write("rules", {"titled.md.meta.yaml": "title: Second title\n", "long.md": long_page(3)})
    remove(base, "deleted.md")
    renamed = base.folder / "files" / "rules" / "renamed.md"
    if renamed.exists():
        base.write("rules", {"below/renamed.md": renamed.read_bytes()})
        renamed.unlink()
    stamp(base, LONG_AGO + 1_000)


def remove(base: KnowledgeBase, *paths: str) -> None:
    for path in paths:
        (base.folder / "files" / "rules" / path).unlink(missing_ok=True)


def stamp(base: KnowledgeBase, seconds: int) -> None:
    """Give all files one time, which their points hold."""
    for file in (base.folder / "files").rglob("*.*"):
        os.utime(file, (seconds, seconds))


def readable(base: KnowledgeBase) -> Versions:
    found: dict[str, set[tuple[str, str]]] = {}
    chunks = base.find(QUESTION, "support", limit=500)
    assert len({one.chunk_id for one in chunks}) == len(chunks), "no chunk twice"
    for chunk in chunks:
        found.setdefault(chunk.document_id, set()).add((chunk.content_hash, chunk.text))
    return {document_id: frozenset(own) for document_id, own in found.items()}


def assert_whole(found: Versions, old: Versions, new: Versions, passed: list[str]) -> None:
    """Of every document one version as a whole, where both states have it; else that one or none."""
    for document_id, version in found.items():
        assert version in (old.get(document_id), new.get(document_id)), f"{document_id} is whole"
    assert old.keys() & new.keys() <= found.keys(), "what was and will be there is there"
    if "deletions noticed" in passed:
        assert not found.keys() & (old.keys() - new.keys()), "what is gone is not found any more"


@pytest.fixture(scope="module")
def crasher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crasher]:
    with running_crasher(tmp_path_factory.mktemp("crasher")) as crasher:
        yield crasher


@pytest.fixture
def base(tmp_path: Path, store_location: StoreLocation, alias: str) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path, store_location, alias)
    first_state(base)
    return base


def instants(passed: list[str], critical: tuple[str, ...]) -> list[int]:
    """The instants to be tried."""
    return list(range(len(passed))) if NIGHTLY else [passed.index(one) for one in critical]


def test_an_update_killed_at_any_instant_is_put_right(base: KnowledgeBase, crasher: Crasher) -> None:
    base.index("rules")
    old = readable(base)
    second_state(base)
    forth = crasher.run(base, "index").passed
    at_second, new = whole_state(base), readable(base)
    first_state(base)
    back = crasher.run(base, "index").passed
    at_first = whole_state(base)
    assert min(len(forth), len(back)) >= 40
    assert old["rules/long.md"] != new["rules/long.md"]

    # An odd one of the sample on the way forth, an even one on the way back.
    tries = zip(instants(forth, CRITICAL[0::2]), instants(back, CRITICAL[1::2]), strict=False)
    wrong = []
    for there, here in tries:
        for state, kill_at, was, will_be, wanted in (
            (second_state, there, old, new, at_second),
            (first_state, here, new, old, at_first),
        ):
            state(base)
            ended = crasher.run(base, "index", kill_at)
            assert ended.killed
            assert_whole(readable(base), was, will_be, ended.passed)
            assert base.index("rules").reconciled
            wrong += [
                f"{ended.passed[-1]} ({kill_at}): {one}" for one in differences(whole_state(base), wanted)
            ]
    assert not wrong, "\n".join(wrong)
