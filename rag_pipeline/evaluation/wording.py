"""How what an answer says is compared: emphasis, quotation marks, white space, case and width aside."""

import unicodedata

from rag_pipeline.query.answering.supporting import folded, stands_in


def says(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase, without cutting into a word or a number at its ends."""
    return stands_in(_plain(phrase), _plain(text))


def _plain(text: str) -> str:
    # Marks of direction, joiners and blanks of no width are for the eye, and could hide a word.
    shown = "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one) != "Cf")
    return folded(shown)
