"""What a source's collection lacks and has too much is told by id, whatever state it is in."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.index.desired import DesiredDocument
from rag_pipeline.index.planning import Change, StoredPoints, plan_source

HASHES = ["a" * 64, "b" * 64, "c" * 64]


def document(
    name: str = "policy.md",
    content: str = HASHES[0],
    chunks: int = 3,
    facts: dict[str, object] | None = None,
    failed: tuple[int, ...] = (),
) -> DesiredDocument:
    return DesiredDocument(
        document_id=f"refunds/{name}",
        source_id="refunds",
        content_hash=content,
        normalized_key=f"normalized/{content[:4]}",
        chunks_key=f"chunks/{content[:4]}/{chunks}",
        chunk_count=chunks,
        failed_chunks=failed,
        facts=facts or {"access_groups": ["support"]},
    )


def recorded(*documents: DesiredDocument) -> dict[str, object]:
    return {one.document_id: one.recorded() for one in documents}


def points(*documents: DesiredDocument) -> list[str]:
    return [point for one in documents for point in one.points]


def test_nothing_to_do_where_ledger_and_qdrant_agree() -> None:
    one = document()
    plan = plan_source([one], recorded(one), StoredPoints(points(one)))
    assert plan.nothing_to_do
    assert plan.reused == 3


def test_a_ledger_that_says_done_over_an_empty_collection_heals_itself() -> None:
    one = document()
    plan = plan_source([one], recorded(one), StoredPoints([]))
    assert [p.change for p in plan.documents] == [Change.REPAIRED]
    assert list(plan.documents[0].write) == points(one)


def test_an_unpublished_point_of_the_current_version_is_repaired() -> None:
    one = document()
    ids = points(one)
    plan = plan_source([one], recorded(one), StoredPoints(ids[1:], unpublished=ids[:1]))
    assert plan.documents[0].write == (ids[0],)
    assert plan.orphans == ()


def test_a_new_version_is_written_beside_the_old_one_which_is_then_withdrawn() -> None:
    old, new = document(chunks=4), document(content=HASHES[1], chunks=2)
    plan = plan_source([new], recorded(old), StoredPoints(points(old)))
    (planned,) = plan.documents
    assert planned.change is Change.REPLACED
    assert list(planned.write) == points(new)
    assert sorted(planned.withdraw) == sorted(points(old))
    assert plan.orphans == ()


def test_fewer_chunks_of_the_same_content_leave_no_leftover() -> None:
    old, new = document(chunks=4), document(chunks=2)
    plan = plan_source([new], recorded(old), StoredPoints(points(old)))
    assert plan.documents[0].change is Change.REWRITTEN
    assert set(plan.documents[0].withdraw) == set(points(old)) - set(points(new))


def test_changed_facts_write_no_point() -> None:
    old = document()
    new = replace(old, facts={"access_groups": ["finance"]})
    plan = plan_source([new], recorded(old), StoredPoints(points(old)))
    assert plan.documents[0].change is Change.FACTS
    assert plan.documents[0].write == ()
    assert plan.reused == 3


def test_a_document_whose_change_was_interrupted_is_written_anew_even_if_it_looks_right() -> None:
    one = document()
    interrupted = {one.document_id: replace(one.recorded(), settled=False)}
    plan = plan_source([one], interrupted, StoredPoints(points(one)))
    assert plan.documents[0].change is Change.REWRITTEN
    assert list(plan.documents[0].write) == points(one)


def test_a_failed_chunk_is_not_expected() -> None:
    one = document(failed=(1,))
    assert len(one.points) == 2
    assert plan_source([one], recorded(one), StoredPoints(points(one))).nothing_to_do


versions = st.builds(
    document,
    name=st.sampled_from(["A.md", "a.md", "b.md", "c.md"]),
    content=st.sampled_from(HASHES),
    chunks=st.integers(1, 4),
    facts=st.sampled_from([{"access_groups": ["support"]}, {"access_groups": []}]),
)
states = st.lists(versions, unique_by=lambda one: one.document_id, max_size=4)


@given(
    wanted=states,
    known=states,
    lost=st.data(),
    strays=st.lists(st.uuids().map(str), max_size=3),
)
def test_carrying_out_a_plan_leaves_exactly_what_is_wanted(
    wanted: list[DesiredDocument],
    known: list[DesiredDocument],
    lost: st.DataObject,
    strays: list[str],
) -> None:
    # Documents that are gone were deleted before there is a plan.
    known = [one for one in known if one.document_id in {other.document_id for other in wanted}]
    everything = points(*known) + strays
    held = lost.draw(st.lists(st.sampled_from(everything), unique=True)) if everything else []
    hidden = lost.draw(st.lists(st.sampled_from(held), unique=True)) if held else []
    plan = plan_source(
        wanted, recorded(*known), StoredPoints(set(held) - set(hidden), unpublished=set(hidden))
    )
    published = set(held) - set(hidden)
    after = set(held)
    for planned in plan.documents:
        after |= set(planned.write)
        published |= set(planned.write)
        after -= set(planned.withdraw)
    after -= set(plan.orphans)
    assert after == set(points(*wanted))
    assert after <= published, "every point that stays is one that readers find"
