"""Text of a Word part that no reader of the page sees: hidden, white on nothing, or too small to read."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.office.package import MC, NAMESPACES, W, XmlElement, tag
from rag_pipeline.normalize.office.removals import HIDDEN_TEXT, UNREADABLE

# Half-points: text of one point and less cannot be read.
_TINY: Final = 2
# Each channel of a colour that cannot be told from white paper.
_NEARLY_WHITE: Final = 0xFA
_VAL: Final = tag(W, "val")
_RUN: Final = tag(W, "r")
_PARAGRAPH: Final = tag(W, "p")
# What a run shows; field characters stay, so that fields are not torn apart.
_LETTERS: Final = frozenset(tag(W, name) for name in ("t", "tab", "ptab", "br", "cr", "sym", "noBreakHyphen"))
_SHOWN: Final = (
    _LETTERS | {tag(W, name) for name in ("drawing", "pict", "object")} | {tag(MC, "AlternateContent")}
)
_OFF: Final = frozenset({"0", "false", "off"})
# Whatever is painted behind a run, by itself or by what it stands in. Text boxes lie over pictures.
_PAINTED: Final = (
    "w:rPr/w:highlight | w:rPr/w:shd | ancestor::w:p[1]/w:pPr/w:shd | ancestor::w:tc/w:tcPr/w:shd"
    " | ancestor::w:tbl/w:tblPr/w:shd | /w:document/w:background | ancestor::w:txbxContent"
)
_HIDDEN_ROWS: Final = ".//w:tr[w:trPr/w:hidden[not(@w:val='0' or @w:val='false')]]"
_STYLES_AROUND: Final = "ancestor::w:p[1]/w:pPr/w:pStyle/@w:val | ancestor::w:tbl/w:tblPr/w:tblStyle/@w:val"


@dataclass(frozen=True, slots=True)
class _Look:
    """What properties say about a run's visibility; None where they say nothing."""

    hidden: bool | None = None
    colour: str | None = None
    size: int | None = None

    def over(self, other: "_Look") -> "_Look":
        """These properties, and the other ones where they say nothing."""
        return _Look(
            other.hidden if self.hidden is None else self.hidden,
            other.colour if self.colour is None else self.colour,
            other.size if self.size is None else self.size,
        )


_NOTHING: Final = _Look()


class WordStyles:
    """What the styles of a document (the root of `styles.xml`, if it has one) say about visibility."""

    def __init__(self, root: XmlElement | None) -> None:
        self._styles: dict[str, XmlElement] = {}
        self._looks: dict[str, _Look] = {}
        self._defaults = _NOTHING
        self._default_paragraph: str | None = None
        if root is None:
            return
        self._defaults = _look(root.find("w:docDefaults/w:rPrDefault/w:rPr", NAMESPACES))
        for style in root.iterfind("w:style", NAMESPACES):
            name = style.get(tag(W, "styleId"), "")
            self._styles[name] = style
            if style.get(tag(W, "type")) == "paragraph" and style.get(tag(W, "default")) in (
                "1",
                "true",
                "on",
            ):
                self._default_paragraph = name

    def look(self, run: XmlElement) -> _Look:
        """A run's own properties over those of its styles and the document's defaults."""
        own = run.find("w:rPr", NAMESPACES)
        paragraph = next(run.iterancestors(_PARAGRAPH), None)
        of_paragraph = None if paragraph is None else _value(paragraph, "w:pPr/w:pStyle")
        look = _look(own)
        if own is not None and (name := _value(own, "w:rStyle")):
            look = look.over(self._of_style(name))
        return look.over(self._of_style(of_paragraph or self._default_paragraph)).over(self._defaults)

    def paints(self, names: Iterable[str]) -> bool:
        """Whether one of the styles, or one that it is based on, paints a background."""
        return any(
            style.xpath(".//w:shd[@w:fill and @w:fill!='auto' and @w:fill!='FFFFFF']", namespaces=NAMESPACES)
            for name in names
            for style in self._chain(name)
        )

    def _of_style(self, name: str | None) -> _Look:
        if name is None:
            return _NOTHING
        if name not in self._looks:
            look = _NOTHING
            for style in self._chain(name):
                look = look.over(_look(style.find("w:rPr", NAMESPACES)))
            self._looks[name] = look
        return self._looks[name]

    def _chain(self, name: str | None) -> list[XmlElement]:
        chain: dict[str, XmlElement] = {}
        while name is not None and name in self._styles and name not in chain:
            chain[name] = self._styles[name]
            name = _value(self._styles[name], "w:basedOn")
        return list(chain.values())


def drop_hidden_text(root: XmlElement, styles: WordStyles) -> list[Removed]:
    """Empty the runs of a part that nobody sees; returns their texts, those of one paragraph together."""
    found: list[tuple[str, XmlElement | None, str]] = []
    for row in root.xpath(_HIDDEN_ROWS, namespaces=NAMESPACES):
        found.append((HIDDEN_TEXT, row, _text(row)))
        row.getparent().remove(row)
    for run in list(root.iter(_RUN)):
        reason = _reason(run, styles.look(run), styles)
        if reason is None:
            continue
        gone = [child for child in run if child.tag in (_SHOWN if reason == HIDDEN_TEXT else _LETTERS)]
        found.append((reason, next(run.iterancestors(_PARAGRAPH), None), "".join(map(_text, gone))))
        for child in gone:
            run.remove(child)
    removed = []
    for (reason, _), passages in groupby(found, key=lambda passage: passage[:2]):
        if text := "".join(text for _, _, text in passages).strip():
            removed.append(Removed(reason, text))
    return removed


def _text(element: XmlElement) -> str:
    return "".join(text.text or "" for text in element.iter(tag(W, "t")))


def _reason(run: XmlElement, look: _Look, styles: WordStyles) -> str | None:
    if look.hidden:
        return HIDDEN_TEXT
    if look.size is not None and look.size <= _TINY:
        return UNREADABLE
    if look.colour is None or not _is_white(look.colour):
        return None
    painted = run.xpath(_PAINTED, namespaces=NAMESPACES)
    if any(_paints(mark) for mark in painted):
        return None
    return None if styles.paints(run.xpath(_STYLES_AROUND, namespaces=NAMESPACES)) else UNREADABLE


def _paints(mark: XmlElement) -> bool:
    """Whether a highlight or shading puts another colour than white behind a run; a text box always may."""
    if mark.tag == tag(W, "txbxContent"):
        return True
    fill = mark.get(tag(W, "fill")) or mark.get(tag(W, "color")) or mark.get(_VAL) or ""
    themed = any(name.endswith(("hemeFill", "hemeColor")) for name in mark.attrib)
    return themed or fill.lower() not in ("auto", "ffffff", "white", "none", "clear", "nil")


def _is_white(colour: str) -> bool:
    try:
        value = int(colour, 16)
    except ValueError:
        return False
    return len(colour) == 6 and all(value >> shift & 0xFF >= _NEARLY_WHITE for shift in (0, 8, 16))


def _look(properties: XmlElement | None) -> _Look:
    if properties is None:
        return _NOTHING
    vanish = properties.find("w:vanish", NAMESPACES)
    size = _value(properties, "w:sz") or ""
    return _Look(
        hidden=None if vanish is None else vanish.get(_VAL, "1").lower() not in _OFF,
        colour=_value(properties, "w:color"),
        size=int(size) if size.isdecimal() else None,
    )


def _value(element: XmlElement, path: str) -> str | None:
    child = element.find(path, NAMESPACES)
    return None if child is None else child.get(_VAL)
