"""Real histories, step by step through the sensor: is all as the files say, and nothing done in vain?"""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from benchmarks.figures import Figure, none_of, noted
from benchmarks.material import data_root
from rag_pipeline.index.store import StoreLocation
from rag_pipeline_tests.auditing import Content, Listener, audit, wanted
from rag_pipeline_tests.histories import STEPS, History
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server
from rag_pipeline_tests.sensor_runs import requested, run_requested, tick

_CORPORA = ("handbook_18f", "apisix_en_zh")
_FAULTS = {
    "documents": "documents that differ from state.txt's",
    "missing": "expected chunks that are missing or hold another text",
    "surplus": "stored chunks that are not expected",
    "needless": "texts embedded that had a vector",
    "forgotten": "vectors missing or left",
    "retrievable": "words of no file any more that are retrieved",
    "left_behind": "such words in artifacts",
}


def measure(folder: Path) -> Iterator[Figure]:
    """Both corpora on both stores: base, then four steps."""
    for corpus in _CORPORA:
        yield from _follow(corpus, folder / "embedded" / corpus, None)
    with running_server(folder / "server") as server:
        for corpus in _CORPORA:
            yield from _follow(corpus, folder / "on_server" / corpus, server)


def _follow(corpus: str, folder: Path, server: StoreLocation | None) -> Iterator[Figure]:
    where = f"{corpus}, {'server' if server else 'embedded store'}"
    history = History(data_root() / "updates" / corpus)
    base = KnowledgeBase(folder, server, alias=f"updates_{corpus}")
    base.manifest(corpus)
    listener = Listener(base.services.embedder)
    base.services.embedder = listener
    faults = dict.fromkeys(_FAULTS, 0)
    approvals = 0
    before = Content()
    with dg.instance_for_test(temp_dir=str(folder)) as instance:
        for step in STEPS:
            operations = history.apply(step, folder / "files" / corpus)
            listener.heard.clear()
            approvals += _run_until_quiet(base, instance, corpus)
            now = wanted(base, corpus)
            assert now.documents == {f"{corpus}/{path}" for path in history.state(step)}, step
            found = audit(base, corpus, before=before, now=now, embedded=listener.heard, group="support")
            for name, count in found.faults.items():
                faults[name] += count
            done = (
                f"{len(operations)} operations, {len(now.texts):,} chunks, {len(listener.heard):,} embedded"
            )
            yield noted(f"{where}, {step}", f"{done}, {len(before.words - now.words):,} words gone")
            before = now
    yield noted(f"{where}: deletions that had to be approved", str(approvals))
    for name, meaning in _FAULTS.items():
        yield none_of(f"{where}: {meaning}", faults[name])


def _run_until_quiet(base: KnowledgeBase, instance: dg.DagsterInstance, source: str) -> int:
    """Run what the sensor asks for, approving what is withheld; returns how many deletions that were."""
    looked = tick(base, instance)
    if requested(looked) != [source]:
        raise RuntimeError(f"the sensor did not see that {source} has changed")
    if run_requested(base, instance, looked):
        return 0
    withheld = base.services.ledger.withheld.approve(source, "the benchmark")
    if not run_requested(base, instance, looked):
        raise RuntimeError(f"{source} was not indexed after its deletions were approved")
    return len(withheld.document_ids)
