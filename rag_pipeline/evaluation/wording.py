"""How words are compared: wherever lines break, in whatever case and form of characters."""

import unicodedata


def plain(text: str) -> str:
    """A text in composed characters, with single blanks between its words."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def holds(text: str, words: str) -> bool:
    """Whether a text holds these words, white space aside."""
    return plain(words) in plain(text)


def says(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase, white space, case and width of characters aside."""
    return _folded(phrase) in _folded(text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
