"""What a text is about: its content words, reduced so that the same things have the same terms."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Final

from rag_pipeline.query.conflicts.glossary import CONCEPTS, CONTRASTS, EMPTY_CHINESE, EMPTY_ENGLISH, RELATED
from rag_pipeline.query.scripts import HAN

_TOKEN = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+){0,3}|\d{1,6}[A-Za-z]{1,20}\d{0,6}"
    rf"|[{HAN}]+"
)
_CHINESE = re.compile(f"[{HAN}]")
_NUMBERED = re.compile(r"\b([A-Za-z]{2,})[ ](\d{1,4})\b(?![.,]\d|[ ]?%)")
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_NOUN_ENDINGS = (("ision", "id"), ("ation", ""), ("ment", ""), ("ion", ""))
_LONGEST_CHINESE_WORD = 5
_LONGEST_RUN = 400
# The same headings and sentences are asked about for each of their values.
_CACHED_TEXTS = 512
_EMPTY: Final = frozenset(EMPTY_ENGLISH.split())
_RELATED_COUNTS: Final = 0.7

MEASURES: Final = frozenset(
    ("°C", "mm", "cm", "km", "m", "kg", "g", "kWh", "kW", "V", "W", "A", "GB", "MB", "KB", "TB", "ms")
)
"""Units of measures. What they measure has other words."""


@dataclass(frozen=True, slots=True)
class Term:
    """A content word. `parts` are what a text must have to have it: itself, or a Chinese run's pairs.

    A name is a word that is not of the everyday ones: with a capital or figures, or a Chinese run that is in
    no list. Translatable is what the glossary has.
    """

    key: str
    parts: tuple[str, ...]
    is_name: bool
    translatable: bool


def stem(word: str) -> str:
    """An English word without its ending: cancel, cancels, cancelled and cancelling are one."""
    word = word.lower()
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    else:
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
                word = word[: -len(ending)]
                break
    for ending, verb in _NOUN_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + verb
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" else word


@lru_cache(maxsize=_CACHED_TEXTS)
def terms(text: str) -> tuple[Term, ...]:
    """The content words of a text in order, repeated ones included."""
    found: list[Term] = []
    sentence_start = True
    end = 0
    split_phrases = {
        match.start(): concept for pattern, concept in _SPLIT_PHRASES for match in pattern.finditer(text)
    }
    for match in _PHRASE_OR_TOKEN.finditer(text):
        sentence_start = sentence_start or bool(_SENTENCE_BREAK.search(text, end, match.start()))
        end = match.end()
        if _CHINESE.match(match[0]):
            for begin in range(0, len(match[0]), _LONGEST_RUN):
                found += _chinese_terms(match[0][begin : begin + _LONGEST_RUN])
        elif concept := split_phrases.get(match.start()):
            found.append(Term(concept, (concept,), is_name=False, translatable=True))
        elif term := _english_term(match[0], sentence_start):
            found.append(term)
        sentence_start = False
    return tuple(found)


@lru_cache(maxsize=_CACHED_TEXTS)
def term_parts(text: str) -> frozenset[str]:
    """All that a text has of terms, to look others' up in: concepts, stems and the pairs of Chinese runs."""
    return frozenset(part for term in terms(text) for part in (term.key, *term.parts))


def numbered(text: str) -> Mapping[str, frozenset[str]]:
    """The things that are told apart by a number behind them, with their numbers: lift 3 and lift 4."""
    found: dict[str, frozenset[str]] = {}
    for word, number in _NUMBERED.findall(text):
        if word.lower() not in _EMPTY:
            found[stem(word)] = found.get(stem(word), frozenset()) | {number}
    return found


def excludes(one: str, other: str) -> bool:
    """Whether two concepts exclude each other."""
    return one != other and bool(_CONTRASTS.get(one, frozenset()) & _CONTRASTS.get(other, frozenset()))


def share_found(term: Term, parts: frozenset[str]) -> float:
    """How much of a term a text has, by the text's parts; less than all where it has a related one only."""
    exact = sum(part in parts for part in term.parts) / len(term.parts)
    return max(exact, _RELATED_COUNTS) if _RELATED.get(term.key, frozenset()) & parts else exact


def has_contrast(concept: str) -> bool:
    """Whether a concept is one of several that exclude each other."""
    return concept in _CONTRASTS


def noun_of(phrase: str, *, singular: bool) -> tuple[str, str]:
    """What is counted, of the words after a number, and the words up to it; empty where they name nothing."""
    if _CHINESE.match(phrase):
        return _chinese_noun(phrase), phrase
    words = list(takewhile(lambda word: word.lower() not in _EMPTY, phrase.split()))
    for count, word in enumerate(words, start=1):
        is_noun = count == len(words) if singular else _is_plural(word)
        if is_noun:
            return _WORDS.get(stem(word), stem(word)), " ".join(words[:count])
    return "", ""


def is_measure(unit: str) -> bool:
    """Whether a unit measures something, rather than naming what is counted."""
    return unit in MEASURES


def _is_plural(word: str) -> bool:
    return word.lower() in _PLURALS or (word.endswith("s") and not word.endswith("ss"))


def _english_term(word: str, sentence_start: bool) -> Term | None:
    lowered = word.lower()
    if lowered in _EMPTY:
        return None
    stemmed = stem(word)
    concept = _WORDS.get(lowered) or _WORDS.get(stemmed)
    has_figure = any(character.isdigit() for character in word)
    if len(word) < 2:
        return None
    capital = word[0].isupper() and not sentence_start
    key = concept or stemmed
    is_name = has_figure or (capital and concept is None)
    return Term(key, (key,), is_name, translatable=concept is not None)


def _chinese_terms(run: str) -> Iterator[Term]:
    """Known words by the longest match; what is left between them as runs of their own."""
    start = position = 0
    while position < len(run):
        for length in range(min(_LONGEST_CHINESE_WORD, len(run) - position), 0, -1):
            word = run[position : position + length]
            if word in _CHINESE_WORDS:
                yield from _unknown_run(run[start:position])
                if concept := _CHINESE_WORDS[word]:
                    yield Term(concept, (concept,), is_name=False, translatable=True)
                position += length
                start = position
                break
        else:
            position += 1
    yield from _unknown_run(run[start:])


def _unknown_run(run: str) -> Iterator[Term]:
    if len(run) > 1:
        pairs = tuple(run[index : index + 2] for index in range(len(run) - 1))
        yield Term(run, pairs, is_name=True, translatable=False)


def _chinese_noun(phrase: str) -> str:
    for term in _chinese_terms(phrase[1:]):
        return term.key
    return "person" if phrase[0] in "名位人" else phrase[0]


def _read_concepts() -> tuple[dict[str, str], dict[str, str]]:
    english: dict[str, str] = {}
    chinese: dict[str, str] = dict.fromkeys(EMPTY_CHINESE.split(), "")
    for line in CONCEPTS.strip().splitlines():
        name, _, words = line.partition(":")
        in_english, _, in_chinese = words.partition("|")
        for word in filter(None, map(str.strip, in_english.split(","))):
            english.setdefault(word, name)
            if " " not in word and "…" not in word:
                english.setdefault(stem(word), name)
        for word in filter(None, map(str.strip, in_chinese.split(","))):
            chinese[word] = name
    return english, chinese


def _read_contrasts() -> Mapping[str, frozenset[int]]:
    groups: dict[str, frozenset[int]] = {}
    for number, line in enumerate(CONTRASTS):
        for concept in line.split():
            groups[concept] = groups.get(concept, frozenset()) | {number}
    return groups


def _read_related() -> Mapping[str, frozenset[str]]:
    groups: dict[str, frozenset[str]] = {}
    for line in RELATED:
        concepts = frozenset(line.split())
        for concept in concepts:
            groups[concept] = groups.get(concept, frozenset()) | concepts - {concept}
    return groups


_WORDS, _CHINESE_WORDS = _read_concepts()
_CONTRASTS = _read_contrasts()
_RELATED = _read_related()
_PLURALS: Final = frozenset({"people", "children", "men", "women"})
_PHRASES = sorted((word for word in _WORDS if " " in word), key=len, reverse=True)
_SPLIT_PHRASES = [
    (re.compile(rf"\b{first}(?:s|ing)?(?=(?:[ ]\w+){{0,4}}[ ]{last}\b)", re.IGNORECASE), concept)
    for word, concept in _WORDS.items()
    if "…" in word
    for first, last in [word.split("…")]
]
_PHRASE_OR_TOKEN = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, _PHRASES))})s?\b|{_TOKEN.pattern}", re.IGNORECASE
)
_SENTENCE_BREAK = re.compile(r"[.!?:：。！？\n|*>#(\"“]")
