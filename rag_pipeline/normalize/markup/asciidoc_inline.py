"""The inline markup of AsciiDoc as Markdown."""

import re
from collections.abc import Mapping
from typing import Final

from rag_pipeline.normalize.alt_text import picture_markdown
from rag_pipeline.normalize.web.html_inline import code_span, link_target

_CODE: Final = re.compile(r"``([^`\n]+)``|(?<![\w`])`(?!\s)([^`]*[^`\s])`(?![\w`])")
_ATTRIBUTE: Final = re.compile(r"(?<!\\)\{([\w-]+)\}")
_ANCHOR: Final = re.compile(r"\[\[[^\[\]\n]+\]\]")
_LINK: Final = re.compile(
    r"\b(?:link:([^\s\[\]]+)|(mailto:[^\s\[\]]+)|((?:https?|ftp)://[^\s\[\]<>]+))\[([^\[\]\n]*)\]"
)
_CROSS: Final = re.compile(r"<<#?([^<>,\n]+)(?:,\s*([^<>]+))?>>|\bxref:([^\s\[\]]+)\[([^\[\]\n]*)\]")
_IMAGE: Final = re.compile(r"\bimage:(?!:)[^\s\[\]]+\[([^\[\]\n]*)\]")
_NOTE: Final = re.compile(r"\s?\bfootnote:[\w-]*\[([^\[\]]*)\]")
_FORMULA: Final = re.compile(r"\b(?:stem|latexmath|asciimath):\[([^\[\]]*)\]")
_SHOWN: Final = re.compile(r"\b(?:kbd|btn|pass|menu):(\w*)\[([^\[\]]*)\]")
_BOLD: Final = re.compile(r"\*\*(\S(?:[^*]*[^*\s])?)\*\*|(?<![\w*])\*(?!\s)([^*\n]*[^*\s])\*(?![\w*])")
_ITALIC: Final = re.compile(r"__(\S(?:[^_]*[^_\s])?)__|(?<!\w)_(?!\s)([^_\n]*[^_\s])_(?!\w)")
_MARKED: Final = re.compile(r"(?:\[[.#][^\[\]\n]+\])#([^#\n]+)#")
_PLUS: Final = re.compile(r"(?<!\w)\+(?!\s)([^+\n]*[^+\s])\+(?!\w)")
# Stands for inline code while the rest of a text is rewritten.
_SLOT: Final = re.compile("\ue000(\\d+)\ue001")


def inline(text: str, attributes: Mapping[str, str]) -> str:
    """A text's markup as Markdown, with the values of the document's own attributes filled in."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(code_span((match.group(1) or match.group(2)).strip("+")))
        return f"\ue000{len(kept) - 1}\ue001"

    text = _ATTRIBUTE.sub(lambda match: attributes.get(match.group(1), match.group()), text)
    text = _ANCHOR.sub("", _CODE.sub(keep, text))
    text = _NOTE.sub(r" (\1)", text)
    text = _BOLD.sub(lambda match: f"\ue002{match.group(1) or match.group(2)}\ue002", text)
    text = _ITALIC.sub(lambda match: f"*{match.group(1) or match.group(2)}*", text).replace("\ue002", "**")
    text = _LINK.sub(_link, text)
    text = _CROSS.sub(_cross, text)
    text = _IMAGE.sub(lambda match: picture_markdown(first_argument(match.group(1))), text)
    text = _FORMULA.sub(r"$\1$", text)
    text = _SHOWN.sub(lambda match: " > ".join(filter(None, match.groups())), text)
    text = _PLUS.sub(r"\1", _MARKED.sub(r"\1", text))
    return _SLOT.sub(lambda match: kept[int(match.group(1))] if int(match.group(1)) < len(kept) else "", text)


def first_argument(arguments: str) -> str:
    """The first of a macro's arguments that has no name: its text or alt text."""
    first = arguments.split(",")[0].strip().strip('"')
    return "" if "=" in first else first


def _link(match: re.Match[str]) -> str:
    target = next(group for group in match.groups()[:3] if group)
    text = first_argument(match.group(4)).rstrip("^") or target.removeprefix("mailto:")
    return f"[{text}]({target})" if link_target(target) else text


def _cross(match: re.Match[str]) -> str:
    target, text = (match.group(1) or match.group(3)).strip(), match.group(2) or match.group(4)
    path = target if "." in target or "#" in target else f"#{target}"
    return f"[{text or target}]({''.join(path.split())})"
