"""Who may find what: nobody finds a document of a group that is not theirs, in any leg of any search."""

from pathlib import Path

import pytest
from qdrant_client import models

from rag_pipeline.index.store import StoreLocation, open_store
from rag_pipeline_tests.knowledge_base import KnowledgeBase

QUESTION = "Within how many days does hardware go back?"


@pytest.fixture
def base(tmp_path: Path, store_location: StoreLocation, alias: str) -> KnowledgeBase:
    """One page in sources for support, hr, everybody and nobody, and in another tenant's."""
    base = KnowledgeBase(tmp_path, store_location, alias)
    base.manifest("for_support", roles=["support"])
    base.manifest("for_hr", roles=["hr"])
    base.manifest("for_everybody", roles=None)
    base.manifest("for_nobody", roles=[])
    base.manifest("elsewhere", roles=["support"], tenant="other")
    for source in ("for_support", "for_hr", "for_everybody", "for_nobody", "elsewhere"):
        base.page(source, "returns")
        base.index(source)
    return base


def sources_found(base: KnowledgeBase, *groups: str, tenant: str = "default") -> set[str]:
    return {chunk.source_id for chunk in base.find(QUESTION, *groups, tenant=tenant)}


def test_callers_find_what_their_groups_may_see(base: KnowledgeBase) -> None:
    assert sources_found(base, "support") == {"for_support", "for_everybody"}
    assert sources_found(base, "hr", "support") == {"for_support", "for_hr", "for_everybody"}
    assert sources_found(base, "public") == {"for_everybody"}
    assert sources_found(base, "strangers") == {"for_everybody"}
    assert sources_found(base, "support", tenant="other") == {"elsewhere"}


def test_a_caller_without_groups_finds_what_is_public_not_everything(base: KnowledgeBase) -> None:
    assert sources_found(base) == {"for_everybody"}
    assert sources_found(base, tenant="other") == set()


def test_a_source_without_allowed_roles_is_found_by_nobody(base: KnowledgeBase) -> None:
    everybody = ("support", "hr", "public", "", "for_nobody", "nobody", "admin")
    assert "for_nobody" not in sources_found(base, *everybody)


def test_hits_that_are_not_of_the_current_version_are_dropped_and_fetched_over_for(
    base: KnowledgeBase,
) -> None:
    allowed = sources_found(base, "support")
    with open_store(base.services.store) as client:
        points, _ = client.scroll(base.collection, limit=1_000, with_vectors=True, with_payload=True)
        # As a writer killed between publishing and recording leaves them: a hundred better hits.
        unrecorded = [
            models.PointStruct(
                id=number,
                vector=points[0].vector,  # type: ignore[arg-type]
                payload={
                    **(points[0].payload or {}),
                    "source_id": "for_support",
                    "access_groups": ["support"],
                }
                | {"content_hash": "f" * 64, "tenant": "default"},
            )
            for number in range(1, 101)
        ]
        client.upsert(base.collection, unrecorded, wait=True)
    found = base.find(QUESTION, "support")
    assert {chunk.source_id for chunk in found} == allowed
    assert "f" * 64 not in {chunk.content_hash for chunk in found}
