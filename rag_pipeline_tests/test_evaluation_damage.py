"""Deliberate damage to a knowledge base that passes: each kind is caught by the gate that is there for it."""

import hashlib
import itertools
import random
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from qdrant_client import QdrantClient, models

from rag_pipeline.evaluation.evaluating import EvaluationOptions, evaluate
from rag_pipeline.evaluation.gates import lifecycle_gate
from rag_pipeline.evaluation.lifecycle import run_lifecycle
from rag_pipeline.evaluation.result import Evaluation
from rag_pipeline.index.schema import BM25
from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline.pipeline import Pipeline
from rag_pipeline.query.relevance.defaults import default_calibration
from rag_pipeline.query.selecting import RetrievalOptions
from rag_pipeline.services import Services
from rag_pipeline_tests.chat_server import drafted, judging, model_that
from rag_pipeline_tests.evaluated import GATES, QUOTE, RETURN, copy_of_indexed, indexed, question_set
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.openai_server import OpenAIServer, error_reply

ASKING_ALONE = EvaluationOptions(lifecycle=False)
DELETION: dict[str, Any] = {
    "id": "gone", "action": "delete", "document": "policy/refunds.md", "question": RETURN,
    "groups": ["support"], "before": QUOTE,
}  # fmt: skip
UPDATE: dict[str, Any] = {
    **DELETION, "id": "changed", "action": "update", "after": QUOTE.replace("30", "21"),
    "edit": {"old": "30 days", "new": "21 days"},
}  # fmt: skip
REVOCATION: dict[str, Any] = {**DELETION, "id": "taken", "action": "revoke", "remaining_groups": ["finance"]}


def evaluated(services: Services) -> Evaluation:
    return evaluate([question_set()], services, GATES, options=ASKING_ALONE)


def broken(evaluation: Evaluation) -> set[str]:
    """The gates that do not hold."""
    return {one.name for one in evaluation.gates if not one.passed}


def misciting(evaluation: Evaluation) -> set[str]:
    """The cases whose answer claims what its citations do not hold."""
    return {one.case_id for one in evaluation.cases if one.scores.get("citation_precision", 1) < 1}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    base = copy_of_indexed(tmp_path_factory)
    assert broken(evaluated(base.services)) == set()
    base.services.close()
    return base


@pytest.fixture
def base(original: KnowledgeBase, tmp_path: Path) -> Iterator[KnowledgeBase]:
    """A copy of it, to be damaged."""
    shutil.copytree(original.folder, tmp_path / "copy")
    base = KnowledgeBase(tmp_path / "copy")
    yield base
    base.services.close()


@pytest.fixture
def base_on_server(tmp_path: Path, qdrant_server: StoreLocation) -> Iterator[KnowledgeBase]:
    base = indexed(tmp_path / "base", qdrant_server, alias=f"damage_{uuid.uuid4().hex[:8]}")
    yield base
    with open_store(base.services.store) as client:
        client.delete_collection(base.collection)
    base.services.close()


@pytest.fixture(params=["base", pytest.param("base_on_server", marks=pytest.mark.server)])
def either_base(request: pytest.FixtureRequest) -> KnowledgeBase:
    base: KnowledgeBase = request.getfixturevalue(request.param)
    return base


class UnfilteredLeg:
    """A client whose BM25 legs lose their filter on the way."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client

    def query_batch_points(self, collection: str, requests: list[models.QueryRequest]) -> Any:
        asked = [one.model_copy(update={"filter": None}) if one.using == BM25 else one for one in requests]
        return self._client.query_batch_points(collection, asked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


def test_a_leg_without_the_access_filter_is_a_leak_though_no_answer_shows_it(
    either_base: KnowledgeBase,
) -> None:
    class Leaking(Services):
        @contextmanager
        def open_store(self, *, wait_seconds: float) -> Iterator[QdrantClient]:
            with super().open_store(wait_seconds=wait_seconds) as client:
                yield cast(QdrantClient, UnfilteredLeg(client))

    leaking = Leaking(either_base.settings)
    evaluated(leaking)
    found = evaluated(leaking)
    assert "leaks" in broken(found), "in a process that has asked before too"
    [salary] = [one for one in found.cases if one.case_id == "salary"]
    assert salary.outcome == "no_evidence", "the ledger held it back"
    assert any("people/salaries.md" in failure for failure in salary.failures)


def test_a_threshold_of_nothing_lets_noise_through(base: KnowledgeBase) -> None:
    lax = Services(base.settings.model_copy(update={"min_relevance": 0.0}))
    found = evaluated(lax)
    assert "every_category" in broken(found)
    [gate] = [one for one in found.gates if one.name == "every_category"]
    assert "of unanswerable is 0.000" in gate.message
    lax.close()


def test_a_source_whose_chunks_are_missing_has_no_recall(base: KnowledgeBase) -> None:
    base.delete_points(point for point, one in base.points().items() if one["source_id"] == "policy")
    found = evaluated(base.services)
    assert "recall_by_source" in broken(found)
    [gate] = [one for one in found.gates if one.name == "recall_by_source"]
    assert "recall of policy is 0.000" in gate.message
    assert "macros" not in gate.message


def test_lifecycle_cases_hold_and_leave_nothing_behind(either_base: KnowledgeBase) -> None:
    sets = [question_set(lifecycle=(DELETION, UPDATE, REVOCATION))]
    results = run_lifecycle(sets, either_base.services)
    assert [(one.failures, one.error) for one in results] == [((), None)] * 3
    with open_store(either_base.services.store) as client:
        collections = {one.name for one in client.get_collections().collections}
    assert not [one for one in collections if "lifecycle" in one]
    assert (either_base.folder / "files" / "policy" / "refunds.md").exists(), "it happens to copies"


def test_an_old_version_that_stays_is_found_by_its_id(base: KnowledgeBase) -> None:
    class Keeping(Pipeline):
        """Puts a document's old points back once they were replaced."""

        def run(self, source_id: str) -> Any:
            before = _points(self.services)
            report = super().run(source_id)
            if before:
                with open_store(self.services.store) as client:
                    client.upsert(_live(self.services), before, wait=True)
            return report

    results = run_lifecycle([question_set(lifecycle=(DELETION, UPDATE))], base.services, Keeping)
    gate = lifecycle_gate(results)
    assert not gate.passed
    assert gate.cases == ("small/gone", "small/changed")
    assert "points of the deleted document are left" in str(results[0].failures)
    assert "points of the old version are left" in str(results[1].failures)


def test_an_update_that_never_arrives_is_found(base: KnowledgeBase) -> None:
    class Sleeping(Pipeline):
        """Indexes once, and is content with that."""

        def run(self, source_id: str) -> Any:
            return None if _points(self.services) else super().run(source_id)

    results = run_lifecycle([question_set(lifecycle=(UPDATE, REVOCATION))], base.services, Sleeping)
    assert not lifecycle_gate(results).passed
    assert "is still found" in str(results[0].failures)
    assert "no cited passage" in str(results[0].failures)
    assert "its remaining readers do not" in str(results[1].failures), (
        "the manifest counts at once, the index did not"
    )


@pytest.mark.parametrize("hidden", [False, True])
def test_shuffled_texts_are_no_longer_what_was_indexed(base: KnowledgeBase, hidden: bool) -> None:
    def shuffled(payload: Mapping[str, Any]) -> dict[str, Any]:
        words = payload["text"].split()
        random.Random(1).shuffle(words)  # noqa: S311 - nothing to be kept secret
        text = " ".join(words)
        told = hashlib.sha256(text.encode()).hexdigest() if hidden else payload["text_hash"]
        return {"text": text, "text_hash": told}

    with open_store(base.services.store) as client:
        for point, payload in base_points(client, base).items():
            client.set_payload(base.collection, shuffled(payload), points=[point], wait=True)
    found = evaluated(base.services)
    # Whoever changes a text together with its hash is found out by the quotes alone.
    assert ("text_integrity" in broken(found)) is not hidden
    assert "quotes" in broken(found)


def test_the_calibration_of_another_model_is_named(base: KnowledgeBase) -> None:
    class Foreign(Services):
        def retrieval_options(self, *, limit: int = 10) -> RetrievalOptions:
            foreign = default_calibration({"provider": "local", "model": "multilingual-e5-small"})
            weights = default_calibration({"provider": "hashing", "model": "words-and-cjk"}).weights
            options = super().retrieval_options(limit=limit)
            # Its weights happen to do: what is wrong shows in no answer.
            calibration = foreign.model_copy(update={"weights": weights})
            return RetrievalOptions(limit=options.limit, calibration=calibration)

    assert broken(evaluated(Foreign(base.settings))) == {"calibration"}


def test_an_unchecked_model_that_invents_is_found_by_its_citations(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer().running() as server:
        server.script = model_that(drafted("Hardware may be returned within 99 days at no cost to anyone."))
        settings = base.settings.model_copy(
            update={"answer_provider": "openai", "answer_model": "m", "answer_base_url": server.base_url}
        )
        checked = evaluated(Services(settings))
        assert not misciting(checked), "such answers are refused"
        monkeypatch.setattr("rag_pipeline.query.answering.answering.find_problems", lambda *_: ())
        unchecked = evaluated(Services(settings))
    assert {"citations", "numbers"} <= broken(unchecked)
    assert misciting(unchecked) >= {"return", "postage"}


@pytest.mark.parametrize(("failing", "holds"), [(0, True), (9, False)])
def test_a_judge_that_fails_most_of_the_time_has_judged_nothing(
    base: KnowledgeBase, failing: int, holds: bool
) -> None:
    asked = itertools.count()
    with OpenAIServer().running() as server:
        judges = judging()
        server.script = lambda request: (
            error_reply(401, "no") if next(asked) % 10 < failing else judges(request)
        )
        settings = base.settings.model_copy(update={"judge_model": "m", "judge_base_url": server.base_url})
        found = evaluated(Services(settings))
    assert ("judge" not in broken(found)) is holds
    assert (found.overall.metric("judge_faithfulness") is not None) is holds
    assert found.passed is holds


def test_an_unchecked_answer_that_says_more_than_its_claims_is_found(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = f"{QUOTE[:-1]}, and every customer also gets a personal apology from the director [S1]."
    with OpenAIServer().running() as server:
        server.script = model_that(drafted(more, (QUOTE, ["S1"])))
        settings = base.settings.model_copy(
            update={"answer_provider": "openai", "answer_model": "m", "answer_base_url": server.base_url}
        )
        monkeypatch.setattr("rag_pipeline.query.answering.answering.find_problems", lambda *_: ())
        found = evaluated(Services(settings))
    [case] = [one for one in found.cases if one.case_id == "return"]
    assert case.scores["citation_precision"] == 1
    assert case.scores["answer_supported"] == 0
    assert not case.passed


def test_half_a_collection_of_another_model_is_found_too(base: KnowledgeBase) -> None:
    with open_store(base.services.store) as client:
        records, _ = client.scroll(base.collection, limit=1_000, with_vectors=True)
        for one in records[::2]:
            vectors = dict(cast(Any, one.vector))
            vectors["dense"] = vectors["dense"][::-1]
            client.update_vectors(base.collection, [models.PointVectors(id=one.id, vector=vectors)])
    assert "vectors" in broken(evaluated(base.services))


def test_another_model_of_the_same_size_is_found_by_its_vectors(tmp_path: Path) -> None:
    with OpenAIServer(dimensions=64).running() as server:
        base = indexed(
            tmp_path, embedding_provider="openai", embedding_model="m",
            embedding_base_url=server.base_url, embedding_dimensions=64, embedding_max_tokens=512,
        )  # fmt: skip
        assert "vectors" not in broken(evaluated(base.services))
        server.script = lambda request: server.reply_with(
            [vector[::-1] for vector in server.vectors_of(request.texts)]
        )
        assert "vectors" in broken(evaluated(base.services))
        base.services.close()


def base_points(client: QdrantClient, base: KnowledgeBase) -> dict[str, dict[str, Any]]:
    records, _ = client.scroll(base.collection, limit=1_000, with_payload=True)
    return {str(one.id): one.payload or {} for one in records}


def _live(services: Services) -> str:
    live = services.ledger.generations.live(services.settings.alias)
    assert live
    return live.name


def _points(services: Services) -> list[models.PointStruct]:
    """The points of the document, as they are."""
    if services.ledger.generations.live(services.settings.alias) is None:
        return []
    with open_store(services.store) as client:
        records, _ = client.scroll(_live(services), limit=1_000, with_payload=True, with_vectors=True)
    return [
        models.PointStruct(id=one.id, payload=one.payload, vector=cast(Any, one.vector))
        for one in records
        if (one.payload or {})["document_id"] == "policy/refunds.md"
    ]
