"""Taking out of a page what its markup hides from its readers: it may be there to mislead machines."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from rag_pipeline.normalize.document import Removed
from rag_pipeline.normalize.web import html_styles as styles

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement

# Never shown as text; what they hold is code, settings, or a substitute for what was shown instead.
_NOT_TEXT: Final = frozenset(
    {"script", "style", "template", "noscript", "head", "link", "meta", "object", "embed", "iframe",
     "canvas", "audio", "video", "map", "datalist", "noframes"}
)  # fmt: skip
_WHOLE_PAGE: Final = frozenset({"html", "body"})
_HIDDEN: Final = "hidden"


@dataclass(frozen=True, slots=True)
class _Look:
    """What text inherits: whether it is too small or invisible, its colour and the colour behind it.

    A colour is None where it is not known.
    """

    tiny: bool = False
    invisible: bool = False
    colour: styles.Colour | None = (0, 0, 0)
    behind: styles.Colour | None = styles.WHITE

    @property
    def hides(self) -> bool:
        """Whether text that looks like this cannot be read."""
        unseen = self.colour and self.behind and styles.alike(self.colour, self.behind)
        return self.tiny or self.invisible or bool(unseen)


def remove_hidden(root: "HtmlElement") -> list[Removed]:
    """Take hidden elements and text out of the tree, scripts and the like with them; tell the hidden text.

    Style sheets are believed where they are simple and the page has no scripts, which could show what they
    hide.
    """
    scripted = next(root.iter("script"), None) is not None
    sheet = {} if scripted else styles.rules(style.text or "" for style in root.iter("style"))
    # What styles of elsewhere paint behind the text is not known.
    painted = any("background" in (style.text or "") for style in root.iter("style")) or any(
        "stylesheet" in link.get("rel", "").lower() for link in root.iter("link")
    )
    found: list[Removed] = []
    pending: list[tuple[Any, _Look, bool]] = [(root, _Look(behind=None if painted else styles.WHITE), False)]
    while pending:
        element, look, hides = pending.pop()
        if element.tag in _NOT_TEXT:
            element.drop_tree()
            continue
        if element.attrib or element.tag == "dialog":  # most elements say nothing of how they look
            style = styles.style_of(element, sheet)
            if element.tag not in _WHOLE_PAGE and _is_hidden(element, style, scripted):
                _note(found, " ".join(element.itertext()))
                element.drop_tree()
                continue
            look = _look(element, style, look)
            hides = look.hides
        if hides:
            _note(found, element.text or "")
            element.text = None
            for child in element:
                _note(found, child.tail or "")
                child.tail = " " if child.tail else None
        pending.extend((child, look, hides) for child in reversed(element))
    return found


def _is_hidden(element: "HtmlElement", style: styles.Declarations, scripted: bool) -> bool:
    if element.get("hidden") is not None and element.get("hidden") != "until-found":
        return True
    if element.tag == "input" and element.get("type", "").lower() == "hidden":
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    if style and styles.takes_no_room(style):
        return True
    if not scripted and styles.pixels(style.get("opacity", "")) == 0:
        return True  # scripts fade in what is transparent at first
    # A page that was saved while a dialog was open says this of everything but the dialog.
    return element.get("aria-hidden", "").lower() == "true" and not element.xpath(".//h1|.//main|self::main")


def _look(element: "HtmlElement", style: styles.Declarations, inherited: _Look) -> _Look:
    if not style and element.get("bgcolor") is None and element.get("color") is None:
        return inherited
    look = inherited
    tiny = styles.too_small(style.get("font-size", ""))
    if tiny is not None:
        look = replace(look, tiny=tiny)
    if visibility := style.get("visibility"):
        look = replace(look, invisible=visibility in ("hidden", "collapse"))
    known, behind = styles.background(style, element.get("bgcolor", ""))
    if known:
        look = replace(look, behind=behind)
    known, colour = styles.colour(style.get("color", "") or element.get("color", ""))
    if known:
        # Text that shows a picture behind it is written with a transparent colour.
        unseen = colour is styles.TRANSPARENT and look.behind is not styles.TRANSPARENT
        look = replace(look, colour=colour, invisible=look.invisible or unseen)
    return look


def _note(found: list[Removed], text: str) -> None:
    if text := " ".join(text.split()):
        found.append(Removed(_HIDDEN, text))
