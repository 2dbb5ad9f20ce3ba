"""LaTeX sources, with what docling's reader drops or displaces written so that it stays."""

import re
from dataclasses import replace
from typing import Final

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.trees.formats import convert_tree

# Code and formulas, where the same characters mean something else, and comments.
_UNTOUCHED: Final = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|equation\*?|align\*?|gather\*?|multline\*?|eqnarray\*?"
    r"|displaymath|math|tikzpicture)\}.*?\\end\{\1\}|\\verb\*?([^\w\s]).*?\2|\$\$.*?\$\$|(?<!\\)\$[^$\n]*(?:\n[^$\n]+)*\$"
    r"|\\\[.*?\\\]|\\\(.*?\\\)|(?<!\\)%[^\n]*",
    re.DOTALL,
)
_TYPOGRAPHY: Final = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"))
_GROUP: Final = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
_HREF: Final = re.compile(rf"\\href\s*{_GROUP}\s*{_GROUP}")
_URL: Final = re.compile(rf"\\url\s*{_GROUP}")
_FOOTNOTE: Final = re.compile(rf"\\footnote\s*(?:\[[^\]]*\])?\s*{_GROUP}")
_SPAN: Final = re.compile(rf"\\multicolumn\s*\{{\s*(\d{{1,2}})\s*\}}\s*{_GROUP}\s*{_GROUP}")
_ROW_SPAN: Final = re.compile(rf"\\multirow\s*(?:\[[^\]]*\])?\s*{_GROUP}\s*(?:\*|{_GROUP})\s*{_GROUP}")
_RULE: Final = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule)\b|\\c(?:mid)?line\s*(?:\([^)]*\))?\s*\{[^}]*\}"
)
_LAST_ROW_END: Final = re.compile(r"\\\\\s*(?=\\end\{(?:tabular|longtable|tabularx|tabulary|array))")
# Stands for an ampersand that divides no cells; one character for one, so that places stay true.
_AMPERSAND: Final = "\ue000"
_ESCAPED: Final = re.compile(r"\\([%#&_~])")


def convert_latex(data: bytes) -> NormalizedDocument:
    """Read a source. Files that it includes are not read."""
    decoded = decode(data)
    document = convert_tree(_prepared(decoded.text).encode("utf-8", "replace"), types.LATEX)
    return replace(
        document,
        markdown=document.markdown.replace(_AMPERSAND, "&"),
        warnings=tuple(dict.fromkeys((*decoded.warnings, *document.warnings))),
        decisions=(decoded.decision,),
    )


def _prepared(text: str) -> str:
    parts: list[str] = []
    at = 0
    for match in _UNTOUCHED.finditer(text):
        parts += (_rewritten(text[at : match.start()]), match.group())
        at = match.end()
    return "".join([*parts, _rewritten(text[at:])])


def _rewritten(text: str) -> str:
    """A stretch of plain source whose links, notes, spanning cells and typography survive the reading."""
    text = _HREF.sub(lambda match: f"[{match.group(2)}]({_address(match.group(1))})", text)
    text = _URL.sub(lambda match: _address(match.group(1)), text)
    text = _FOOTNOTE.sub(r" (\1)", text)
    text = _LAST_ROW_END.sub("", _RULE.sub("", text)).replace("\\&", _AMPERSAND)
    text = _ROW_SPAN.sub(r"\3", text)
    text = _SPAN.sub(lambda match: match.group(3) + " &" * (int(match.group(1)) - 1), text)
    for written, meant in _TYPOGRAPHY:
        text = text.replace(written, meant)
    return text


def _address(written: str) -> str:
    """A link's address, whose special characters LaTeX may want escaped, safe from being read as LaTeX."""
    return re.sub(r"([%#&_~])", r"\\\1", _ESCAPED.sub(r"\1", written).strip())
