"""Where sentences end, in Latin and in CJK text."""

import re

# Everything that may end a sentence, with the quotes and brackets closed right after it and the white space
# behind. Possessive and without look-ahead, so that long runs of dots cost linear time.
_CLOSERS = r"""["'”’»›」』）》】〕〉\)\]*_`]*+"""
_BORDER = re.compile(
    rf"(?P<wide>[。！？；｡।॥؟۔]++[。！？!?]*+{_CLOSERS}\s*+)"
    rf"|(?P<dots>[.!?]++)(?P<closed>{_CLOSERS})(?P<space>\s*+)"
    r"|(?P<blank>\n[ \t]*+\n\s*+)"
    r"|(?P<item>\n(?=[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]))"
)

# Abbreviations that a capital letter or a number often follows. Others need no list: before a lower-case
# letter no dot ends a sentence.
_BEFORE_NAMES = re.compile(
    r"mrs?|ms|dr|prof|[sj]r|st|mt|ft|gen|gov|rep|sen|rev|hon|capt|lt|col|sgt|vs|cf|al|ca|approx|dept|est|inc|ltd"
    r"|co|corp|eds?|bzw|ggf|vgl|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec",
    re.IGNORECASE,
)
_BEFORE_NUMBERS = re.compile(r"nos?|nr|figs?|eqs?|sec|chap|ch|vol|art|pp?|pt|para|tab|ver|v", re.IGNORECASE)
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_ORDINAL = re.compile(r"\d{1,2}")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_LAST_WORD = re.compile(r"[\w.]+\Z")
_LONGEST_WORD = 16


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The sentences as (start, end), in order and without gaps: white space belongs to the sentence before.

    A blank line and the start of a list item end a sentence too. No span is only white space unless all of
    `text` is.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BORDER.finditer(text):
        end = match.end()
        if end == len(text):
            break
        if match["dots"] and not _ends_sentence(text, start, match):
            continue
        if text[start:end].isspace():
            continue
        spans.append((start, end))
        start = end
    if start < len(text):
        if spans and text[start:].isspace():
            spans[-1] = (spans[-1][0], len(text))
        else:
            spans.append((start, len(text)))
    return spans


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    following = text[match.end()]
    if not match["space"]:
        # "3.14", "example.com" and "a?b=c" go on; "OK!好的" does not.
        return _is_cjk(following) and match["dots"][-1] in "!?"
    if following.islower():
        return False
    if match["dots"] != "." or match["closed"]:
        return True
    dot = match.start()
    word_match = _LAST_WORD.search(text, max(start, dot - _LONGEST_WORD), dot)
    word = word_match[0] if word_match else ""
    if _ORDINAL.fullmatch(word) or _INITIALS.fullmatch(word):
        return False
    if _NUMBER.fullmatch(word) and not text[start : dot - len(word)].strip():
        return False
    if _BEFORE_NAMES.fullmatch(word):
        return False
    return not (following.isdigit() and _BEFORE_NUMBERS.fullmatch(word))


def _is_cjk(character: str) -> bool:
    return "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3"
