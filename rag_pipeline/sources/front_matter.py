"""Front matter: the YAML between two lines of dashes at the top of a Markdown-like text."""

import re

from rag_pipeline.sources.strict_yaml import StrictYamlError, load_text

# Four bytes a character at most, so what lies within a listing's head of 64 KiB and what the whole text
# shows are the same.
MAX_FRONT_MATTER_CHARS = 16_000

_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$\n?", re.MULTILINE)
_ACCESS_LINE = re.compile(r"""^["']?access_groups["']?\s*:""", re.MULTILINE)


class FrontMatterError(ValueError):
    """The front matter cannot be read although it says who may see the document."""


def split_front_matter(text: str) -> tuple[dict[str, object] | None, int]:
    """The front matter's fields and the offset at which the body starts; (None, 0) where there is none.

    Scalars stay the text that was written. What cannot be read as a YAML mapping is body text, as other
    tools see it, unless it speaks of access groups: then FrontMatterError, since nobody may see more
    because of a typing slip.
    """
    window = text[:MAX_FRONT_MATTER_CHARS]
    opening = _OPENING.match(window)
    if not opening:
        return None, 0
    closing = _CLOSING.search(window, opening.end())
    if not closing:
        _refuse_unclosed(window[opening.end() :], truncated=len(text) > len(window))
        return None, 0
    block = window[opening.end() : closing.start()]
    governs_access = "access_groups" in block
    try:
        fields = load_text(block, unique_keys=governs_access)
    except StrictYamlError as error:
        if governs_access:
            raise FrontMatterError(f"the front matter holds access_groups, but {error}") from None
        return None, 0
    if fields is None and not block.strip():
        return {}, closing.end()
    if not isinstance(fields, dict):  # also None: headings between two rules are comments to YAML
        return None, 0
    return {key: value for key, value in fields.items() if isinstance(key, str)}, closing.end()


def _refuse_unclosed(block: str, *, truncated: bool) -> None:
    """Text may begin with a dashed line for other reasons; only what would hide access groups is refused."""
    if _ACCESS_LINE.search(block):
        raise FrontMatterError("the front matter holds access_groups, but no line of dashes closes it")
    if not truncated:
        return
    try:
        fields = load_text(block[: block.rfind("\n") + 1], unique_keys=False)
    except StrictYamlError:
        return
    if isinstance(fields, dict):
        raise FrontMatterError(f"the front matter is longer than {MAX_FRONT_MATTER_CHARS} characters")
