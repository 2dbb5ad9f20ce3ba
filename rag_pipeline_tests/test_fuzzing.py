"""Whatever the bytes: a document or a DocumentError, in bounded time, and never anything else.

`make test-nightly` runs these for about ten minutes, by the profile `nightly` in conftest.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.archives import check_archive, check_bomb
from rag_pipeline.normalize.assembling import assemble
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.detecting import detect, detect_type
from rag_pipeline.normalize.document import Box, NormalizedDocument
from rag_pipeline.normalize.judging import gates
from rag_pipeline.normalize.judging.noticing import notices
from rag_pipeline.normalize.layout.page_text import Line, PageText, Rule
from rag_pipeline.normalize.layout.structure import structured
from rag_pipeline.normalize.markdown.blocks import find_blocks
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.pdf.dangers import draws_itself, packed_as_images
from rag_pipeline.normalize.workers import Converter
from rag_pipeline.sources.document import DocumentFacts, RawDocument
from rag_pipeline.sources.manifest import OcrMode
from rag_pipeline_tests.fuzzing_seeds import TEXTS, broken_file, broken_package, packages, pdfs

OPTIONS = ParsingOptions(ocr=OcrMode.NEVER)
GATES = (FailureCategory.EMPTY, FailureCategory.GARBLED, FailureCategory.OVER_LIMIT)
EXAMPLES = settings().max_examples  # of the profile: 100, nightly more
# A hang shows as an example that takes longer than any of these could on the slowest machine.
unhurried = settings(deadline=timedelta(seconds=60), suppress_health_check=list(HealthCheck))

pytestmark = pytest.mark.timeout(1200)

odd_text = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("#-*>|`~ \n\t\\<&[]():={}%.1a é\u0301\u200b\u202e\u00ad\ufb01退\ufffd\ue000"),
    ),
    max_size=200,
)
length = st.one_of(st.floats(-50, 900), st.sampled_from([0.0, 10.0, 72.0, 595.0, 1e6, -1e6]))
words = st.one_of(
    st.sampled_from(["Refund", "1.", "•", "1.2 Scope", "退款", "a" * 80, "-"]), st.text(max_size=12)
)


@st.composite
def box(draw: st.DrawFn) -> Box:
    left, top = draw(length), draw(length)
    return (
        left,
        top,
        left + abs(draw(length)),
        top + draw(st.sampled_from([0.0, 1.0, 9.0, 10.0, 24.0, 800.0])),
    )


line = st.builds(
    Line, text=words.filter(str.strip), box=box(), bold=st.booleans(), mono=st.booleans(),
    angle=st.sampled_from([0, 0, 0, 90, 180, 45]), vertical=st.booleans(), rtl=st.booleans(),
)  # fmt: skip
rule = st.builds(Rule, horizontal=st.booleans(), position=length, start=length, end=length)
lines = st.lists(line, max_size=14).map(tuple)
page = st.builds(
    PageText, number=st.integers(1, 3), lines=lines, words=lines, rules=st.lists(rule, max_size=8).map(tuple),
    scanned=st.booleans(), width=st.sampled_from([0.0, 595.0]), height=st.sampled_from([0.0, 842.0]),
)  # fmt: skip


def refusal(work: Callable[[], object]) -> DocumentError | None:
    """The error by which work on a document ended in order, None where it succeeded."""
    try:
        work()
    except DocumentError as error:
        return error
    return None


def assert_decided(data: bytes, name: str) -> None:
    """The document passed all gates, or was refused with a category and advice."""
    documents: list[NormalizedDocument] = []
    error = refusal(lambda: documents.append(convert(data, name, OPTIONS)))
    for document in documents:
        assert_whole(document)
    assert documents or (error and error.message.strip())


def assert_whole(document: NormalizedDocument) -> None:
    at = 0
    for block in document.blocks:
        assert at <= block.start < block.end <= len(document.markdown)
        assert not document.markdown[at : block.start].strip()
        at = block.end
    assert not document.markdown[at:].strip()
    document.markdown.encode("utf-8")
    assert not set(document.markdown) & set("\0\r\u200b\u202e")
    gates.check(document, 10**9)


@unhurried
@given(broken_file({**TEXTS, **pdfs(), **packages()}))
def test_any_bytes_are_told_and_decoded(file: tuple[str, bytes]) -> None:
    name, data = file
    assert "/" in detect(data, name).mime_type
    assert "/" in detect_type(data[:8192], name)
    for declared in (False, True):
        decoded = decode(data, declared=declared)
        cleaned = clean(decoded.text).text
        assert clean(cleaned).text == cleaned
    refusal(lambda: check_archive(data))
    refusal(lambda: check_bomb(data))
    draws_itself(data)
    packed_as_images(data)


@unhurried
@given(odd_text, st.integers(0, 10**6), st.integers(0, 50) | st.none())
def test_gates_decide_on_any_text(text: str, size: int, pages: int | None) -> None:
    text = clean(text).text
    document = NormalizedDocument(text, find_blocks(text), page_count=pages)
    notices(document, size)
    error = refusal(lambda: gates.check(document, size))
    assert error is None or error.category in GATES


@unhurried
@given(st.lists(page, min_size=1, max_size=3))
def test_any_page_has_a_structure(pages: list[PageText]) -> None:
    structure = structured(pages)
    markdown, blocks = assemble(structure.pieces)
    assert all(markdown[block.start : block.end].strip() for block in blocks)


@unhurried
@given(broken_file(TEXTS))
def test_broken_texts_are_read_or_refused(file: tuple[str, bytes]) -> None:
    name, data = file
    assert_decided(data, name)


@settings(unhurried, max_examples=max(EXAMPLES // 4, 1))
@given(broken_package(packages()) | broken_file(packages()))
def test_broken_packages_are_read_or_refused(file: tuple[str, bytes]) -> None:
    name, data = file
    assert_decided(data, name)


@settings(unhurried, max_examples=max(EXAMPLES // 50, 1))
@given(st.lists(broken_file(pdfs()), min_size=12, max_size=12))
def test_broken_pdfs_are_read_or_refused_and_kill_no_worker(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[str, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("pdfs")
    documents = [_listed(folder / f"{number}-{name}", data) for number, (name, data) in enumerate(files)]
    with Converter(options=OPTIONS, workers=1, timeout_seconds=60, memory_mb=1500) as converter:
        results = list(converter.convert_all(documents))
    assert len(results) == len(files)
    for result in results:
        if result.normalized:
            assert_whole(result.normalized)
        elif result.error:
            assert result.error.category not in (FailureCategory.WORKER_DIED, FailureCategory.TIMEOUT)


def _listed(path: Path, data: bytes) -> RawDocument:
    path.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    return RawDocument(
        path.name, "", path.name, str(path), len(data), digest, "application/pdf", DocumentFacts()
    )
