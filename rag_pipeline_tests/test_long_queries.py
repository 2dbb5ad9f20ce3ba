"""Questions that are longer than what the embedding model reads."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.embedding.embedder import Embedder
from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.embedding.local import LocalEmbedder
from rag_pipeline.embedding.openai_endpoint import OpenAIEmbedder
from rag_pipeline.query.beginnings import beginning

LONG = [
    "硬件签收后多少天内可以退货？" * 140,
    "Within how many days of delivery may hardware be returned? " * 30,
    "x" * 2_000,
    "é" * 2_000,
    "hardware退货 " * 200,
]


@pytest.fixture(params=["local", "hashing", "endpoint"], scope="module")
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "local":
        return LocalEmbedder()
    if request.param == "hashing":
        return HashingEmbedder(64)
    return OpenAIEmbedder(
        model="m",
        base_url="http://127.0.0.1:9/v1",
        dimensions=16,
        max_tokens=512,
        query_prefix="query: " * 20,
    )


@pytest.mark.parametrize("query", LONG, ids=range(len(LONG)))
def test_the_model_gets_as_much_as_it_reads(embedder: Embedder, query: str) -> None:
    cut = beginning(query, embedder)
    assert query.startswith(cut)
    tokens = embedder.count_tokens(embedder.identity.query_prefix + cut)
    assert 0.9 * embedder.max_tokens <= tokens <= embedder.max_tokens or cut == query


def test_no_word_is_cut_in_two() -> None:
    words = "Within how many days of delivery may hardware be returned"
    cut = beginning(f"{words} " * 60, LocalEmbedder())
    assert cut.rsplit(" ", 1)[-1] in words.split()


@settings(max_examples=60)
@given(query=st.text(min_size=1, max_size=300).map(lambda text: text * 7))
def test_any_text_fits_then(query: str) -> None:
    embedder = HashingEmbedder(64)
    cut = beginning(query, embedder)
    assert query.startswith(cut)
    assert cut
    assert embedder.count_tokens(cut) <= embedder.max_tokens
