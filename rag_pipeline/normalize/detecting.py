"""Telling a document's type from its content; its name decides only what the content leaves open."""

import io
import re
import zipfile
from dataclasses import dataclass
from typing import Final

import filetype

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.text_kinds import likely_kind, markup_kind

_HEAD: Final = 65_536
_ZIP_MEMBER: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# Stream names in an OLE file's directory tell what it holds; they are written in UTF-16.
_OLE_STREAMS: Final = (
    ("EncryptedPackage", types.ENCRYPTED_OFFICE),
    ("__substg1.0_", types.MSG),
    ("WordDocument", types.DOC),
    ("Workbook", types.XLS),
    ("PowerPoint Document", types.PPT),
)


@dataclass(frozen=True, slots=True)
class Detected:
    """A document's type, and a note where its name says something else.

    `decision` tells what it was told from; the note is for what a reader should know.
    """

    mime_type: str
    note: str | None = None
    decision: str = ""


def detect_type(head: bytes, name: str) -> str:
    """The MIME type told from a file's first bytes (8 KiB are plenty) and, if they are unclear, its name."""
    return _detect(head, name, _zip_names_in_head(head))


def detect(data: bytes, name: str) -> Detected:
    """The MIME type told from the whole content. A name that says otherwise is overruled, and noted."""
    mime_type = _detect(data, name, _zip_names(data))
    named = types.BY_EXTENSION.get(types.extension(name))
    by = "by its content and its name" if mime_type == named else "by its content"
    said = f"; its name says {named}" if named not in (None, mime_type) else ""
    return Detected(mime_type, _contradiction(mime_type, name), f"type: {mime_type}, {by}{said}")


def _detect(data: bytes, name: str, zip_names: list[str]) -> str:
    if not data:
        return types.EMPTY
    named = types.BY_EXTENSION.get(types.extension(name))
    if b"%PDF-" in data[:1024]:
        return types.PDF
    if data.startswith(b"PK") and zip_names:
        return _zip_kind(data, zip_names, named)
    if data.startswith(_OLE):
        return _ole_kind(data, named)
    if guess := filetype.guess_mime(data[:_HEAD]):
        return str(guess)
    if not _is_text(data[:_HEAD]):
        return types.BINARY
    return _text_kind(data, named)


def _zip_names(data: bytes) -> list[str]:
    if not data.startswith(b"PK"):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return _zip_names_in_head(data[:_HEAD])


def _zip_names_in_head(head: bytes) -> list[str]:
    """Member names from the local headers, since a head does not reach the central directory."""
    names = []
    at = head.find(_ZIP_MEMBER)
    while at >= 0 and len(head) >= at + 30:
        length = int.from_bytes(head[at + 26 : at + 28], "little")
        names.append(head[at + 30 : at + 30 + length].decode("utf-8", "replace"))
        at = head.find(_ZIP_MEMBER, at + 4)
    return names


def _zip_kind(data: bytes, names: list[str], named: str | None) -> str:
    if names[0] == "mimetype":
        # EPUB and OpenDocument files state their type in a first, uncompressed member.
        for kind in (types.EPUB, types.ODT, types.ODP, types.ODS):
            if kind.encode() in data[:200]:
                return kind
    for folder, kind in (("word/", types.DOCX), ("ppt/", types.PPTX), ("xl/", types.XLSX)):
        if any(name.startswith(folder) for name in names):
            return kind
    return named if named in types.OFFICE_OPEN_XML and "[Content_Types].xml" in names else types.ZIP


def _ole_kind(data: bytes, named: str | None) -> str:
    for stream, kind in _OLE_STREAMS:
        if stream.encode("utf-16-le") in data:
            return kind
    if named in types.OFFICE_OPEN_XML:
        return types.ENCRYPTED_OFFICE
    return named if named in (*types.LEGACY_OFFICE, types.MSG) else types.BINARY


def _is_text(head: bytes) -> bool:
    """Whether control characters are rare, in the bytes or in the UTF-16 or -32 text that they are."""
    controls = len(_CONTROLS.findall(head))
    if controls <= len(head) * 0.1 or (len(head) < 64 and controls < 10):
        return True
    decoded = decode(head[: len(head) // 4 * 4])
    wide = decoded.encoding.startswith(("utf-16", "utf_16", "utf-32", "utf_32"))
    return wide and sum(char < "\t" for char in decoded.text) <= len(decoded.text) * 0.02


def _text_kind(data: bytes, named: str | None) -> str:
    text = decode(_beginning(data), declared=True).text
    stated = markup_kind(text)
    if stated and not (named == types.MARKDOWN and stated in (types.HTML, types.EML, types.LATEX)):
        return stated  # Markdown may begin with HTML, and hold LaTeX or a mail as an example
    if named in types.TEXTS:
        if named == types.XML:
            return likely_kind(text) if text.lstrip().startswith("<") else types.PLAIN
        return named
    return likely_kind(text)


def _beginning(data: bytes) -> bytes:
    """The first bytes, ending with a whole character of UTF-8, UTF-16 or UTF-32."""
    if len(data) <= _HEAD:
        return data
    end = _HEAD
    while end > _HEAD - 4 and data[end] & 0xC0 == 0x80:
        end -= 1
    # Where no byte goes on a character of UTF-8, the head is a multiple of four bytes.
    return data[:end]


def _contradiction(mime_type: str, name: str) -> str | None:
    said = types.BY_EXTENSION.get(types.extension(name))
    if said is None or said == mime_type or (said in types.TEXTS and mime_type in types.TEXTS):
        return None
    if said in types.OFFICE_OPEN_XML and mime_type == types.ENCRYPTED_OFFICE:
        return None
    return f"the name ends in .{types.extension(name)}, but the content is {mime_type}"
