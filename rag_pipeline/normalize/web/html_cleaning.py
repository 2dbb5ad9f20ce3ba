"""Taking out of a page what every page of its site repeats: navigation, banners, cookie notices, ads."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from rag_pipeline.normalize.document import Removed

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement

_ROLES: Final = {
    "navigation": "navigation", "banner": "page header", "contentinfo": "page footer", "search": "search",
    "menu": "navigation", "menubar": "navigation", "toolbar": "controls", "alertdialog": "dialog",
    "dialog": "dialog", "tablist": "controls",
}  # fmt: skip
# Names that authors give to what is not content. A name alone proves nothing (`menu` may be a restaurant's),
# so each is believed only where the text looks it, too.
_NAMED: Final = (
    ("cookie notice", re.compile(r"cookies?|consent|gdpr|onetrust|cookie(banner|notice|bar)")),
    (
        "advertisement",
        re.compile(
            r"ads?|adbox|adslot|adverts?|advertis(ement|ing)|adsbygoogle|sponsor(ed)?|promo|doubleclick"
        ),
    ),
    ("sharing", re.compile(r"shar(e|ing)|social|follow|addtoany|addthis|newsletter|subscribe|signup")),
    (
        "controls",
        re.compile(
            r"(edit|section)?editsection|headerlink|permalink|anchorlink|hashlink|clipboard|copybtn|noprint"
        ),
    ),
    (
        "navigation",
        re.compile(
            r"nav(bar|igation)?|(sub)?menu|breadcrumbs?|paginat(ion|or)|pager|side(bar|nav)|toc|skip(link|nav)?|"
            r"jump(link|to)?|related|recommend(ed|ations)?|lang(uage)?s?|portlet|tagcloud|sitemap|footer|"
            r"masthead|topbar|toolbar"
        ),
    ),
)
_TOKEN: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_COOKIE_WORDS: Final = re.compile(
    r"cookie|consent|privacy|gdpr|einwillig|datenschutz|隐私|隱私", re.IGNORECASE
)
# Share of an element's letters that stand in links: of prose a fifth at most, of menus nearly all.
_MOST_LINKS: Final = 0.6
# The longest texts, in letters, that are taken for what their names say.
_LONGEST: Final = {"cookie notice": 2_000, "advertisement": 400, "controls": 50}
_LONGEST_FORM: Final = 400
# A page that would have less left was nothing but links, and they are its content.
_LEAST_CONTENT: Final = 40
_SECTIONS: Final = frozenset({"article", "section", "main", "blockquote", "aside", "figure", "li", "td"})
_CONTENT: Final = frozenset({"main", "article"})


@dataclass(slots=True)
class _Measures:
    """What an element holds: letters, those of them in links, the page's content, its heading, a form."""

    letters: int = 0
    linked: int = 0
    content: bool = False
    heading: bool = False
    form: bool = False


def remove_boilerplate(body: "HtmlElement") -> list[Removed]:
    """Take what is not the page's own content out of the tree; tell what and why, in the page's order.

    Nothing is removed from a page that would have no content left, as an index page that is all links.
    """
    measured = _measured(body)
    heading_in_content = any(
        held.heading for element, held in measured.items() if element.tag in _CONTENT or _is_main(element)
    )
    doomed: dict[HtmlElement, str] = {}
    for element, held in measured.items():
        if element is body or element.getparent() is None:
            continue
        if reason := _reason(element, held, heading_in_content=heading_in_content):
            doomed[element] = reason
    doomed.update(_beside_main(measured, doomed, body))
    outermost = _outermost(body, doomed)
    gone = sum(measured[element].letters for element in outermost)
    if measured[body].letters - gone < min(_LEAST_CONTENT, measured[body].letters / 2):
        return []
    removed = []
    for element in outermost:
        if text := " ".join(" ".join(element.itertext()).split()):
            removed.append(Removed(doomed[element], text))
        element.drop_tree()
    return removed


def _measured(body: "HtmlElement") -> "dict[HtmlElement, _Measures]":
    """The measures of every element, in the page's order, taken in one pass from the innermost outwards."""
    measured = {element: _Measures() for element in body.iter()}
    for element in reversed(measured):
        held = measured[element]
        held.letters += _letters(element.text)
        if element.tag == "a":
            held.linked = held.letters
        held.heading = held.heading or element.tag == "h1"
        held.form = held.form or element.tag == "form"
        outer = measured.get(element.getparent())
        if outer is not None:
            outer.letters += held.letters + _letters(element.tail)
            outer.linked += held.linked
            outer.content = outer.content or held.content or element.tag in _CONTENT or _is_main(element)
            outer.heading = outer.heading or held.heading
            outer.form = outer.form or held.form
    return measured


def _beside_main(
    measured: "dict[HtmlElement, _Measures]", doomed: "dict[HtmlElement, str]", body: "HtmlElement"
) -> "dict[HtmlElement, str]":
    """What stands beside the one element that the page declares its main content, if that is most of it.

    A heading of the page outside of it speaks against the declaration.
    """
    declared = [element for element in measured if element.tag == "main" or _is_main(element)]
    if len(declared) != 1 or (measured[body].heading and not measured[declared[0]].heading):
        return {}
    beside: dict[HtmlElement, str] = {}
    inner = declared[0]
    while inner is not body and inner is not None:
        outer = inner.getparent()
        for element in () if outer is None else outer:
            if element is not inner:
                beside[element] = "beside the main content"
        inner = outer
    others = sum(measured[element].letters for element in beside if element not in doomed)
    if measured[declared[0]].letters < others:
        return {}
    return {element: doomed.get(element, reason) for element, reason in beside.items()}


def _outermost(body: "HtmlElement", doomed: "dict[HtmlElement, str]") -> "list[HtmlElement]":
    """The doomed elements that are in no other one, in the page's order."""
    found = []
    pending = [body]
    while pending:
        element = pending.pop()
        if element in doomed:
            found.append(element)
        else:
            pending.extend(reversed(element))
    return found


def _reason(element: "HtmlElement", held: _Measures, *, heading_in_content: bool) -> str | None:
    tag = element.tag
    if tag == "nav":
        return "navigation"
    if tag == "button":
        return "controls"
    if held.content or tag in _CONTENT:
        return None
    if tag in ("header", "footer"):
        edge = not any(outer.tag in _SECTIONS for outer in element.iterancestors())
        if edge and (tag == "footer" or heading_in_content or not held.heading):
            return f"page {tag}"
    return _ROLES.get(element.get("role", "").lower()) or _by_name(element, held)


def _by_name(element: "HtmlElement", held: _Measures) -> str | None:
    names = [*element.get("class", "").split(), element.get("id", "")]
    if names == [""]:
        return None
    tokens = [[token.lower() for token in _TOKEN.findall(name)] for name in names]
    said = {token for name in tokens for token in name}
    said.update(first + second for name in tokens for first, second in pairwise(name))
    for reason, pattern in _NAMED:
        if any(map(pattern.fullmatch, said)) and _looks_it(element, held, reason):
            return reason
    return None


def _looks_it(element: "HtmlElement", held: _Measures, reason: str) -> bool:
    if reason in _LONGEST and held.letters > _LONGEST[reason]:
        return False
    if reason == "cookie notice":
        return bool(_COOKIE_WORDS.search(element.text_content()))
    if reason in _LONGEST:
        return True
    return (held.form and held.letters <= _LONGEST_FORM) or held.linked >= _MOST_LINKS * max(held.letters, 1)


def _is_main(element: "HtmlElement") -> bool:
    return bool(element.get("role", "").lower() == "main")


def _letters(text: str | None) -> int:
    return sum(map(len, text.split())) if text else 0
