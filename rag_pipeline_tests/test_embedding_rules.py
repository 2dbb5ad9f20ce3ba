"""Rules that hold for every input: batching, retry schedule, token bounds, hashing vectors."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from rag_pipeline.embedding.batching import Refused, embed_isolating, split_batches
from rag_pipeline.embedding.embedder import ModelIdentity, Refusal, Vector
from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.embedding.retrying import (
    GaveUp,
    RetryPolicy,
    Transient,
    retry,
    retry_after_seconds,
    wait_seconds,
)
from rag_pipeline.embedding.text import valid_text
from rag_pipeline.embedding.tokens import ByteBoundCounter, TokenizerFileCounter
from rag_pipeline.errors import ConfigurationError

any_text = st.text(st.characters(categories=None), max_size=200)
"""Lone surrogates and NUL included."""


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 10), st.integers(1, 100))
def test_batches_keep_all_texts_in_order_within_both_limits(
    tokens: list[int], max_items: int, max_tokens: int
) -> None:
    batches = list(split_batches(tokens, max_items=max_items, max_tokens=max_tokens))
    assert [index for batch in batches for index in batch] == list(range(len(tokens)))
    for batch in batches:
        assert 1 <= len(batch) <= max_items
        assert len(batch) == 1 or sum(tokens[index] for index in batch) <= max_tokens


@given(st.lists(st.booleans(), min_size=1, max_size=64))
@settings(max_examples=60)
def test_isolating_refuses_the_bad_texts_and_only_those(bad: list[bool]) -> None:
    sent = 0

    def ask(texts: list[str]) -> list[Vector] | Refused:
        nonlocal sent
        sent += 1
        if any(text.startswith("bad") for text in texts):
            return Refused("bad text")
        return [
            np.array([float(text.split()[-1])], dtype=np.float32) if " " in text else np.ones(1, np.float32)
            for text in texts
        ]

    texts = [f"{'bad' if is_bad else 'good'} {number}" for number, is_bad in enumerate(bad)]
    answers = embed_isolating(texts, ask)  # type: ignore[arg-type]
    for number, (is_bad, answer) in enumerate(zip(bad, answers, strict=True)):
        assert answer == (Refusal("bad text") if is_bad else float(number))
    assert sent <= 2 * len(texts) + 1


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True), st.none() | st.floats(0.001, 1e6))
def test_waits_stay_within_their_bounds(failures: int, fraction: float, retry_after: float | None) -> None:
    policy = RetryPolicy()
    wait = wait_seconds(policy, failures, retry_after, fraction)
    if retry_after is None:
        assert 0 <= wait <= min(policy.cap_seconds, policy.base_seconds * 2.0 ** min(failures - 1, 99))
    else:
        assert retry_after <= wait <= retry_after + policy.base_seconds


@given(
    st.lists(st.tuples(st.floats(0, 20), st.none() | st.floats(0.1, 200), st.booleans()), min_size=1),
    st.floats(0, 1, exclude_max=True),
)
def test_retrying_ends_within_its_tries_and_its_time(
    outcomes: list[tuple[float, float | None, bool]], fraction: float
) -> None:
    policy = RetryPolicy(max_retries=4, bad_answer_retries=1, total_seconds=100.0)
    now = 0.0
    starts: list[float] = []

    def attempt() -> Transient:
        nonlocal now
        starts.append(now)
        takes, retry_after, bad_answer = outcomes[(len(starts) - 1) % len(outcomes)]
        now += takes
        return Transient("no", retry_after, bad_answer)

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    result: str | GaveUp = retry(attempt, policy, sleep=sleep, clock=lambda: now, fraction=lambda: fraction)
    assert isinstance(result, GaveUp)
    assert result.tries == len(starts) <= 5
    assert starts[-1] <= 100.0 + 1e-6
    assert sum(outcomes[i % len(outcomes)][2] for i in range(len(starts))) <= 2


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, 40.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Thu, 99 Jan 99999999999 00:00:01 GMT"}, None),
        ({"retry-after": "tomorrow"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, now=20.0) == seconds


@given(any_text)
def test_valid_text_is_encodable_and_idempotent(text: str) -> None:
    valid = valid_text(text)
    assert "\0" not in valid.encode().decode()
    assert valid_text(valid) == valid


def byte_level_tokenizer() -> Tokenizer:
    """The worst of all tokenizers: a token a byte, and two special ones."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {token: number for number, token in enumerate(["<s>", "</s>", *sorted(alphabet)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return tokenizer


WORST = byte_level_tokenizer()


@given(any_text.map(valid_text), st.integers(16, 300))
def test_what_fits_by_the_estimate_fits_even_the_worst_tokenizer(text: str, window: int) -> None:
    counter = ByteBoundCounter(window)
    tokens = len(WORST.encode(text).ids)
    assert counter.bound(text) >= tokens
    if counter.count(text) <= counter.max_tokens:
        assert tokens <= window


def test_text_that_normalizing_lengthens_is_bounded_too() -> None:
    assert ByteBoundCounter(512).bound("\ufdfa" * 10) >= 18 * 10


def test_a_tokenizer_file_counts_exactly_whatever_it_says_about_truncation(tmp_path: Path) -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=64)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    counter = TokenizerFileCounter(path, 512)
    assert counter.max_tokens == 512
    assert counter.count("ab") == counter.bound("ab") == 5
    assert counter.count("a" * 1_000) == 1_003


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(ConfigurationError, match=r"RAG_EMBEDDING_TOKENIZER_FILE: .*tokenizer\.json"):
        TokenizerFileCounter(path, 512)


@given(any_text, st.integers(1, 64))
def test_hashing_gives_a_unit_vector_for_any_text(text: str, dimensions: int) -> None:
    [vector] = HashingEmbedder(dimensions).embed_queries([text])
    assert vector.shape == (dimensions,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_hashing_finds_the_text_with_the_same_words_in_both_languages() -> None:
    embedder = HashingEmbedder()
    passages = [
        "Refunds take thirty days.",
        "退款需要三十天。",
        "The build server is green.",
        "构建服务器正常。",
    ]
    stored = np.array(embedder.embed_passages(passages))
    for question, best in (("how many days do refunds take", 0), ("退款要几天", 1)):
        [query] = embedder.embed_queries([question])
        assert int(np.argmax(stored @ query)) == best


def test_hashing_refuses_what_a_model_would() -> None:
    empty, overlong = HashingEmbedder().embed_passages(["  ", "word " * 1_000])
    assert empty == Refusal("the text is empty")
    assert isinstance(overlong, Refusal)


def test_different_prefixes_never_share_a_cache_key() -> None:
    one = ModelIdentity("openai", "m", 8, query_prefix="a", passage_prefix="b|c")
    other = ModelIdentity("openai", "m", 8, query_prefix="a|b", passage_prefix="c")
    assert one.key != other.key
    assert ModelIdentity("openai", "m", 8).key == "openai/m@8"
