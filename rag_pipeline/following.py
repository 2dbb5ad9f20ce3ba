"""Which sources differ from what is indexed: desired state against recorded state, never events alone.

Whatever was missed, the next look finds it. No look opens Qdrant, and one that takes long or fails neither
delays nor hides another.
"""

import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from queue import Empty, SimpleQueue
from typing import Final

from rag_pipeline.errors import SourceUnavailable
from rag_pipeline.ledger.source_states import SourceState
from rag_pipeline.sources.listing import find_files
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline.sources.snapshot import WITHDRAWN, same_content, signature

MOST_ATTEMPTS: Final = 5
"""Runs of the same look of a source that may fail before nothing more is tried until it changes."""

_FIRST_WAIT: Final = timedelta(minutes=1)
_LONGEST_WAIT: Final = timedelta(hours=1)
_LOOKERS: Final = 8

# Looks that go on, by source and location. A file system that hangs is not asked again until it answers, or
# each look would leave another thread behind, and take the place of those that can answer.
_going_on: set[tuple[str, str]] = set()


class Verdict(StrEnum):
    """What a look at a source says."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    BACKING_OFF = "backing off"
    GIVEN_UP = "given up"
    UNAVAILABLE = "unavailable"
    SLOW = "slow"


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a source, and why that is so."""

    source_id: str
    verdict: Verdict
    reason: str


def look_at_sources(
    manifests: Iterable[Manifest],
    states: Mapping[str, SourceState],
    *,
    indexed: Collection[str],
    seconds: float,
) -> list[Look]:
    """Compare each source with its recorded state; all together take at most about `seconds`.

    `indexed` are the sources that every generation being fed accounts for. A source that does not answer in
    time is SLOW; the thread that looks at it is left to end by itself.
    """
    now = datetime.now(UTC)
    waiting: SimpleQueue[Manifest] = SimpleQueue()
    looks: SimpleQueue[Look] = SimpleQueue()
    missing = set()
    found = []
    for manifest in manifests:
        if _place(manifest) in _going_on:
            found.append(Look(manifest.source_id, Verdict.SLOW, "has not answered an earlier look yet"))
            continue
        waiting.put(manifest)
        missing.add(manifest.source_id)

    def look() -> None:
        while True:
            try:
                one = waiting.get_nowait()
            except Empty:
                return
            place = _place(one)
            _going_on.add(place)
            try:
                seen = look_at_source(one, states.get(one.source_id), one.source_id in indexed, now)
            except Exception as error:  # noqa: BLE001 - whatever a file system raises is this source's alone
                seen = Look(one.source_id, Verdict.UNAVAILABLE, f"{type(error).__name__}: {error}")
            # Before it is told, or the next look would find it still going on.
            _going_on.discard(place)
            looks.put(seen)

    for _ in range(min(_LOOKERS, len(missing))):
        # Daemons, since a file system that hangs must not keep this process from ending.
        threading.Thread(target=look, name="look", daemon=True).start()
    deadline = time.monotonic() + seconds
    while missing and (left := deadline - time.monotonic()) > 0:
        try:
            found.append(looks.get(timeout=left))
        except Empty:
            break
        missing.discard(found[-1].source_id)
    found += [Look(one, Verdict.SLOW, f"gave no answer within {seconds:.0f} s") for one in missing]
    return sorted(found, key=lambda look: look.source_id)


def _place(manifest: Manifest) -> tuple[str, str]:
    return manifest.source_id, manifest.location.url


def look_at_source(manifest: Manifest, state: SourceState | None, indexed: bool, now: datetime) -> Look:
    """Compare one source with its recorded state; reads only files whose times prove nothing."""
    source_id = manifest.source_id
    try:
        root, files = find_files(manifest)
    except SourceUnavailable as error:
        return Look(source_id, Verdict.UNAVAILABLE, str(error))
    if state is None or state.listed_signature is None:
        return Look(source_id, Verdict.CHANGED, "was never listed")
    seen = signature(manifest, files)
    if seen == state.signature and indexed:
        if same_content(root, files, state.in_doubt):
            return Look(source_id, Verdict.UNCHANGED, f"{len(files):,} files as indexed")
        return Look(source_id, Verdict.CHANGED, "a file changed within the same moment as before")
    if seen != state.listed_signature:
        return Look(source_id, Verdict.CHANGED, "changed since it was listed")
    return _look_after_attempts(state, now)


def look_at_withdrawn(source_id: str, state: SourceState | None) -> Look:
    """A source without a manifest, or an archived one, of which something is still indexed."""
    if state is None or state.listed_signature != WITHDRAWN:
        return Look(source_id, Verdict.CHANGED, "was withdrawn")
    return _look_after_attempts(state, datetime.now(UTC))


def _look_after_attempts(state: SourceState, now: datetime) -> Look:
    """The source looks as it did when a run listed it, but that run did not end well, or not yet."""
    source_id, attempts = state.source_id, state.attempts
    if attempts >= MOST_ATTEMPTS:
        return Look(source_id, Verdict.GIVEN_UP, f"{attempts} runs failed; nothing is tried until it changes")
    if attempts and state.attempted_at:
        due = state.attempted_at + min(_FIRST_WAIT * 2 ** (attempts - 1), _LONGEST_WAIT)
        # A clock that was set back must not make anybody wait for ever.
        if state.attempted_at <= now < due:
            minutes = (due - now).total_seconds() / 60
            return Look(source_id, Verdict.BACKING_OFF, f"{attempts} runs failed; again in {minutes:.0f} min")
    return Look(source_id, Verdict.CHANGED, "was listed, but not indexed as a whole")
