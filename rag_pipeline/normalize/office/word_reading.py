"""Word files before docling reads them: revisions accepted, unseen text out, marks and pictures as text."""

import re
from collections.abc import Iterator
from typing import Final

from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.office.diagrams import write_out_in_word
from rag_pipeline.normalize.office.package import NAMESPACES, Package, W, XmlElement, tag
from rag_pipeline.normalize.office.prepared import Prepared
from rag_pipeline.normalize.office.removals import COMMENT, PAGE_NUMBER
from rag_pipeline.normalize.office.word_hidden import WordStyles, drop_hidden_text
from rag_pipeline.normalize.office.word_joints import mark_joints
from rag_pipeline.normalize.office.word_marks import note_numbers, write_out_marks
from rag_pipeline.normalize.office.word_revisions import accept_revisions
from rag_pipeline.normalize.office.word_tables import complete_tables

# A fallback repeats its choice for programs that do not know it.
_SHOWN_TEXT: Final = ".//w:t[not(ancestor::mc:Fallback)]/text()"
_NOTES: Final = ("footnotes", "endnotes")
_MARGINS: Final = ("header", "footer")
_PAGE_FIELD: Final = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)
# "Page 3 of 10" and its like in other languages say nothing else.
_MOST_WORDS_BESIDE_A_NUMBER: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]+")


def prepare_word(data: bytes, *, comments: bool) -> Prepared:
    """The file as docling should see it; `comments` says whether comments are kept."""
    package = Package(data)
    main = package.main_part()
    if main is None:
        return Prepared(data)
    styles = WordStyles(next((package.tree(name) for name in package.related_parts(main, "styles")), None))
    numbers = note_numbers(package.tree(main))
    removed: list[Removed] = []
    for name in _text_parts(package, main):
        root = package.tree(name)
        removed += accept_revisions(root)
        removed += drop_hidden_text(root, styles)
        complete_tables(root)
        write_out_in_word(root, package, name)
        write_out_marks(root, numbers)
        mark_joints(root)
    for kind in _MARGINS:
        for name in package.related_parts(main, kind):
            removed += _drop_page_numbers(package.tree(name))
    if not comments:
        for name in package.related_parts(main, "comments"):
            removed += _drop_comments(package.tree(name))
    text = "".join(package.tree(main).xpath(_SHOWN_TEXT, namespaces=NAMESPACES))
    return Prepared(package.saved(), tuple(removed), text=text)


def _text_parts(package: Package, main: str) -> Iterator[str]:
    yield main
    for kind in (*_MARGINS, *_NOTES, "comments"):
        yield from package.related_parts(main, kind)


def _drop_page_numbers(root: XmlElement) -> Iterator[Removed]:
    """Empty the paragraphs of a header or footer that only number the pages."""
    for paragraph in list(root.iter(tag(W, "p"))):
        instructions = [
            *(field.get(tag(W, "instr"), "") for field in paragraph.iter(tag(W, "fldSimple"))),
            *(field.text or "" for field in paragraph.iter(tag(W, "instrText"))),
        ]
        text = "".join(part.text or "" for part in paragraph.iter(tag(W, "t"))).strip()
        numbers = any(_PAGE_FIELD.match(instruction) for instruction in instructions)
        if numbers and len(_WORD.findall(text)) <= _MOST_WORDS_BESIDE_A_NUMBER:
            for part in list(paragraph.iter(tag(W, "t"))):
                part.text = ""
            if text:
                yield Removed(PAGE_NUMBER, text)


def _drop_comments(root: XmlElement) -> Iterator[Removed]:
    for comment in list(root):
        text = "".join(part.text or "" for part in comment.iter(tag(W, "t"))).strip()
        root.remove(comment)
        if text:
            yield Removed(COMMENT, text)
