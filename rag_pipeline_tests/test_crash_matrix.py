"""A run that is killed at any instant: readers see whole versions, and the next run puts everything right.

Every instant is tried by `make test-nightly`, and those that matter most by `make test`.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from rag_pipeline import rebuilding
from rag_pipeline.index.reconciling import SourceReport
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.crashing import Crasher, running_crasher
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.whole_state import differences, whole_state

NIGHTLY = settings().max_examples > 100
pytestmark = pytest.mark.timeout(3600 if NIGHTLY else 300)

# On a server by night alone: many whole runs take their time.
BY_DAY = ["embedded", *(["server"] if NIGHTLY else [])]

QUESTION = "Within how many days does hardware go back?"
LONG_AGO = 1_700_000_000

CRITICAL = (
    "documents unsettled",
    "points written",
    "points published",
    "versions recorded",
    "deleted documents' points deleted",
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


def index(base: KnowledgeBase, crasher: Crasher) -> SourceReport:
    """A run that nothing disturbs, and its account."""
    assert not crasher.run(base, "index").killed
    account = base.services.ledger.reconciliations.of_generation(base.collection)["rules"]
    return SourceReport.from_json("rules", account.report)


@pytest.fixture(scope="module")
def crasher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crasher]:
    with running_crasher(tmp_path_factory.mktemp("crasher")) as crasher:
        yield crasher


@pytest.fixture
def base(tmp_path: Path, store_location: StoreLocation, alias: str) -> KnowledgeBase:
    base = KnowledgeBase(tmp_path, store_location, alias)
    first_state(base)
    return base


def instants(base: KnowledgeBase, passed: list[str], critical: tuple[str, ...]) -> list[int]:
    """The instants to be tried: all of them, or a sample, of which a server, being slower, gets half."""
    if NIGHTLY:
        return list(range(len(passed)))
    return [passed.index(one) for one in (critical if base.services.store.embedded else critical[1::2])]


def test_a_first_run_killed_at_any_instant_is_put_right(
    tmp_path: Path, store_location: StoreLocation, alias: str, crasher: Crasher
) -> None:
    def fresh(number: int) -> KnowledgeBase:
        base = KnowledgeBase(tmp_path / str(number), store_location, f"{alias}_{number}")
        base.manifest("rules")
        base.page("rules", "kept")
        stamp(base, LONG_AGO)
        return base

    undisturbed = fresh(0)
    passed = crasher.run(undisturbed, "index").passed
    wanted = whole_state(undisturbed)
    for kill_at in instants(undisturbed, passed, ("generation added", "collection created")):
        base = fresh(kill_at + 1)
        assert crasher.run(base, "index", kill_at).killed
        assert index(base, crasher).reconciled
        assert base.find(QUESTION, "support")
        assert not differences(whole_state(base), wanted), passed[kill_at]


@dataclass(frozen=True)
class Update:
    """A change of the source, what readers find before and after it, and all that must be there after it."""

    source: Callable[[KnowledgeBase], None]
    passed: list[str]
    old: Versions
    new: Versions
    wanted: dict[str, Any]


@pytest.mark.long
@pytest.mark.parametrize("store_location", BY_DAY, indirect=True)
def test_an_update_killed_at_any_instant_is_put_right(base: KnowledgeBase, crasher: Crasher) -> None:
    index(base, crasher)
    old = readable(base)
    second_state(base)
    passed = crasher.run(base, "index").passed
    new = readable(base)
    forth = Update(second_state, passed, old, new, whole_state(base))
    first_state(base)
    passed = crasher.run(base, "index").passed
    back = Update(first_state, passed, new, old, whole_state(base))
    assert min(len(forth.passed), len(back.passed)) >= 40
    assert old["rules/long.md"] != new["rules/long.md"]

    at = back
    for update, kill_at, reverted in tries(base, forth, back):
        before = back if update is forth else forth
        if at is update:
            before.source(base)
            index(base, crasher)
        update.source(base)
        ended = crasher.run(base, "index", kill_at)
        instant = f"{ended.passed[-1]} ({kill_at})"
        assert ended.killed
        assert_whole(readable(base), update.old, update.new, ended.passed)
        if update is forth and "access narrowed" in ended.passed:
            assert base.find(QUESTION, "everyone") == (), "narrowed access holds from the listing on"
        at = before if reverted else update
        at.source(base)
        report = index(base, crasher)
        assert report.reconciled
        assert report.embedded == 0 or reverted or "embedded" not in ended.passed, "nothing is embedded again"
        found = differences(whole_state(base), at.wanted)
        assert not found, "\n".join([f"after {instant}, reverted: {reverted}", *found])


def tries(base: KnowledgeBase, forth: Update, back: Update) -> Iterator[tuple[Update, int, bool]]:
    """Which update is killed at which instant, and whether the source is as before when it runs again."""
    if NIGHTLY:
        for reverted in (False, True):
            for update in (forth, back):
                yield from ((update, kill_at, reverted) for kill_at in range(len(update.passed)))
    else:
        for update, critical in ((forth, CRITICAL[:3]), (back, CRITICAL[3:])):
            for number, kill_at in enumerate(instants(base, update.passed, critical)):
                yield update, kill_at, number % 2 == 0


@pytest.mark.long
@pytest.mark.parametrize("store_location", BY_DAY, indirect=True)
def test_changes_of_generations_killed_at_any_instant_are_put_right(
    base: KnowledgeBase, crasher: Crasher
) -> None:
    index(base, crasher)
    rebuilding.reindex(base.pipeline, promote_after=True)
    versions = readable(base)
    passed = {work: crasher.run(base, work).passed for work in ("reindex", "collect garbage", "rollback")}
    assert sum(map(len, passed.values())) >= 40
    assert crasher.run(base, "rollback").passed == passed["rollback"]
    index(base, crasher)
    wanted = whole_state(base)

    def live() -> str:
        rebuilding.listed_generations(base.services)  # completes what was begun
        return base.collection

    def assert_put_right(instant: str) -> None:
        index(base, crasher)
        assert readable(base) == versions, f"all is found after {instant}"
        found = differences(whole_state(base), wanted)
        assert not found, "\n".join([instant, *found])

    def killed(work: str, kill_at: int) -> str:
        ended = crasher.run(base, work, kill_at)
        assert ended.killed
        assert readable(base) == versions, f"readers lack nothing after {ended.passed[-1]} ({kill_at})"
        return f"{work}, {ended.passed[-1]} ({kill_at})"

    for kill_at in instants(base, passed["reindex"], ("alias pointed",)):
        before = live()
        instant = killed("reindex", kill_at)
        if live() == before:
            rebuilding.reindex(base.pipeline, promote_after=True)
        rebuilding.collect_garbage(base.services)
        assert_put_right(instant)
    for kill_at in instants(base, passed["rollback"], ("alias pointed",)):
        before = live()
        instant = killed("rollback", kill_at)
        if live() == before:
            rebuilding.rollback(base.services)
        rebuilding.rollback(base.services)
        assert live() == before
        assert_put_right(instant)
    for kill_at in instants(base, passed["collect garbage"], ()):
        rebuilding.reindex(base.pipeline, promote_after=True)
        instant = killed("collect garbage", kill_at)
        rebuilding.collect_garbage(base.services)
        assert_put_right(instant)
