"""The gold of question sets: what no longer stands in its document is named, and why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.evaluation.case import Category, QuestionSet
from rag_pipeline.evaluation.gold import StaleGold, stale_gold
from rag_pipeline.evaluation.question_sets import NamedSet, load_sets
from rag_pipeline_tests.knowledge_base import KnowledgeBase

PROJECT = Path(__file__).parents[1]
RULE = "policy/returns.md"
RETURNS = "# Returns\n\nHardware may be returned within\n30 days of delivery. The café pays the postage.\n"
RULE_QUOTE = "returned within 30 days of delivery"


@pytest.fixture
def base(tmp_path: Path) -> Iterator[KnowledgeBase]:
    base = KnowledgeBase(tmp_path)
    base.manifest("policy")
    base.write("policy", {"returns.md": RETURNS})
    yield base
    base.services.close()


def case(**fields: Any) -> dict[str, Any]:
    defaults = {"id": "days", "category": "answerable", "question": "How many days?", "expect": "answered"}
    return defaults | fields


def quoting(*quotes: str, document: str = RULE) -> dict[str, Any]:
    return case(quotes=[{"document": document, "text": quote} for quote in quotes])


def one_set(*cases: dict[str, Any], **more: Any) -> list[NamedSet]:
    return [NamedSet("rules", QuestionSet.model_validate({"title": "Rules", "cases": cases, **more}))]


def found(base: KnowledgeBase, sets: list[NamedSet], generation: str | None = None) -> list[StaleGold]:
    return stale_gold(sets, base.services, generation)


def test_gold_holds_however_the_document_is_broken_into_lines_and_composed(base: KnowledgeBase) -> None:
    base.index("policy")
    sets = one_set(quoting(RULE_QUOTE, "days  of\ndelivery", "The cafe\N{COMBINING ACUTE ACCENT} pays"))
    assert not found(base, sets)


def test_a_quote_that_an_edit_broke_is_named_and_the_others_hold(base: KnowledgeBase) -> None:
    base.index("policy")
    sets = one_set(quoting(RULE_QUOTE, "pays the postage"))
    base.write("policy", {"returns.md": RETURNS.replace("30", "45")})
    base.index("policy")
    (broken,) = found(base, sets)
    assert (broken.set_name, broken.case_id, broken.document) == ("rules", "days", RULE)
    assert broken.quote == RULE_QUOTE
    assert "no longer stands" in broken.reason


def test_case_and_punctuation_of_a_quote_count(base: KnowledgeBase) -> None:
    base.index("policy")
    (broken,) = found(base, one_set(quoting("hardware may be returned")))
    assert broken.quote == "hardware may be returned"


def test_an_edit_that_is_not_indexed_yet_is_told_as_such(base: KnowledgeBase) -> None:
    base.index("policy")
    base.write("policy", {"returns.md": RETURNS.replace("30", "45")})
    (unknown,) = found(base, one_set(quoting(RULE_QUOTE, "pays the postage")))
    assert unknown.quote is None
    assert "changed since it was indexed" in unknown.reason
    assert "rag-pipeline index policy" in unknown.reason


def test_a_deleted_document_is_named_before_and_after_that_is_noticed(base: KnowledgeBase) -> None:
    base.write("policy", {"other.md": "# Other\n\nThe shop is closed on Sundays, all year round.\n"})
    base.index("policy")
    base.remove("policy", "returns.md")
    sets = one_set(quoting(RULE_QUOTE))
    (unnoticed,) = found(base, sets)
    assert "gone from its source" in unnoticed.reason
    base.index("policy")
    (noticed,) = found(base, sets)
    assert noticed.document == RULE
    assert "was deleted" in noticed.reason


def test_a_document_that_fails_is_told_with_its_category(base: KnowledgeBase) -> None:
    base.write("policy", {"broken.pdf": b"%PDF-1.7\nnothing follows"})
    base.index("policy")
    (failed,) = found(base, one_set(quoting("anything", document="policy/broken.pdf")))
    assert "failed" in failed.reason
    assert "corrupt" in failed.reason


def test_a_new_version_that_fails_is_not_judged_by_the_old_one(base: KnowledgeBase) -> None:
    base.index("policy")
    base.write("policy", {"returns.md": "\n"})
    base.index("policy")
    (failed,) = found(base, one_set(quoting(RULE_QUOTE)))
    assert failed.quote is None
    assert "changed" in failed.reason
    assert "empty" in failed.reason


@pytest.mark.parametrize(
    "fields",
    [
        {"documents": {"all": ["policy/none.md"]}},
        {"documents": {"any": ["policy/none.md"]}},
        {"winner": "policy/none.md"},
        {"documents": {"any": ["policy/none.md"]}, "category": "unauthorized", "expect": "no_evidence"},
    ],
)
def test_every_document_that_a_case_names_must_be_there(base: KnowledgeBase, fields: dict[str, Any]) -> None:
    base.index("policy")
    (missing,) = found(base, one_set(case(**fields), case(id="other", documents={"any": [RULE]})))
    assert (missing.case_id, missing.document) == ("days", "policy/none.md")
    assert "not indexed" in missing.reason


def test_a_source_without_a_manifest_is_told(base: KnowledgeBase) -> None:
    base.index("policy")
    (base.settings.sources_folder / "policy.yaml").unlink()
    (unknown,) = found(base, one_set(quoting(RULE_QUOTE)))
    assert "no manifest" in unknown.reason


def test_what_lifecycle_cases_begin_from_must_stand(base: KnowledgeBase) -> None:
    base.index("policy")
    common = {"document": RULE, "question": "How many days?"}
    edit = {"old": "45 days", "new": "60 days"}
    update = {"id": "up", "action": "update", "before": RULE_QUOTE, "after": "60 days", "edit": edit}
    sets = one_set(
        lifecycle=[
            {**common, **update},
            {**common, "id": "gone", "action": "delete", "before": "90 days"},
            {**common, "id": "fine", "action": "revoke", "before": RULE_QUOTE, "remaining_groups": ["hr"]},
        ]
    )
    assert [(one.case_id, one.quote) for one in found(base, sets)] == [("up", "45 days"), ("gone", "90 days")]


def test_gold_is_held_against_the_generation_that_is_named(base: KnowledgeBase) -> None:
    base.index("policy")
    sets = one_set(quoting(RULE_QUOTE))
    assert not found(base, sets, base.collection)
    with pytest.raises(ConfigurationError, match="no generation knowledge__another_1"):
        found(base, sets, "knowledge__another_1")


def test_without_a_live_generation_nothing_can_be_told(base: KnowledgeBase) -> None:
    with pytest.raises(ConfigurationError, match="rag-pipeline index"):
        found(base, one_set(quoting(RULE_QUOTE)))


def test_a_secret_that_no_hidden_document_holds_could_never_leak(base: KnowledgeBase) -> None:
    base.index("policy")
    case = {
        "id": "hidden", "category": "unauthorized", "question": "What does the rule say?", "groups": [],
        "expect": "no_evidence", "documents": {"any": [RULE]},
        "must_not_say": [RULE_QUOTE, "51,500 EUR"],
    }  # fmt: skip
    (lost,) = found(base, one_set(case), base.collection)
    assert lost.quote == "51,500 EUR"
    assert "no document that must stay hidden" in lost.reason


def test_the_sample_set_tests_everything_in_both_languages() -> None:
    (questions,) = load_sets(PROJECT / "manifests" / "evaluations", ["sample"])
    cases = questions.questions.cases
    assert len(cases) >= 90
    for category in Category:
        of_it = [one for one in cases if one.category is category]
        assert len(of_it) >= 8, category
        assert {one.language for one in of_it} == {"en", "zh"}, category
    assert sum(one.language == "zh" for one in cases) * 3 >= len(cases)
    assert len(questions.questions.lifecycle) >= 6
