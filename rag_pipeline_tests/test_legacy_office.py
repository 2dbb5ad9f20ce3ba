"""Files that must be opened before they can be read: encrypted ones, and those from before 2007."""

import http.server
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msoffcrypto.format.ooxml
import pytest
from docx import Document
from openpyxl import Workbook

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.converting import convert
from rag_pipeline.normalize.mime_types import DOC
from rag_pipeline.normalize.office.legacy import office_program, saved_anew
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline_tests.office_files import replaced_everywhere

needs_libreoffice = pytest.mark.skipif(office_program() is None, reason="LibreOffice is not installed")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512


def workbook() -> bytes:
    book = Workbook()
    book.active.append(["secret", "figures"])
    output = io.BytesIO()
    book.save(output)
    return output.getvalue()


def encrypted(password: str) -> bytes:
    output = io.BytesIO()
    msoffcrypto.format.ooxml.OOXMLFile(io.BytesIO(workbook())).encrypt(password, output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("secret", "passwords", "advice"),
    [
        ("right", ("wrong", "right"), None),
        ("VelvetSweatshop", (), None),  # protected against changes only
        ("right", ("wrong",), "none of the passwords"),
        ("right", (), "parsing.password_env"),
    ],
)
def test_encrypted_files_are_opened_by_a_password(
    secret: str, passwords: tuple[str, ...], advice: str | None
) -> None:
    options = ParsingOptions(passwords=passwords)
    if advice is None:
        document = convert(encrypted(secret), "a.xlsx", options)
        assert "| secret | figures |" in document.markdown
        assert "decrypted" in document.decisions
        return
    with pytest.raises(DocumentError) as refused:
        convert(encrypted(secret), "a.xlsx", options)
    assert refused.value.category is FailureCategory.ENCRYPTED
    assert advice in refused.value.message
    assert not any(password in refused.value.message for password in ("right", "wrong"))


def test_legacy_files_are_refused_with_advice_where_libreoffice_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DocumentError) as refused:
        convert(OLE, "a.doc", ParsingOptions())
    assert refused.value.category is FailureCategory.UNSUPPORTED_TYPE
    assert "soffice" in refused.value.message
    assert ".docx" in refused.value.message


class _Requests(http.server.BaseHTTPRequestHandler):
    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(self.path)
        self.send_error(404)

    do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def requests() -> Iterator[tuple[str, list[str]]]:
    """The address of a local web server, and what is asked of it."""
    handler = type("Handler", (_Requests,), {"seen": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler.seen  # type: ignore[attr-defined]
        server.shutdown()


@needs_libreoffice
def test_legacy_files_are_read_by_libreoffice_without_a_request(
    tmp_path: Path, requests: tuple[str, list[str]]
) -> None:
    address, seen = requests
    word = Document()
    word.add_heading("Refunds", 1)
    word.add_paragraph("Within 14 days.")
    output = io.BytesIO()
    word.save(output)
    field = f'</w:t></w:r><w:fldSimple w:instr=" INCLUDEPICTURE {address}/x.png "/><w:r><w:t>'
    linked = replaced_everywhere(output.getvalue(), {"Within 14 days.": f"{field}Within 14 days."})
    (tmp_path / "a.docx").write_bytes(linked)
    subprocess.run(
        [
            str(office_program()), f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}",
            "--headless", "--convert-to", "doc", "--outdir", str(tmp_path), str(tmp_path / "a.docx"),
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    seen.clear()
    document = convert((tmp_path / "a.doc").read_bytes(), "a.doc", ParsingOptions())
    assert document.markdown == "## Refunds\n\nWithin 14 days."
    assert any("LibreOffice" in decision for decision in document.decisions)
    assert not seen


@needs_libreoffice
def test_libreoffice_ends_with_its_time_and_with_its_caller(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as refused:
        saved_anew(b"text", DOC, seconds=0.1)
    assert refused.value.category is FailureCategory.TIMEOUT
    caller = subprocess.Popen(
        [sys.executable, "-c",
         "from rag_pipeline.normalize.office.legacy import saved_anew; saved_anew(b'x' * 9_000_000, 'application/msword')"],  # noqa: E501
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    try:
        assert _wait(lambda: str(tmp_path) in _commands())
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    assert _wait(lambda: str(tmp_path) not in _commands())


def _commands() -> str:
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(process.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(found)


def _wait(condition: object) -> bool:
    assert callable(condition)
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False
