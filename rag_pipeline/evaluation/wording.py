"""How what an answer says is compared: white space, case and the width of characters aside."""

import unicodedata


def says(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase."""
    return _folded(phrase) in _folded(text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
