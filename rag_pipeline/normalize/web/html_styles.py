"""What a page's style attributes and simple style rules say about the visibility of its text."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_pipeline.normalize.web.html_parsing import HtmlElement

Colour = tuple[int, int, int]
Declarations = Mapping[str, str]

WHITE: Final[Colour] = (255, 255, 255)
TRANSPARENT: Final = None
# Text of one pixel or less cannot be read; icons and spacing tricks use these sizes, too.
_LEAST_PIXELS: Final = 1.0
_PIXELS: Final = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "%": 0.16, "": 1.0}
# Further out than any screen is wide or high.
_OFF_SCREEN: Final = -999.0
# Colours whose channels differ by less cannot be told apart.
_ALIKE: Final = 12
_NAMED: Final[dict[str, Colour]] = {
    "white": WHITE, "black": (0, 0, 0), "red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255),
    "gray": (128, 128, 128), "grey": (128, 128, 128), "silver": (192, 192, 192), "yellow": (255, 255, 0),
    "snow": (255, 250, 250), "ivory": (255, 255, 240), "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255), "navy": (0, 0, 128), "orange": (255, 165, 0), "purple": (128, 0, 128),
}  # fmt: skip
_LENGTH: Final = re.compile(r"^(-?[\d.]+)(px|pt|r?em|%)?$")
_RGB: Final = re.compile(r"^rgba?\(([\d.]+)[,\s]+([\d.]+)[,\s]+([\d.]+)(?:[,\s/]+([\d.]+)(%)?)?\)$")
_COLOUR_TOKEN: Final = re.compile(r"#[0-9a-f]{3,8}\b|rgba?\([^)]*\)|[a-z]+")
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE: Final = re.compile(r"([^{}]*)\{([^{}]*)\}")
_SIMPLE_SELECTOR: Final = re.compile(r"^[a-z0-9]*[.#][\w-]+$", re.IGNORECASE)
_NAMES: Final = re.compile(r"[.#][\w-]+")
_HIDING: Final = frozenset({"display", "visibility", "font-size", "opacity", "color", "background-color"})


def declarations(style: str) -> dict[str, str]:
    """A style attribute's declarations: names and values in lower case, the last of a name wins."""
    found = {}
    for part in style.lower().split(";"):
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip()] = value.replace("!important", "").strip()
    return found


def takes_no_room(style: Declarations) -> bool:
    """Whether an element is not shown, whatever its descendants say of themselves."""
    if style.get("display") == "none" or style.get("mso-hide") == "all":
        return True
    clipped = style.get("overflow") == "hidden" or style.get("overflow-y") == "hidden"
    if clipped and any(pixels(style.get(name, "")) == 0 for name in ("height", "max-height", "width")):
        return True
    moved = [style.get("text-indent", "")]
    if style.get("position") in ("absolute", "fixed"):
        moved += [style.get("left", ""), style.get("top", "")]
    return any((at := pixels(value)) is not None and at <= _OFF_SCREEN for value in moved)


def too_small(size: str) -> bool | None:
    """Whether text of a `font-size` cannot be read; None where the size is not a plain length."""
    number = pixels(size)
    return None if number is None else number <= _LEAST_PIXELS


def pixels(length: str) -> float | None:
    """A CSS length in pixels, with em and % of the usual 16 pixels; None for anything else."""
    match = _LENGTH.match(length)
    try:
        return float(match.group(1)) * _PIXELS[match.group(2) or ""] if match else None
    except ValueError:  # "1.2.3"
        return None


def colour(value: str) -> tuple[bool, Colour | None]:
    """Whether a value names a colour, and which; TRANSPARENT for one that lets everything through."""
    value = value.strip().lower()
    if value == "transparent":
        return True, TRANSPARENT
    if value in _NAMED:
        return True, _NAMED[value]
    if re.fullmatch(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", value):
        digits = value[1:] if len(value) == 7 else "".join(char * 2 for char in value[1:])
        return True, (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16))
    if match := _RGB.match(value):
        if match.group(4) is not None and float(match.group(4) or 0) == 0:
            return True, TRANSPARENT
        red, green, blue = (min(255, int(float(match.group(n)))) for n in (1, 2, 3))
        return True, (red, green, blue)
    return False, None


def background(style: Declarations, attribute: str = "") -> tuple[bool, Colour | None]:
    """An element's own background colour, from its style or its `bgcolor` attribute, as `colour` gives it."""
    for value in (style.get("background-color", ""), style.get("background", ""), attribute):
        if "url(" in value or "gradient" in value:
            return True, TRANSPARENT  # a picture: its colours are not known
        for token in _COLOUR_TOKEN.findall(value.lower()):
            known, found = colour(token)
            if known and found is not TRANSPARENT:
                return True, found
    return False, None


def alike(first: Colour, second: Colour) -> bool:
    """Whether text of one colour cannot be seen on the other."""
    return all(abs(a - b) <= _ALIKE for a, b in zip(first, second, strict=True))


def rules(sheets: Iterable[str]) -> dict[str, dict[str, str]]:
    """What style sheets say by a class or an id alone, as `.name`, `#name` or `tag.name`, of what hides text.

    Rules for one medium are left out, and so are names that another rule shows again: such an element is
    opened by its reader, as a tab is.
    """
    found: dict[str, dict[str, str]] = {}
    shown: set[str] = set()
    for sheet in sheets:
        for selectors, body in _RULE.findall(_top_level(_COMMENT.sub("", sheet))):
            said = {name: value for name, value in declarations(body).items() if name in _HIDING}
            for selector in map(str.strip, selectors.split(",")):
                if _SIMPLE_SELECTOR.match(selector):
                    found.setdefault(selector, {}).update(said)
                elif said.get("display", "none") != "none" or said.get("visibility") == "visible":
                    shown.update(_NAMES.findall(selector))
    return {key: said for key, said in found.items() if said and not shown & set(_NAMES.findall(key))}


def _top_level(sheet: str) -> str:
    """A style sheet without what stands inside of `@media` and the like."""
    parts = []
    depth = start = 0
    for match in re.finditer(r"[{}@;]", sheet):
        at, char = match.start(), match.group()
        if char == "@" and depth == 0:
            parts.append(sheet[start:at])
            start = at
        elif char == ";" and depth == 0:  # the end of an `@import`
            start = at + 1
        elif char == "{":
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                if not sheet.startswith("@", start):
                    parts.append(sheet[start : at + 1])
                start = at + 1
    return "".join(parts)


def style_of(element: "HtmlElement", sheet: Mapping[str, Declarations]) -> Declarations:
    """An element's own declarations: those of the simple rules that name it, then its style attribute's."""
    own = declarations(element.get("style", ""))
    if not sheet:
        return own
    names = [f".{name}" for name in element.get("class", "").split()]
    names += [f"#{element.get('id')}"] if element.get("id") else []
    said: dict[str, str] = {}
    for name in names:
        said.update(sheet.get(name, {}))
        said.update(sheet.get(f"{element.tag}{name}", {}))
    return {**said, **own}
