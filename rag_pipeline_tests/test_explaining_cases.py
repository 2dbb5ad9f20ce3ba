"""Where the right passage was lost: one knowledge base a way of losing it, and the step and reason told."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.chunking.identity import chunk_id, point_id
from rag_pipeline.chunking.stage import read_chunks
from rag_pipeline.console import console
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.evaluation.case import Case, Category, Outage, Quote, Required
from rag_pipeline.evaluation.explaining import explain
from rag_pipeline.evaluation.explanation import Explanation, Step, StepName
from rag_pipeline.evaluation.indexed_texts import indexed_texts
from rag_pipeline.index.store import open_store
from rag_pipeline.query.trace import Outcome
from rag_pipeline.trace_views import show_explanations
from rag_pipeline_tests.chat_server import drafted, model_that
from rag_pipeline_tests.knowledge_base import KnowledgeBase
from rag_pipeline_tests.openai_server import OpenAIServer
from rag_pipeline_tests.test_retrieval_options import rerank_server

DOCUMENT = "refunds/returns.md"
QUESTION = "Within how many days may hardware be returned?"
SENTENCE = "Hardware may be returned within 30 days of delivery."
PAGE = f"# Returns\n\n{SENTENCE}\n"


def case_of(quote: str | None = SENTENCE, document: str = DOCUMENT, **fields: Any) -> Case:
    values: dict[str, Any] = {
        "id": "returns",
        "category": Category.ANSWERABLE,
        "question": QUESTION,
        "groups": ("support",),
        "expect": (Outcome.ANSWERED,),
        "quotes": (Quote(document=document, text=quote),) if quote else (),
    }
    return Case(**(values | fields))


def base_of(folder: Path, files: dict[str, str | bytes] | None = None, **settings: Any) -> KnowledgeBase:
    base = KnowledgeBase(folder, **settings)
    base.manifest("refunds")
    base.write("refunds", {"returns.md": PAGE, **(files or {})})
    base.index("refunds")
    return base


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    return base_of(tmp_path)


def explained(base: KnowledgeBase, case: Case | None = None) -> Explanation:
    (one,) = explain(case or case_of(), base.services)
    return one


def lost(base: KnowledgeBase, case: Case | None = None) -> tuple[StepName, str]:
    """Where the only passage of a case was lost, and why; every step before it holds."""
    found = explained(base, case)
    assert found.lost_at == found.steps[-1]
    assert [one.name for one in found.steps] == list(StepName)[: len(found.steps)]
    assert all(one.held for one in found.steps[:-1])
    return found.steps[-1].name, found.steps[-1].what


def first_chunk(base: KnowledgeBase, document: str = DOCUMENT) -> str:
    version = base.services.ledger.documents.of_source(base.collection, "refunds")[document]
    return chunk_id(document, version.content_hash, 0)


def test_a_passage_that_is_cited_is_lost_nowhere(base: KnowledgeBase) -> None:
    found = explained(base)
    assert found.lost_at is None
    assert [one.name for one in found.steps] == list(StepName)
    told = {one.name: one.what for one in found.steps}
    assert told[StepName.RECORD] == first_chunk(base)
    assert told[StepName.CANDIDATES] == f"dense 1, BM25 1, fused 1 for {QUESTION!r}"
    assert told[StepName.EVIDENCE] == "S1 of at most 8"
    assert told[StepName.CITATION].startswith("cited by 1 claims")


def test_explaining_leaves_no_trace_behind(base: KnowledgeBase) -> None:
    explained(base)
    assert base.services.ledger.traces.ids_of_document(DOCUMENT) == []


def test_nothing_can_be_explained_before_anything_is_indexed(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Nothing is indexed under the alias knowledge"):
        explain(case_of(), KnowledgeBase(tmp_path).services)


def test_lost_in_the_source(base: KnowledgeBase) -> None:
    absent = case_of(document="refunds/absent.md")
    assert lost(base, absent) == (
        StepName.SOURCE,
        "the file is gone from its source, or excluded by the manifest",
    )
    assert (
        lost(base, case_of(document="nowhere/absent.md"))[1] == "the source nowhere has no manifest any more"
    )
    base.write("refunds", {"other.md": "# Other\n\nSomething else.\n"})
    base.remove("refunds", "returns.md")
    found = explained(base)
    assert found.steps[0].what.endswith("; what was indexed of it is still there")
    assert found.lost_at is None
    base.index("refunds")
    assert lost(base)[0] is StepName.SOURCE


def test_lost_since_it_was_not_converted(tmp_path: Path) -> None:
    base = base_of(tmp_path, {"fees.pdf": b"%PDF-1.7\nthis is none\n%%EOF"})
    (letter,) = base.services.ledger.dead_letters.listed()
    name, what = lost(base, case_of(document="refunds/fees.pdf"))
    assert name is StepName.CONVERSION
    assert what.startswith(f"dead letter {letter.id}, normalize: {letter.category}: ")
    base.write("refunds", {"later.md": PAGE})
    assert lost(base, case_of(document="refunds/later.md")) == (
        StepName.CONVERSION,
        "it was never indexed; run `rag-pipeline index`",
    )


def test_lost_since_the_text_does_not_hold_it(tmp_path: Path) -> None:
    base = base_of(tmp_path, {"fees.md": "# Fees\n\nSending is free.\n\n<!-- It was five euros once. -->\n"})
    assert lost(base, case_of("It costs five euros.")) == (StepName.TEXT, "the quote is not in the text")
    name, what = lost(base, case_of("It was five euros once.", "refunds/fees.md"))
    assert name is StepName.TEXT
    assert what.startswith("the quote was left out of the text: ")


def test_lost_since_it_is_split(tmp_path: Path) -> None:
    sentences = " ".join(f"Hardware of kind {number} may be returned later." for number in range(60))
    base = base_of(
        tmp_path,
        {"long.md": f"# Long\n\n{sentences}\n"},
        chunk_target_tokens=120,
        chunk_overlap_tokens=0,
    )
    version = base.services.ledger.documents.of_source(base.collection, "refunds")["refunds/long.md"]
    stored = read_chunks(base.services.artifacts, version.chunks_key)
    assert stored is not None
    first, second, *_ = stored[1]
    name, what = lost(base, case_of(first.body[-40:] + second.body[:40], "refunds/long.md"))
    assert name is StepName.CHUNK
    assert what.startswith("the quote is split over chunks no. 0 (0 to ")
    assert " and no. 1 (" in what


def test_lost_in_the_store(base: KnowledgeBase) -> None:
    some_id = first_chunk(base)
    with open_store(base.services.store) as client:
        client.set_payload(base.collection, {"published": False}, points=[point_id(some_id)], wait=True)
    assert lost(base) == (StepName.RECORD, f"{some_id}: the point is withdrawn from readers")
    with open_store(base.services.store) as client:
        other = {"published": True, "text_hash": "0" * 64}
        client.set_payload(base.collection, other, points=[point_id(some_id)], wait=True)
    assert lost(base)[1] == f"{some_id}: the point holds another text than the chunk"
    base.delete_points([point_id(some_id)])
    assert lost(base)[1].startswith(f"{some_id}: the point is missing from Qdrant")


@pytest.mark.parametrize(
    ("manifest", "asked", "told"),
    [
        ({}, {"groups": ()}, "access_groups: the point has support, the request wants public"),
        ({}, {"tenant": "other"}, "tenant: the point has default, the request wants other"),
        (
            {"lifecycle": "deprecated"},
            {},
            "lifecycle: the point has deprecated, the request wants active",
        ),
        (
            {},
            {"environment": "staging"},
            "environments: the point has production, the request wants staging",
        ),
        ({}, {"audience": "sales"}, "audience: the point has support, the request wants sales"),
        (
            {"effective_at": "2026-06-01"},
            {"as_of": "2026-05-01"},
            "effective_at: the point has 2026-06-01T00:00:00Z, "
            "the request wants none or at most 2026-05-01 00:00",
        ),
        (
            {"valid_until": "2026-04-01"},
            {"as_of": "2026-05-01"},
            "valid_until: the point has 2026-04-01T00:00:00Z, "
            "the request wants none or after 2026-05-01 00:00",
        ),
    ],
)  # fmt: skip
def test_lost_to_a_condition_of_the_filter(
    base: KnowledgeBase, manifest: dict[str, Any], asked: dict[str, Any], told: str
) -> None:
    base.manifest("refunds", **manifest)
    base.index("refunds")
    name, what = lost(base, case_of(**asked))
    assert name is StepName.FILTER
    # The manifests say the same of the source where it is theirs to say.
    assert what.split("; manifest: ")[0] == told


def test_lost_to_what_the_manifests_and_the_ledger_know_before_the_points(base: KnowledgeBase) -> None:
    base.manifest("refunds", roles=["managers"])
    assert lost(base) == (StepName.FILTER, "manifest: refunds is for managers in tenant default")
    base.manifest("refunds", lifecycle="deprecated")
    assert lost(base) == (StepName.FILTER, "manifest: refunds is deprecated")
    base.manifest("refunds")
    base.write("refunds", {"returns.md.meta.yaml": "access_groups: []\n"})
    base.pipeline.list_documents("refunds")
    assert lost(base) == (
        StepName.FILTER,
        "ledger: its access or its facts changed; its readers are nobody",
    )


def many(number: int) -> dict[str, str | bytes]:
    """Pages that differ in a number, so that none is another's double."""
    return {
        f"page-{one}.md": f"# Page {one}\n\nWithin {one} days hardware may be returned by courier {one}.\n"
        for one in range(number)
    }


def test_lost_among_too_many_candidates(tmp_path: Path) -> None:
    lamp = "Lamps are blue, and nobody knows about them."
    base = base_of(tmp_path, {"lamps.md": f"# Lamps\n\n{lamp}\n", **many(45)})
    name, what = lost(base, case_of(lamp, "refunds/lamps.md"))
    assert name is StepName.CANDIDATES
    assert what.endswith(f"BM25 not found, fused not found for {QUESTION!r}; each leg brings 20")
    assert int(what.split(",")[0].removeprefix("dense ")) > 20


def test_lost_behind_the_first_ten(tmp_path: Path) -> None:
    base = base_of(tmp_path, {"lamps.md": "# Lamps\n\nLamps may be blue.\n", **many(14)})
    name, what = lost(base, case_of("Lamps may be blue.", "refunds/lamps.md"))
    assert name is StepName.SELECTION
    rank = int(what.split(",")[0].removeprefix("ranked "))
    assert 10 < rank <= 20
    assert what.endswith("and 10 were chosen before it")


def test_a_reranker_is_named_where_it_decided(tmp_path: Path) -> None:
    lamp = "Lamps may be blue."
    pages = {"lamps.md": f"# Lamps\n\nHardware may be returned, of any kind. {lamp}\n", **many(14)}
    with rerank_server(without(lamp)) as (url, _):
        base = base_of(tmp_path, pages, rerank_url=url, rerank_model="ranker", min_relevance=0.0)
        name, what = lost(base, case_of(lamp, "refunds/lamps.md"))
        kept = explained(base)
    assert name is StepName.SELECTION
    assert what.endswith(" by the search; the reranker ordered what was found, and chose 10 others")
    (selected,) = [one.what for one in kept.steps if one.name is StepName.SELECTION]
    assert ", by the reranker " in selected


def without(last: str) -> Callable[[Sequence[str]], dict[str, Any]]:
    """A reranker that puts texts with these words last."""

    def ordered(texts: Sequence[str]) -> dict[str, Any]:
        places = sorted(range(len(texts)), key=lambda place: last in texts[place])
        return {"results": [{"index": place, "relevance_score": -n} for n, place in enumerate(places)]}

    return ordered


def test_lost_as_the_double_of_another(tmp_path: Path) -> None:
    base = base_of(tmp_path, {"copy.md": PAGE})
    both = [case_of(), case_of(document="refunds/copy.md")]
    found = {case.quotes[0].document: explained(base, case) for case in both}
    (kept,) = [name for name, one in found.items() if one.lost_at is None]
    (double,) = [one.lost_at for one in found.values() if one.lost_at]
    assert double == Step(StepName.SELECTION, False, f"nearly the same as another: {first_chunk(base, kept)}")


def test_lost_below_the_threshold(tmp_path: Path) -> None:
    base = base_of(tmp_path, min_relevance=0.999)
    name, what = lost(base)
    assert name is StepName.RELEVANCE
    assert "the threshold is 0.999 (cosine 0." in what
    assert "terms, rank 1)" in what


LAMPS = "Lamps are blue."


def with_a_neighbour(folder: Path, **settings: Any) -> KnowledgeBase:
    """A page whose first chunk answers the question, and whose second has nothing to do with it."""
    filler = " ".join(f"Couriers number {number} drive slowly." for number in range(20))
    text = f"# Returns\n\n{SENTENCE} {filler}\n\n{LAMPS} {filler.replace('Couriers', 'Ships')}\n"
    options = {"chunk_target_tokens": 120, "chunk_overlap_tokens": 0, "min_relevance": 0.3} | settings
    return base_of(folder, {"returns.md": text}, **options)


def test_a_neighbour_that_came_along_is_not_lost_below_the_threshold(tmp_path: Path) -> None:
    assert lost(with_a_neighbour(tmp_path / "alone"), case_of(LAMPS))[0] is StepName.RELEVANCE
    base = with_a_neighbour(tmp_path / "joined", neighbours=3)
    found = explained(base, case_of(LAMPS))
    told = {one.name: one.what for one in found.steps if one.held}
    assert told[StepName.CANDIDATES].startswith("brought along by its neighbour refunds/returns.md:")
    assert StepName.EVIDENCE in told
    # Nobody is brought along by a chunk that is below the threshold itself.
    base = with_a_neighbour(tmp_path / "none", neighbours=3, min_relevance=0.999)
    found = explained(base, case_of(LAMPS))
    assert found.lost_at
    assert found.lost_at.name is StepName.RELEVANCE
    assert not [one for one in found.steps if "brought along" in one.what]


def test_a_passage_far_behind_in_a_long_document_is_found(tmp_path: Path) -> None:
    sections = "".join(
        f"## Part {one}\n\n{f'Courier number {one} drives slowly and never at night. ' * 6}\n\n"
        for one in range(215)
    )
    base = base_of(
        tmp_path,
        {"long.md": f"# Long\n\n{sections}## Lamps\n\n{'Blue lamps are sold in August only. ' * 8}\n"},
        chunk_target_tokens=70,
        chunk_overlap_tokens=0,
    )
    long = "refunds/long.md"
    version = base.services.ledger.documents.of_source(base.collection, "refunds")[long]
    assert version.chunk_count > 210
    case = case_of(None, documents=Required(all=(long,)), question="When are blue lamps sold?")
    found = explained(base, case)
    assert found.lost_at is None
    (record,) = [one.what for one in found.steps if one.name is StepName.RECORD]
    assert int(record.rpartition(":")[2]) >= 200


def test_lost_beyond_the_evidence(tmp_path: Path) -> None:
    base = base_of(tmp_path, many(4), max_evidence=2, min_relevance=0.0)
    ways = [
        explained(base, case_of(None, documents=Required(all=(f"refunds/page-{one}.md",))))
        for one in range(4)
    ]
    away = [one.lost_at for one in ways if one.lost_at and one.lost_at.name is StepName.EVIDENCE]
    assert len(away) >= 2
    assert {one.what for one in away} == {"others rank before it"}


def test_lost_to_a_conflict(tmp_path: Path) -> None:
    base = base_of(tmp_path, min_relevance=0.0)
    base.manifest("forum", trust_tier=5, source_type="community")
    post = "Hardware may be returned within 90 days of delivery."
    base.write("forum", {"post.md": f"# Post\n\n{post}\n"})
    base.index("forum")
    name, what = lost(base, case_of(post, "forum/post.md"))
    assert name is StepName.CONFLICTS
    assert what == "withheld: S1 is followed by trust_tier, duration"
    assert explained(base).lost_at is None


def test_lost_since_nothing_cites_it(tmp_path: Path) -> None:
    lamp = "Returned lamps are blue."
    base = base_of(tmp_path, {"lamps.md": f"# Lamps\n\n{lamp}\n"}, min_relevance=0.0)
    name, what = lost(base, case_of(lamp, "refunds/lamps.md"))
    assert name is StepName.CITATION
    assert what.startswith("no claim cites it; answered: ")


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer().running() as server:
        server.script = model_that(drafted(SENTENCE))
        yield server


def test_lost_since_the_model_has_no_room(tmp_path: Path, model: OpenAIServer) -> None:
    lamp = "Hardware that is returned is blue. " * 12
    base = base_of(
        tmp_path,
        {"lamps.md": f"# Lamps\n\n{lamp}\n"},
        min_relevance=0.0,
        answer_provider="openai",
        answer_model="m",
        answer_base_url=model.base_url,
        answer_context_tokens=150,
    )
    name, what = lost(base, case_of(lamp.strip(), "refunds/lamps.md"))
    assert name is StepName.CONTEXT
    assert what == "the passages before it fill the model's 150 tokens"
    assert explained(base).lost_at is None


def test_of_several_chunks_that_hold_a_quote_the_one_that_came_furthest_counts(tmp_path: Path) -> None:
    filler = " ".join(f"Nothing of kind {number} matters to anybody here." for number in range(40))
    text = f"# Twice\n\n## Lamps\n\n{filler} Ask the desk.\n\n## Hardware\n\n{SENTENCE} Ask the desk.\n"
    base = base_of(tmp_path, {"returns.md": text}, chunk_target_tokens=120)
    found = explained(base, case_of("Ask the desk."))
    assert found.lost_at is None
    (chunk,) = [one.what for one in found.steps if one.name is StepName.CHUNK]
    assert chunk.count(",") == 1


def test_a_refusal_is_explained_by_what_was_found(tmp_path: Path) -> None:
    base = base_of(tmp_path, min_relevance=0.999)
    nothing = case_of(None, category=Category.UNANSWERABLE, expect=(Outcome.NO_EVIDENCE,))
    found = explained(base, nothing)
    assert (found.document, found.quote) == (DOCUMENT, None)
    assert [one.name for one in found.steps] == list(StepName)[5:9]
    assert found.lost_at
    assert found.lost_at.name is StepName.RELEVANCE


def test_what_must_stay_hidden_is_explained_with_what_was_found_instead(tmp_path: Path) -> None:
    base = base_of(tmp_path, min_relevance=0.0)
    base.manifest("faq", roles=None)
    base.write("faq", {"faq.md": "# Questions\n\nHardware may be returned to the shop.\n"})
    base.index("faq")
    case = case_of(
        None,
        category=Category.UNAUTHORIZED,
        groups=(),
        documents=Required(any=(DOCUMENT,)),
        expect=(Outcome.NO_EVIDENCE, Outcome.INSUFFICIENT),
    )
    hidden, instead = explain(case, base.services)
    assert hidden.document == DOCUMENT
    assert hidden.lost_at
    assert hidden.lost_at.name is StepName.FILTER
    assert instead.document == "faq/faq.md"
    assert instead.steps[0].what.startswith("the asker may see faq/faq.md:")


RED, GREEN, YELLOW = "\x1b[31m", "\x1b[32m", "\x1b[33m"
Shown = Callable[[KnowledgeBase, Case], str]


@pytest.fixture
def shown_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """What is printed of a case, with its colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def shown(base: KnowledgeBase, case: Case) -> str:
        with console.capture() as head:
            show_explanations(case, explain(case, base.services))
        return head.get() + capsys.readouterr().out

    return shown


def refusal(*outcomes: Outcome) -> Case:
    return case_of(None, category=Category.UNANSWERABLE, expect=outcomes)


def test_what_is_rightly_refused_is_not_shown_as_lost(tmp_path: Path, shown_of: Shown) -> None:
    shown = shown_of(base_of(tmp_path, min_relevance=0.999), refusal(Outcome.NO_EVIDENCE))
    assert f"{GREEN}rightly refused" in shown
    assert f"{GREEN}stopped\x1b[0m relevance: " in shown
    assert RED not in shown


def test_what_came_through_although_it_must_be_refused_is_red(tmp_path: Path, shown_of: Shown) -> None:
    lamps: dict[str, str | bytes] = {"lamps.md": "# Lamps\n\nReturned lamps are blue.\n"}
    base = base_of(tmp_path, lamps, min_relevance=0.0)
    shown = shown_of(base, refusal(Outcome.NO_EVIDENCE))
    assert f"{RED}cited, though the question must be refused" in shown
    assert f"{RED}among the evidence, though the question must be refused" in shown
    assert f"{RED}TOO LATE\x1b[0m citation: no claim cites it" in shown
    # Where evidence may be too little, it may be there.
    shown = shown_of(base, refusal(Outcome.NO_EVIDENCE, Outcome.INSUFFICIENT))
    assert f"{RED}cited, though the question must be refused" in shown
    assert f"{GREEN}rightly refused" in shown
    assert "among the evidence, though" not in shown


@pytest.mark.parametrize(
    ("groups", "document", "told"),
    [
        ((), DOCUMENT, f"{GREEN}rightly withheld"),
        (("support",), DOCUMENT, f"{RED}cited, though it must stay hidden"),
        ((), "refunds/absent.md", f"{YELLOW}lost at: source"),
    ],
)
def test_what_must_stay_hidden_is_right_only_where_it_is_withheld(
    base: KnowledgeBase, shown_of: Shown, groups: tuple[str, ...], document: str, told: str
) -> None:
    case = case_of(
        None,
        category=Category.UNAUTHORIZED,
        groups=groups,
        documents=Required(any=(document,)),
        expect=(Outcome.ANSWERED, Outcome.NO_EVIDENCE),
    )
    assert told in shown_of(base, case)


def test_what_must_stay_hidden_and_only_was_not_relevant_is_red(tmp_path: Path, shown_of: Shown) -> None:
    case = case_of(
        None,
        category=Category.UNAUTHORIZED,
        documents=Required(any=(DOCUMENT,)),
        expect=(Outcome.NO_EVIDENCE,),
    )
    shown = shown_of(base_of(tmp_path, min_relevance=0.999), case)
    assert f"{RED}for the asker to find, though it must stay hidden" in shown


def test_an_outage_is_not_played_and_that_is_said(base: KnowledgeBase, shown_of: Shown) -> None:
    case = case_of(None, category=Category.OUTAGE, expect=(Outcome.NO_EVIDENCE,), outage=Outage.STORE)
    shown = shown_of(base, case)
    assert "No outage is played: it is explained as if the store answered." in shown
    assert f"{YELLOW}cited" in shown
    assert RED not in shown
    assert "No outage" not in shown_of(base, case_of())


def test_an_explanation_can_be_shown_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = base_of(tmp_path, {"evil[red].md": "# \x1b[31mEvil\n\nRed.\n"})
    case = case_of("Blue [bold]\x1b[31m.", "refunds/evil[red].md", question="What [bold] is red?")
    found = explain(case, base.services)
    with console.capture() as printed:
        show_explanations(case, found)
        show_explanations(case, [])
    shown = printed.get() + capsys.readouterr().out
    assert "refunds/evil[red].md lost at: normalized text" in shown
    assert "LOST normalized text: the quote is not in the text" in shown
    assert "ok conversion: 1 chunks of version" in shown
    assert "Blue [bold]\\x1b[31m." in shown
    assert "nothing was found" in shown
    assert "\x1b" not in shown
    assert json.loads(json.dumps(found[0].to_json()))["lost_at"] == "normalized text"


def test_the_texts_of_what_is_indexed_are_there_for_whoever_looks_for_quotes(tmp_path: Path) -> None:
    base = base_of(tmp_path, many(3))
    texts = indexed_texts(base.services)
    assert texts.keys() == {DOCUMENT, *(f"refunds/{name}" for name in many(3))}
    assert SENTENCE in texts[DOCUMENT]
    with pytest.raises(ConfigurationError, match="Nothing is indexed"):
        indexed_texts(KnowledgeBase(tmp_path / "empty").services)
