"""Whole corpora, indexed on both stores: is every chunk there by id, and does a second run do nothing?"""

import hashlib
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, none_of, noted
from benchmarks.material import data_root
from benchmarks.running import index_timed
from benchmarks.server_requests import point_requests
from benchmarks.traces import Traces
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.qdrant_server import running_server

_FOLDERS = {"handbook_18f": "corpora/handbook_18f/pages", "apisix_en_zh": "corpora/apisix_en_zh/docs"}

# Written out here a second time: ids are a contract, and this check must not share the pipeline's code.
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:rag-pipeline:chunk")

# What a run that changes nothing may ask of points: id scrolls, and the checks' sample by id, which is of at
# most 1,000 points, 250 a request.
_SAMPLE_REQUESTS = 4


def measure(folder: Path) -> Iterator[Figure]:
    """Both corpora on both stores, without a model."""
    for corpus in _FOLDERS:
        yield from _measure_corpus(corpus, folder / "embedded" / corpus, None)
    with running_server(folder / "server") as server:
        for corpus in _FOLDERS:
            yield from _measure_corpus(corpus, folder / "on_server" / corpus, server)


def measure_local_model(folder: Path) -> Iterator[Figure]:
    """The handbook on the server, embedded by the bundled model: some minutes."""
    with running_server(folder / "server") as server:
        yield from _measure_corpus("handbook_18f", folder / "local", server, embedding_provider="local")


def _measure_corpus(
    corpus: str, folder: Path, server: StoreLocation | None, **settings: Any
) -> Iterator[Figure]:
    where = f"{corpus}, {'server' if server else 'embedded store'}"
    files = data_root() / _FOLDERS[corpus]
    base = KnowledgeBase(folder, server, alias=corpus, **settings)
    base.manifest(corpus, location={"url": str(files), "include": ["**/*.md"]})
    first = index_timed(base, corpus)
    expected, unaccounted = _expected_ids(base, corpus, files)
    stored = _stored_ids(base)
    yield noted(f"{where}: documents seen, failed", _counted(first.report.documents))
    yield noted(f"{where}: chunks expected, stored", f"{len(expected):,}, {len(stored):,}")
    yield none_of(f"{where}: files neither stored nor in dead letters", unaccounted)
    yield none_of(f"{where}: expected ids that are not stored", len(expected - stored))
    yield none_of(f"{where}: stored ids that are not expected", len(stored - expected))
    yield from _measure_second_run(where, base, corpus, server)


def _counted(documents: Any) -> str:
    return f"{documents.seen:,}, {documents.failed:,}"


def _measure_second_run(
    where: str, base: KnowledgeBase, corpus: str, server: StoreLocation | None
) -> Iterator[Figure]:
    before = Traces.of(base, corpus)
    asked = point_requests(server) if server else None
    second = index_timed(base, corpus)
    after = Traces.of(base, corpus)
    yield none_of(f"{where}, second run: documents converted", len(after.conversions ^ before.conversions))
    yield none_of(f"{where}, second run: texts embedded", after.vectors - before.vectors)
    yield none_of(f"{where}, second run: chunks written", second.report.chunks.written)
    if server and asked is not None:
        requests = point_requests(server) - asked
        yield noted(f"{where}, second run: requests for points", str(dict(sorted(requests.items()))))
        requests -= Counter(Scroll=requests["Scroll"], Get=_SAMPLE_REQUESTS)
        name = f"{where}, second run: requests but id scrolls and the checks' sample"
        yield none_of(name, requests.total())


def _expected_ids(base: KnowledgeBase, source: str, files: Path) -> tuple[set[str], int]:
    """The point ids that the files' bytes and their stored chunks ask for, and the files without any account.

    Nothing of it is taken from the pipeline's report or from Qdrant.
    """
    recorded = base.services.ledger.documents.of_source(base.collection, source)
    failed = {letter.document_id for letter in base.services.ledger.dead_letters.listed([source])}
    expected: set[str] = set()
    unaccounted = 0
    for file in files.rglob("*.md"):
        document_id = f"{source}/{file.relative_to(files).as_posix()}"
        if document_id not in recorded:
            unaccounted += document_id not in failed
            continue
        found = read_chunks(base.services.artifacts, recorded[document_id].chunks_key)
        version = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        count = len(found[1]) if found else 0
        expected |= {
            str(uuid.uuid5(_NAMESPACE, f"{document_id}:{version}:{index}")) for index in range(count)
        }
    return expected, unaccounted


def _stored_ids(base: KnowledgeBase) -> set[str]:
    """The ids of all points behind the alias, whatever they hold."""
    stored: set[str] = set()
    offset = None
    with open_store(base.services.store) as client:
        while True:
            records, offset = client.scroll(
                base.settings.alias, limit=5_000, offset=offset, with_payload=False
            )
            stored.update(str(record.id) for record in records)
            if offset is None:
                return stored
