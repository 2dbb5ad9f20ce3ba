"""People can see how a document was read: in words, and on its pages."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_pipeline.cli import app
from rag_pipeline.normalize.document import Block, BlockKind, NormalizedDocument, Place, Removed
from rag_pipeline.normalize.explaining import explain
from rag_pipeline.normalize.page_view import page_view
from rag_pipeline_tests.pdf_files import pdf_file, text_at

HOSTILE = '<script>alert(1)</script> & "quotes"'


class _Elements(HTMLParser):
    """The tags and attribute values of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value or "" for _, value in attrs]


def test_the_explanation_tells_decisions_warnings_outline_and_removals() -> None:
    document = NormalizedDocument(
        "# Fees\n\nTen euros.",
        (
            Block(BlockKind.HEADING, 0, 6, 1, (Place(0, 6, 1),)),
            Block(BlockKind.PARAGRAPH, 8, 18, places=(Place(8, 18, 1),)),
        ),
        title="Fees",
        page_count=2,
        warnings=("page 2: little text",),
        decisions=("read as application/pdf",),
        removed=(Removed("repeated footer", "Page 1\nof 2", 1), Removed("hidden", "x" * 500)),
    )
    lines = [line.strip() for line in explain(document).splitlines()]
    assert [line.split()[0] for line in lines] == [
        "title", "pages", "decided", "warning", "blocks", "outline", "removed", "removed",
    ]  # fmt: skip
    assert "1 heading, 1 paragraph" in lines[4]
    assert lines[5].endswith("Fees (page 1)")
    assert lines[6].endswith("repeated footer (page 1): Page 1 of 2")
    assert len(lines[7]) < 120


def test_the_page_view_shows_a_hostile_document_as_text_only() -> None:
    document = NormalizedDocument(
        HOSTILE,
        (Block(BlockKind.PARAGRAPH, 0, len(HOSTILE)),),
        warnings=(HOSTILE,),
        removed=(Removed(HOSTILE, HOSTILE),),
    )
    elements = _Elements(page_view(HOSTILE, document, {}))
    assert "script" not in elements.tags
    assert not [value for value in elements.values if re.search(r"https?:|javascript:", value)]


def test_a_pdf_is_shown_with_a_box_for_each_block(tmp_path: Path) -> None:
    page = text_at(72, 750, "Fees", size=24) + text_at(72, 700, "A return costs ten euros in all countries.")
    (tmp_path / "fees.pdf").write_bytes(pdf_file([page]))
    out = tmp_path / "out"

    result = CliRunner().invoke(
        app, ["normalize", str(tmp_path / "fees.pdf"), "--explain", "--html", "--out", str(out)]
    )

    assert result.exit_code == 0, result.output
    assert "# Fees" in (out / "fees.pdf.md").read_text()
    assert "1 heading, 1 paragraph" in result.output
    elements = _Elements((out / "fees.pdf.html").read_text())
    assert elements.tags.count("image") == 1
    assert elements.tags.count("rect") == 2
    assert {"#block-0", "#block-1", "block-0", "block-1"} <= set(elements.values)


@pytest.mark.parametrize("flags", [[], ["--html"]])
def test_normalize_asks_for_a_folder_where_it_has_to_write(tmp_path: Path, flags: list[str]) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    result = CliRunner().invoke(app, ["normalize", str(tmp_path / "a.md"), *flags])
    assert result.exit_code != 0
    assert "--out" in str(result.exception)


def test_explaining_alone_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# A\n")
    result = CliRunner().invoke(app, ["normalize", "a.md", "--explain"])
    assert result.exit_code == 0
    assert "outline" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
