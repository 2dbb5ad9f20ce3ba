"""Taking from a PDF page's text layer what a reader of the page sees; the rest is reported."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.layout.page_text import PageText
from rag_pipeline.normalize.layout.words import Word, lines_of
from rag_pipeline.normalize.pdf.misread import read_anew
from rag_pipeline.normalize.pdf.parsing import ParsedPage

# Nobody reads letters that are less than this high in points; they are put there for machines.
_LEAST_HEIGHT: Final = 1.5
# An image that covers this share of a page is a scan, and text that paints nothing is what OCR read on it.
_SCAN: Final = 0.6
# The same word twice within this many points is one, drawn again to look bold or to throw a shadow.
_SAME_PLACE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Layer:
    """A page's text as it is shown, what was left out of it, and notes for the reader of the text."""

    page: PageText
    removed: tuple[Removed, ...] = ()
    warnings: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


def shown_text(parsed: ParsedPage, unseen_words: Callable[[Sequence[Word]], set[int]]) -> Layer:
    """The text of a page that can be seen. `unseen_words` tells which painted words cannot, by their indices.

    Text that paints nothing is left out, unless the page is a scan: then an OCR program read it there.
    """
    warnings: dict[str, None] = {}
    decisions: tuple[str, ...] = ()
    seen: Sequence[Word] = parsed.seen
    if anew := read_anew(seen):
        seen, encoding = anew
        decisions = (f"page {parsed.number}: its fonts say Western letters; its text was read as {encoding}",)
    painted, unpainted = _clean(seen, warnings), _clean(parsed.unseen, warnings)
    hidden: list[tuple[str, Sequence[Word]]] = []
    if unpainted and parsed.image_share > (_SCAN if painted else 0.0):
        painted += unpainted
        decisions += (f"page {parsed.number}: text that an OCR program had put under the scan was used",)
    elif unpainted:
        hidden.append(("text that paints nothing", unpainted))
    places = {
        "text too small to be read": [word for word in painted if _size(word) < _LEAST_HEIGHT],
        "text off the page": [word for word in painted if not _on_page(word, parsed)],
    }
    hidden += [(reason, words) for reason, words in places.items() if words]
    out = {id(word) for _, words in hidden for word in words}
    painted = [word for word in painted if id(word) not in out]
    if unseen := unseen_words(painted):
        hidden.append(("text that cannot be seen", [painted[index] for index in sorted(unseen)]))
        painted = [word for index, word in enumerate(painted) if index not in unseen]
    warnings |= {
        f"page {parsed.number}: {len(words)} words were left out as {reason}": None
        for reason, words in hidden
    }
    painted, doubled = _each_once(painted)
    if doubled:
        hidden.append(("text drawn twice", doubled))
    removed = [
        Removed(reason, line.text, parsed.number, line.box)
        for reason, words in hidden
        for line in lines_of(words)
    ]
    return Layer(parsed.text(painted), tuple(removed), tuple(warnings), decisions)


def _clean(words: Iterable[Word], warnings: dict[str, None]) -> list[Word]:
    kept = []
    for word in words:
        if not (word.text.isascii() and word.text.isprintable()):
            text, notes = clean(word.text)
            warnings |= dict.fromkeys(notes)
            word = word._replace(text=text)
        if word.text.strip():
            kept.append(word)
    return kept


def _size(word: Word) -> float:
    left, top, right, bottom = word.box
    return right - left if word.angle in (90, 270) else bottom - top


def _on_page(word: Word, page: ParsedPage) -> bool:
    left, top, right, bottom = word.box
    return right > 0 and bottom > 0 and left < page.width and top < page.height


def _each_once(words: Iterable[Word]) -> tuple[list[Word], list[Word]]:
    """The words without those that stand on the same word, and those."""
    seen: set[tuple[str, int, int]] = set()
    kept, doubled = [], []
    for word in words:
        column, row = int(word.box[0] / _SAME_PLACE), int(word.box[1] / _SAME_PLACE)
        near = ((word.text, column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1))
        if any(place in seen for place in near):
            doubled.append(word)
        else:
            seen.add((word.text, column, row))
            kept.append(word)
    return kept, doubled
