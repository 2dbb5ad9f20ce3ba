"""A real language model that cites whatever it likes: not one citation gets out that its passage lacks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_pipeline.pipeline import Pipeline
from rag_pipeline.query import Identity, ask
from rag_pipeline.query.trace import Outcome
from rag_pipeline.services import Services
from rag_pipeline.settings import Settings
from rag_pipeline_tests.local_model import NAME, ModelMissing, running_model

PROJECT = Path(__file__).parents[1]
SOURCES = ("refund_policy", "support_macros")
QUESTIONS = (
    "Within how many days of delivery may hardware be returned?",
    "Is there a restocking fee?",
    "硬件签收后多少天内可以退货？",
)

# Said of a claim and its passage without the validator's own code: numbers and most of the longer words.
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]")
_SHARE = 0.5


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("local_model")
    try:
        with running_model(folder) as base_url:
            services = Services(
                Settings(
                    home=folder / "home",
                    manifests=PROJECT / "manifests",
                    lock_wait_s=20,
                    answer_provider="openai",
                    answer_model=NAME,
                    answer_base_url=base_url,
                    answer_context_tokens=1_000,
                    ask_deadline_s=200,
                    trace_texts=True,
                )
            )
            for source in SOURCES:
                assert Pipeline(services).run(source).reconciled
            yield services
            services.ledger.close()
    except ModelMissing as reason:
        pytest.skip(str(reason))


@pytest.mark.timeout(900)
def test_no_citation_is_shown_that_its_passage_does_not_support(services: Services) -> None:
    worded = cited = 0
    for question in QUESTIONS:
        response = ask({"question": question}, Identity(None, frozenset({"support"})), services)
        record = services.ledger.traces.get(response.trace_id)
        assert record is not None
        worded += sum(one["by"] == "openai" for one in record["attempts"])
        cited += len(response.citations)
        print(question, response.outcome.value, [one["problems"] for one in record["attempts"]])  # noqa: T201
        assert response.outcome is not Outcome.INVALID_REQUEST
        texts = {one["label"]: one["text"] for one in record["evidence"]}
        for citation in response.citations:
            passage = texts[citation.label]
            assert set(_NUMBER.findall(citation.claim)) <= set(_NUMBER.findall(passage)), citation
            words = set(_WORD.findall(citation.claim.lower()))
            held = {word for word in words if word in passage.lower()}
            assert len(held) >= _SHARE * len(words), citation
        assert set(re.findall(r"\[(S\d+)\]", response.answer)) <= {one.label for one in response.citations}
    print(f"{worded} drafts by the model, {cited} citations shown")  # noqa: T201
    assert worded, "the model drafted nothing at all"
