"""The types of documents, as MIME types: what can be read, what is known and refused, what extensions say."""

from pathlib import PurePosixPath
from typing import Final

PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT: Final = "application/vnd.oasis.opendocument.text"
ODP: Final = "application/vnd.oasis.opendocument.presentation"
ODS: Final = "application/vnd.oasis.opendocument.spreadsheet"
EPUB: Final = "application/epub+zip"
HTML: Final = "text/html"
XML: Final = "application/xml"
JATS: Final = "application/jats+xml"
USPTO: Final = "application/vnd.uspto.patent+xml"
EML: Final = "message/rfc822"
MSG: Final = "application/vnd.ms-outlook"
CSV: Final = "text/csv"
MARKDOWN: Final = "text/markdown"
ASCIIDOC: Final = "text/asciidoc"
LATEX: Final = "text/x-tex"
WEBVTT: Final = "text/vtt"
JSON: Final = "application/json"
PLAIN: Final = "text/plain"
DOC: Final = "application/msword"
XLS: Final = "application/vnd.ms-excel"
PPT: Final = "application/vnd.ms-powerpoint"
ENCRYPTED_OFFICE: Final = "application/x-encrypted-office"
ZIP: Final = "application/zip"
BINARY: Final = "application/octet-stream"
EMPTY: Final = "application/x-empty"

BY_EXTENSION: Final[dict[str, str]] = {
    "pdf": PDF, "docx": DOCX, "pptx": PPTX, "xlsx": XLSX, "odt": ODT, "odp": ODP, "ods": ODS, "epub": EPUB,
    "html": HTML, "htm": HTML, "xhtml": HTML, "xml": XML, "nxml": JATS, "eml": EML, "msg": MSG, "csv": CSV,
    "md": MARKDOWN, "markdown": MARKDOWN, "mdx": MARKDOWN, "adoc": ASCIIDOC, "asciidoc": ASCIIDOC,
    "asc": ASCIIDOC, "tex": LATEX, "latex": LATEX, "vtt": WEBVTT, "json": JSON, "txt": PLAIN, "text": PLAIN,
    "doc": DOC, "xls": XLS, "ppt": PPT, "zip": ZIP, "png": "image/png", "jpg": "image/jpeg",
    "jpeg": "image/jpeg", "tif": "image/tiff", "tiff": "image/tiff", "bmp": "image/bmp", "gif": "image/gif",
    "webp": "image/webp",
}  # fmt: skip

TEXTS: Final = frozenset({HTML, XML, JATS, USPTO, EML, CSV, MARKDOWN, ASCIIDOC, LATEX, WEBVTT, JSON, PLAIN})
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/tiff", "image/bmp", "image/gif", "image/webp"})
ZIP_BASED: Final = frozenset({DOCX, PPTX, XLSX, ODT, ODP, ODS, EPUB})
OFFICE_OPEN_XML: Final = frozenset({DOCX, PPTX, XLSX})
LEGACY_OFFICE: Final = frozenset({DOC, XLS, PPT})
ARCHIVES: Final = frozenset(
    {
        ZIP, "application/x-tar", "application/gzip", "application/x-bzip2", "application/x-xz",
        "application/x-7z-compressed", "application/x-rar-compressed", "application/vnd.rar",
        "application/zstd", "application/x-lzip",
    }
)  # fmt: skip


def extension(name: str) -> str:
    """The last extension of a file name, lower-case and without its dot; "" where there is none."""
    return PurePosixPath(name).suffix[1:].lower()
