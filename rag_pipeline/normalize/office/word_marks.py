"""What a Word part shows by other means than text, written as text: note marks, pictures, check boxes."""

from collections.abc import Mapping
from typing import Final

from lxml import etree  # type: ignore[import-untyped]

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.office.package import NAMESPACES, WP, W, XmlElement, tag
from rag_pipeline.normalize.office.symbol_fonts import SYMBOLS

_VAL: Final = tag(W, "val")
_SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"
_PICTURES: Final = (
    ".//w:drawing[.//pic:pic][not(.//w:txbxContent)][not(ancestor::mc:Fallback)]"
    " | .//w:pict[.//v:imagedata][not(.//w:txbxContent)] | .//w:object[.//v:imagedata]"
)

_GRAPHICS: Final = ".//w:drawing[.//a:graphicData][not(.//w:txbxContent)][not(ancestor::mc:Fallback)]"


def note_numbers(document: XmlElement) -> dict[tuple[str, str], str]:
    """The mark of each footnote and endnote by its kind and id, counted as a page shows them.

    Endnotes are e1, e2 and so on, since both kinds count from 1.
    """
    numbers: dict[tuple[str, str], str] = {}
    for kind, prefix in (("footnote", ""), ("endnote", "e")):
        ids = dict.fromkeys(mark.get(tag(W, "id"), "") for mark in document.iter(tag(W, f"{kind}Reference")))
        numbers |= {(kind, name): f"{prefix}{number}" for number, name in enumerate(ids, start=1)}
    return numbers


def write_out_marks(root: XmlElement, notes: Mapping[tuple[str, str], str]) -> None:
    """Replace what stands for something in a part by text that says it, in place.

    `notes` are the marks of footnotes and endnotes, from `note_numbers`.
    """
    _number_notes(root, notes)
    _describe_pictures(root)
    _describe_charts(root)
    _show_form_boxes(root)
    _spell_symbols(root)


def _number_notes(root: XmlElement, notes: Mapping[tuple[str, str], str]) -> None:
    """Write `[^1]` where a note is referred to, and `[^1]:` before its text."""
    for kind in ("footnote", "endnote"):
        for reference in list(root.iter(tag(W, f"{kind}Reference"))):
            if number := notes.get((kind, reference.get(tag(W, "id"), ""))):
                _write(reference, f"[^{number}]")
        for note in root.iter(tag(W, kind)):
            number = notes.get((kind, note.get(tag(W, "id"), "")))
            mark = next(note.iter(tag(W, f"{kind}Ref")), None)
            if number and mark is not None:
                _write(mark, f"[^{number}]:")


def _describe_pictures(root: XmlElement) -> None:
    """Put the alt text in a picture's place. The pictures themselves are not read in Office documents."""
    for drawing in root.xpath(_PICTURES, namespaces=NAMESPACES):
        names = drawing.xpath(".//wp:docPr | .//pic:cNvPr | .//v:shape", namespaces=NAMESPACES)
        decorative = drawing.xpath(".//adec:decorative[@val='1' or @val='true']", namespaces=NAMESPACES)
        texts = [name.get("descr") or name.get("alt") or "" for name in names]
        described = "" if decorative else picture_markdown(next(filter(None, texts), ""))
        if described:
            _replace(drawing, described)
        elif drawing.getparent() is not None:
            drawing.getparent().remove(drawing)


def _describe_charts(root: XmlElement) -> None:
    """Add the alt text of a chart or diagram, which are read themselves too."""
    for drawing in root.xpath(_GRAPHICS, namespaces=NAMESPACES):
        name = next(drawing.iter(tag(WP, "docPr")), None)
        if name is not None and (described := picture_markdown(name.get("descr", ""))):
            drawing.addnext(_text(described))


def _show_form_boxes(root: XmlElement) -> None:
    """Check boxes of legacy forms, which only their field knows."""
    for box in root.iterfind(".//w:ffData/w:checkBox", NAMESPACES):
        field = next(box.iterancestors(tag(W, "r")), None)
        state = box.find("w:checked", NAMESPACES)
        if state is None:
            state = box.find("w:default", NAMESPACES)
        checked = state is not None and state.get(_VAL, "1") not in ("0", "false", "off")
        if field is not None:
            field.addprevious(_run("☒ " if checked else "☐ "))


def _spell_symbols(root: XmlElement) -> None:
    for symbol in list(root.iter(tag(W, "sym"))):
        font = symbol.get(tag(W, "font"), "").lower()
        try:
            code = int(symbol.get(tag(W, "char"), ""), 16)
        except ValueError:
            continue
        known = SYMBOLS.get(font)
        if known is None:
            character = chr(code) if 0x20 <= code < 0xE000 and not 0xD800 <= code < 0xE000 else ""
        else:
            character = known.get(code & 0xFF, "")
        if character:
            _replace(symbol, character)


def _write(mark: XmlElement, text: str) -> None:
    """Put text in a note mark's place, not raised as the mark was, so that it stays part of its sentence."""
    run = mark.getparent()
    if run is None:
        return
    properties = run.find("w:rPr", NAMESPACES)
    if properties is not None:
        run.remove(properties)
    _replace(mark, text)


def _replace(element: XmlElement, text: str) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.replace(element, _text(text))


def _text(text: str) -> XmlElement:
    element = etree.Element(tag(W, "t"))
    element.set(_SPACE, "preserve")
    element.text = text
    return element


def _run(text: str) -> XmlElement:
    run = etree.Element(tag(W, "r"))
    run.append(_text(text))
    return run
