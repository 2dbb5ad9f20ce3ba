"""The text of elements that have no blocks of their own: code, images, formulas, form controls."""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement

_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*|sourceCode\s+)([\w+#-]+)",
    re.IGNORECASE,
)
_NO_LANGUAGE: Final = frozenset({"none", "plaintext", "text", "default", "nohighlight", "notranslate"})
_FILE_NAME: Final = re.compile(r"[\w%. -]+\.(jpe?g|png|gif|svg|webp|bmp|avif)", re.IGNORECASE)
_LINE_NUMBERS: Final = re.compile(r"\b(linenos?|line-numbers-rows|gutter)\b")


def code_text(pre: "HtmlElement") -> str:
    """The lines of preformatted text as they are shown, without the empty ones around them."""
    parts: list[str] = []
    _collect(pre, parts)
    text = "".join(parts).replace("\u00a0", " ").replace("\r\n", "\n")
    return text.strip("\n").rstrip()


def _collect(element: "HtmlElement", parts: list[str]) -> None:
    pending: list[HtmlElement | str] = [element]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            parts.append(part)
            continue
        if part.tag == "br":
            parts.append("\n")
        if _LINE_NUMBERS.search(part.get("class", "")) and part is not element:
            continue
        for child in reversed(part):
            pending.extend((child.tail or "", child))
        parts.append(part.text or "")


def code_language(pre: "HtmlElement") -> str:
    """The language that a highlighter's class names on the element, in it or close around it; "" if none."""
    around = [pre, *pre.iterchildren("code"), *list(pre.iterancestors("div"))[:2]]
    for element in around:
        stated = element.get("data-lang") or element.get("data-language")
        if stated is None:
            match = _LANGUAGE.search(element.get("class", ""))
            stated = match.group(1) if match else None
        if stated and re.fullmatch(r"[\w+#-]{1,30}", stated):
            return "" if stated.lower() in _NO_LANGUAGE else stated.lower()
    return ""


def image_text(image: "HtmlElement") -> str:
    """The text that stands for an image; "" where it has none, or only its file's name or its caption."""
    alt = " ".join((image.get("alt") or "").split())
    if not alt or _FILE_NAME.fullmatch(alt):
        return ""
    for figure in image.iterancestors("figure"):
        for caption in figure.iter("figcaption"):
            if alt.casefold() in " ".join(caption.text_content().split()).casefold():
                return ""
    return alt


def math_text(formula: "HtmlElement") -> str:
    """A formula as TeX where the page has it so, else its characters."""
    for note in formula.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower() and note.text:
            return _dollars(note.text, formula)
    if stated := formula.get("alttext"):
        return _dollars(stated, formula)
    return f" {' '.join(formula.text_content().split())} "


def _dollars(tex: str, formula: "HtmlElement") -> str:
    mark = "$$" if formula.get("display") == "block" else "$"
    return f" {mark}{' '.join(tex.split())}{mark} "


def control_text(control: "HtmlElement") -> str:
    """What a form control shows as filled in: a tick, a value, the chosen options."""
    kind = (control.get("type") or "text").lower()
    if control.tag == "select":
        chosen = [
            option.text_content() for option in control.iter("option") if option.get("selected") is not None
        ]
        return f" {', '.join(chosen)} "
    if control.tag == "textarea":
        return f" {control.text or ''} "
    if kind in ("checkbox", "radio"):
        return " [x] " if control.get("checked") is not None else " [ ] "
    if kind in ("text", "email", "tel", "url", "number", "date", "time", "datetime-local", "month", "search"):
        return f" {control.get('value') or ''} "
    return " "
