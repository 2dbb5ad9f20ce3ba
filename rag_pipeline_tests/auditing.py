"""What an indexed source must be, computed from its files themselves, and what it is.

Ids are spelled out here a second time, and nothing is taken from reports: an audit must not share what it
judges.
"""

import hashlib
import json
import re
import sqlite3
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rag_pipeline.chunking.chunk import embedding_input
from rag_pipeline.chunking.chunker import chunk_document
from rag_pipeline.embedding.embedder import Embedder, Refusal, Vector
from rag_pipeline.embedding.passing_on import PassingOn
from rag_pipeline.normalize.detecting import detect_type
from rag_pipeline.normalize.stage import parsing_options
from rag_pipeline.normalize.worker_process import convert_document
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline.sources.listing import list_source
from rag_pipeline_tests.knowledge_base import KnowledgeBase, scope_of

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:rag-pipeline:chunk")
_WORD = re.compile(r"[A-Za-z]{4,}|[\u4e00-\u9fff]{2,4}")


class Listener(PassingOn):
    """An embedder that passes everything on, and remembers the passages that it was asked to embed."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.heard: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        self.heard += texts
        return super().embed_passages(texts)


@dataclass(frozen=True)
class Content:
    """What a source's files ask for: documents, and by point id the text of every chunk."""

    documents: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset()
    """What the model gets."""

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, as they are written."""
        return frozenset(word for text in self.inputs for word in _WORD.findall(text))


def wanted(base: KnowledgeBase, source: str) -> Content:
    """Read, convert and split every file of a source anew."""
    services, manifest = base.services, base.pipeline.catalogue.manifest(source)
    options = parsing_options(manifest, passwords=(), workers=1)
    documents: set[str] = set()
    texts: dict[str, str] = {}
    inputs: set[str] = set()
    for one in list_source(manifest, detect=detect_type).documents:
        normalized = convert_document(one, options)
        title = one.facts.title or normalized.title or one.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        chunks = chunk_document(
            normalized, title=title, options=services.chunking, count_tokens=services.embedder.count_tokens
        )
        documents.add(one.document_id)
        for index, chunk in enumerate(chunks):
            chunk_id = f"{one.document_id}:{one.content_hash[:12]}:{index}"
            texts[str(uuid.uuid5(_NAMESPACE, chunk_id))] = chunk.text
            inputs.add(embedding_input(title, chunk))
    return Content(frozenset(documents), texts, frozenset(inputs))


@dataclass(frozen=True)
class Audit:
    """What is not as it must be after a change; all empty where everything is right."""

    documents: frozenset[str]
    """Recorded but not wanted, or wanted but not recorded."""
    missing: frozenset[str]
    """Points that should be there, with this text, and are not."""
    surplus: frozenset[str]
    needless: list[str]
    """Texts that were embedded though they had a vector before, or more than once."""
    forgotten: frozenset[str]
    """Texts of which no vector is kept, and vectors that are kept though no text asks for them, by hash."""
    retrievable: frozenset[str]
    """Words that no file holds any more, but that retrieval still brings up."""
    left_behind: frozenset[str]
    """Such words in artifacts."""

    @property
    def faults(self) -> dict[str, int]:
        """How many of each kind."""
        return {name: len(getattr(self, name)) for name in self.__dataclass_fields__}


def audit(
    base: KnowledgeBase, source: str, *, before: Content, now: Content, embedded: Sequence[str], group: str
) -> Audit:
    """Look into ledger, store, artifacts and vectors after a source was changed from `before` to `now`.

    `embedded` are the texts that were embedded for it, and `group` is one that may see everything.
    """
    gone = before.words - now.words
    points = {point: payload["text"] for point, payload in base.points().items()}
    vectors = _kept_vectors(base)
    recorded = base.services.ledger.documents.of_source(base.collection, source).keys()
    times = Counter(embedded)
    return Audit(
        documents=now.documents ^ recorded,
        missing=frozenset(point for point, text in now.texts.items() if points.get(point) != text),
        surplus=frozenset(points.keys() - now.texts.keys()),
        needless=[text for text in times if text in before.inputs or times[text] > 1],
        forgotten=frozenset({_sha256(text) for text in now.inputs} ^ vectors),
        retrievable=_retrievable(base, gone, group),
        left_behind=_in_artifacts(base, gone),
    )


def _retrievable(base: KnowledgeBase, words: Iterable[str], group: str) -> frozenset[str]:
    # One question for many words: each of them is a search term of its own.
    chosen = sorted(words)
    questions = [" ".join(chosen[start : start + 25]) for start in range(0, len(chosen), 25)]
    options = RetrievalOptions(limit=50, min_relevance=0.0, collapse_duplicates=False)
    results = base.retrieve(questions, scope_of(group), options=options)
    found = {word for one in results for chunk in one.chunks for word in _WORD.findall(chunk.text)}
    return frozenset(chosen) & found


def _in_artifacts(base: KnowledgeBase, words: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    for file in (base.settings.home / "artifacts").rglob("*.json"):
        value = json.loads(file.read_bytes())
        parts = [value.get(name, "") for name in ("title", "markdown", "chunks")]
        found |= words.intersection(_WORD.findall(json.dumps(parts, ensure_ascii=False)))
    return frozenset(found)


def _kept_vectors(base: KnowledgeBase) -> frozenset[str]:
    with sqlite3.connect(base.settings.home / "ledger.sqlite") as ledger:
        return frozenset(text_hash for (text_hash,) in ledger.execute("select text_hash from vectors"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
