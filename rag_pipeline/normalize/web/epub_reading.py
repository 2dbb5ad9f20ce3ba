"""EPUB books: their chapters in reading order, title and authors as facts, no table of contents."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.assembling import Piece, assemble
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument, Removed
from rag_pipeline.normalize.web.html_reading import read_page
from rag_pipeline.normalize.xml_safety import refuse_entities, without_declaration

_CONTAINER: Final = "META-INF/container.xml"
_RIGHTS: Final = "META-INF/rights.xml"
_CHAPTER_TYPES: Final = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})


class _Book(NamedTuple):
    """What a book says of itself; `contents` are those of its chapters that only list the others."""

    title: str
    authors: tuple[str, ...]
    chapters: tuple[str, ...]
    contents: frozenset[str]


def convert_epub(data: bytes) -> NormalizedDocument:
    """Read a book. Raises DocumentError for one that is damaged or protected, or names no chapters."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read(archive)
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError) as error:
        raise DocumentError(
            FailureCategory.CORRUPT,
            f"The book is damaged: a part cannot be unpacked ({error}). Upload it again.",
        ) from error


def _read(archive: zipfile.ZipFile) -> NormalizedDocument:
    pieces: list[Piece] = []
    removed: list[Removed] = []
    warnings: dict[str, None] = {}
    book = _book(archive)
    for name in book.chapters:
        try:
            chapter = decode(archive.read(name), declared=True)
        except KeyError:
            warnings["a chapter that the book names is missing"] = None
            continue
        page = read_page(chapter.text, whole_site=False)
        if name in book.contents:
            removed.append(Removed("table of contents", "\n".join(piece.text for piece in page.pieces)))
            continue
        pieces += page.pieces
        removed += page.removed
        warnings.update(dict.fromkeys((*chapter.warnings, *page.warnings)))
    markdown, blocks = assemble([*_facts(book), *pieces])
    return NormalizedDocument(
        markdown=markdown,
        blocks=blocks,
        title=book.title or None,
        warnings=tuple(warnings),
        removed=tuple(removed),
    )


def _facts(book: _Book) -> Iterator[Piece]:
    facts = [("Title", book.title), ("Author", ", ".join(book.authors))]
    lines = [f"{name}: {value}" for name, value in facts if value]
    if lines:
        yield Piece(BlockKind.PARAGRAPH, "  \n".join(lines))


def _book(archive: zipfile.ZipFile) -> _Book:
    """What the package document says, by the names of EPUB 2 and 3 alike."""
    names = set(archive.namelist())
    if _RIGHTS in names:
        raise DocumentError(
            FailureCategory.ENCRYPTED,
            "The book is protected by its seller. Use an edition without protection.",
        )
    package_name = _package_name(archive)
    package = _xml(archive, package_name)
    folder = posixpath.dirname(package_name)
    items = {
        item.get("id"): item
        for item in package.iter("{*}item")
        if item.get("href") and item.get("media-type") in _CHAPTER_TYPES
    }
    spine = (items.get(reference.get("idref")) for reference in package.iter("{*}itemref"))
    chapters = dict.fromkeys(_path(folder, item.get("href")) for item in spine if item is not None)
    if not chapters:
        raise DocumentError(FailureCategory.CORRUPT, "The book names no chapters. Export it anew.")
    contents = [item for item in items.values() if "nav" in (item.get("properties") or "").split()]
    contents += [entry for entry in package.iter("{*}reference") if entry.get("type") == "toc"]
    return _Book(
        title=next(iter(_texts(package, "title")), ""),
        authors=tuple(_texts(package, "creator")),
        chapters=tuple(chapters),
        contents=frozenset(_path(folder, entry.get("href") or "") for entry in contents),
    )


def _path(folder: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(reference.partition("#")[0])))


def _package_name(archive: zipfile.ZipFile) -> str:
    try:
        container = _xml(archive, _CONTAINER)
    except KeyError:
        container = None
    if container is not None:
        for root in container.iter("{*}rootfile"):
            if name := root.get("full-path"):
                return str(name)
    for name in archive.namelist():
        if name.lower().endswith(".opf"):
            return name
    raise DocumentError(FailureCategory.CORRUPT, "The book has no package document. Export it anew.")


def _xml(archive: zipfile.ZipFile, name: str) -> Any:
    from lxml import etree  # type: ignore[import-untyped]

    text = decode(archive.read(name), declared=True).text.removeprefix("\ufeff")
    refuse_entities(text)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    return etree.fromstring(without_declaration(text).encode(), parser=parser)


def _texts(package: Any, name: str) -> Iterator[str]:
    for element in package.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}"):
        if text := " ".join(clean("".join(element.itertext())).text.split()):
            yield text
