"""Links and e-mail addresses in a text, found wherever a reader's program might make one clickable."""

import re
from functools import lru_cache

from rag_pipeline.embedding.text import valid_text
from rag_pipeline.query.scripts import HAN

# Starts are anchored and runs kept whole, so that no text is read again from each of its places.
# Han characters are none of a link: they stand right beside it.
_LETTER = rf"[^\W_{HAN}]"
_EMAIL_PART = rf"(?:{_LETTER}|[_+-])"
_EMAIL = rf"(?<!{_LETTER})(?<![_.．+-])(?:{_EMAIL_PART}|[.．])++@{_EMAIL_PART}++(?:[.．]{_EMAIL_PART}++)++"
# Bare names are links only with these endings: others are files, versions and missing spaces far more often.
_ENDINGS = (
    "com|net|org|info|biz|io|ai|app|dev|xyz|site|online|shop|top|club|store|tech|cloud|link|live|edu|gov|mil|"
    "example|invalid|onion|zip|mov|page|news|blog|рф|"
    "a[cdefgilmoqrstuwxz]|b[abdefghijmnorstvwyz]|c[acdfghiklmnoruvwxyz]|d[ejkmoz]|e[ceghrstu]|f[ijkmor]"
    "|g[abdefghilmnpqrstuwy]|h[kmnrtu]|i[delmnoqrst]|j[emop]|k[eghimnprwyz]|l[abcikrstuvy]"
    "|m[acdeghklmnopqrstuvwxyz]|n[acefgilopruz]|om|p[aefghklmnrstwy]|qa|r[eosuw]|s[abcdeghijklmnorstuvxyz]"
    "|t[cdfghjklmnortvwz]|u[agksyz]|v[aceginu]|w[fs]|y[et]|z[amw]"
)
_STOP = r"\s<>\"'“”‘’`|，。；：、！？（）《》【】「」"
_LINK = re.compile(
    rf"(?P<email>(?:mailto:)?{_EMAIL})"
    rf"|(?P<address>(?<![a-z0-9])[a-z][a-z0-9+.-]{{1,20}}://[^{_STOP}]+"
    rf"|(?<![a-z0-9])(?:javascript|data|vbscript|file|tel|sms):[^{_STOP}]+)"
    rf"|(?P<www>(?<![a-z0-9])www[.．][^{_STOP}]+)"
    rf"|\]\(\s*<?(?P<target>[^\s)>]+)"
    rf"|(?<![a-z0-9])(?:href|src|action)\s*=\s*[\"']?(?P<attribute>[^\s\"'>]+)"
    rf"|(?P<bare>(?<!{_LETTER})(?<![_@.．-])(?:{_LETTER}(?:{_LETTER}|-)*+[.．])+(?:(?:{_ENDINGS})(?!{_LETTER}|[_-]"
    rf"|[.．]{_LETTER})(?:[/:?#][^{_STOP}]*)?|[a-z]{{2,24}}/[^{_STOP}]+))",
    re.IGNORECASE,
)
_CLOSING = ".,;:!?*_~]/"
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]\n]*+)\]\(\s*+<?([^\s)>\[]++)>?(?:\s++[\"'][^)\n\[]*+)?\)")
_EMPTY_BRACKETS = re.compile(r"(?<!\s)\s*+(?:\(\s*+\)|\[\s*+\]|<\s*+>|（\s*+）)")


@lru_cache(maxsize=2_048)
def links(text: str) -> frozenset[str]:
    """The links and e-mail addresses of a text in lower case, without scheme and closing punctuation."""
    return frozenset(_plain(_link_in(match)) for match in _LINK.finditer(valid_text(text)))


def without_links(text: str, unwanted: frozenset[str]) -> str:
    """The text without these links; of a Markdown link its words stay."""

    def unlinked(match: re.Match[str]) -> str:
        return match[1] if links(match[0]) & unwanted else match[0]

    def removed(match: re.Match[str]) -> str:
        link = _link_in(match)
        return link[len(_trimmed(link)) :] if _plain(link) in unwanted else match[0]

    shorter = _LINK.sub(removed, _MARKDOWN_LINK.sub(unlinked, text))
    return text if shorter == text else re.sub(r"[ \t]{2,}", " ", _EMPTY_BRACKETS.sub("", shorter)).strip()


def _link_in(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)


def _plain(link: str) -> str:
    return re.sub(r"^(?:https?://|mailto:)", "", _trimmed(link).lower().replace("．", "."))


def _trimmed(link: str) -> str:
    """A link without the punctuation and the bracket of the sentence around it."""
    unopened = link.count(")") - link.count("(")
    end = len(link)
    while end and (link[end - 1] in _CLOSING or (link[end - 1] == ")" and unopened > 0)):
        end -= 1
        unopened -= link[end] == ")"
    return link[:end]
