"""Finding a quote in a text. White space does not count: conversion and line breaks move it about."""

import unicodedata


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """The first place of a quote in a converted text, as (start, end); None where it does not stand there."""
    wanted = without_space(quote)
    at = without_space(text).find(wanted) if wanted else -1
    if at < 0:
        return None
    places = [place for place, character in enumerate(text) if not character.isspace()]
    return places[at], places[at + len(wanted) - 1] + 1


def holds_quote(text: str, quote: str) -> bool:
    """Whether a quote stands in a text; one that is only white space stands nowhere."""
    wanted = without_space(quote)
    return bool(wanted) and wanted in without_space(text)


def without_space(text: str) -> str:
    """A text without any white space, its characters composed, which conversion does too."""
    return "".join(unicodedata.normalize("NFC", text).split())
