"""Office files for tests, written part by part, so that they can hold what libraries do not write."""

import io
import zipfile
from collections.abc import Mapping
from typing import Final

W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of some parts; one named `mimetype` is not compressed."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            stored = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, stored)
    return output.getvalue()


def changed(data: bytes, part: str, old: str, new: str, added: dict[str, str | bytes] | None = None) -> bytes:
    """A zip file in which a part says `new` instead of the first `old`, and which has further parts."""
    parts = unzipped(data)
    text = parts[part].decode()
    assert old in text
    return zipped({**parts, part: text.replace(old, new, 1), **(added or {})})


def without_part(data: bytes, part: str) -> bytes:
    """A zip file without one of its parts."""
    return zipped({name: content for name, content in unzipped(data).items() if name != part})


def replaced_everywhere(data: bytes, words: dict[str, str]) -> bytes:
    """A zip file with words replaced in all its parts."""
    parts = unzipped(data)
    for old, new in words.items():
        parts = {name: content.replace(old.encode(), new.encode()) for name, content in parts.items()}
    return zipped(parts)


def unzipped(data: bytes) -> dict[str, bytes]:
    """The parts of a zip file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def word_file(body: str, **parts: str) -> bytes:
    """A Word file of a body's XML, with further parts (`footnotes`, `styles`, `header1`) by their names."""
    kinds = {name: name.rstrip("0123456789") for name in parts}
    references = "".join(
        f'<Relationship Id="{name}" Type="{_RELATIONSHIPS}/{kind}" Target="{name}.xml"/>'
        for name, kind in kinds.items()
    )
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPE}.{kind}+xml"/>'
        for name, kind in kinds.items()
    )
    return zipped(
        {
            "[Content_Types].xml": (
                f'<Types xmlns="{_PACKAGE}/content-types">'
                '<Default Extension="rels" '
                'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                '<Default Extension="xml" ContentType="application/xml"/>'
                f'<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>'
                f"{overrides}</Types>"
            ),
            "_rels/.rels": (
                f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
                f'Type="{_RELATIONSHIPS}/officeDocument" Target="word/document.xml"/></Relationships>'
            ),
            "word/_rels/document.xml.rels": (
                f'<Relationships xmlns="{_PACKAGE}/relationships">{references}</Relationships>'
            ),
            "word/document.xml": (
                f'<w:document {W} xmlns:r="{_RELATIONSHIPS}"><w:body>{body}</w:body></w:document>'
            ),
            **{f"word/{name}.xml": content for name, content in parts.items()},
        }
    )


def run(text: str, properties: str = "") -> str:
    """A run of a Word paragraph."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    """A paragraph of a Word file."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def open_document(kind: str, body: str, styles: str = "") -> bytes:
    """An OpenDocument file (`text`, `spreadsheet`, `presentation`) of a body's XML and automatic styles."""
    prefix = "urn:oasis:names:tc:opendocument:xmlns"
    names = {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation", "fo": "xsl-fo-compatible", "svg": "svg-compatible",
        "manifest": "manifest",
    }  # fmt: skip
    spaces = " ".join(f'xmlns:{name}="{prefix}:{full}:1.0"' for name, full in names.items())
    spaces += ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
    mime_type = f"application/vnd.oasis.opendocument.{kind}"
    return zipped(
        {
            "mimetype": mime_type,
            "content.xml": (
                f'<office:document-content {spaces} office:version="1.2">'
                f"<office:automatic-styles>{styles}</office:automatic-styles>"
                f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
            ),
            "styles.xml": f'<office:document-styles {spaces} office:version="1.2"/>',
            "meta.xml": f'<office:document-meta {spaces} office:version="1.2"/>',
            "META-INF/manifest.xml": (
                f'<manifest:manifest {spaces}><manifest:file-entry manifest:full-path="/" '
                f'manifest:media-type="{mime_type}"/><manifest:file-entry manifest:full-path="content.xml" '
                'manifest:media-type="text/xml"/></manifest:manifest>'
            ),
        }
    )
