"""The documents that are indexed: corpora of the shared data, editions of their pages, generated ones."""

import os
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.figures import Skipped

PROJECT = Path(__file__).parents[1]
BENCH_CACHE = PROJECT / ".cache" / "bench"
SAMPLE_CORPUS = PROJECT / "manifests" / "sample_corpus"

_TITLE = re.compile(r"^title:[ \t]*(['\"]?)", re.MULTILINE)
_SECTIONS = 4
_WORDS_A_SECTION = 90


def data_root() -> Path:
    """The folder of real test data. Raises Skipped where it is absent."""
    root = Path(os.environ.get("RAG_TEST_DATA", PROJECT.parent / "shared" / "data"))
    if not root.is_dir():
        raise Skipped(f"test data not found at {root}; set RAG_TEST_DATA to its folder")
    return root


def handbook_pages(count: int) -> list[Path]:
    """So many of the handbook's pages, spread evenly over the whole; again and again where it has fewer."""
    pages = sorted((data_root() / "corpora" / "handbook_18f" / "pages").rglob("*.md"))
    return [pages[index * len(pages) // count] for index in range(count)]


def handbook_editions(count: int) -> Iterator[tuple[str, str]]:
    """So many of the handbook's pages as (file name, text), each under a title of its own.

    The title is embedded with every chunk, so that no two pages share a vector.
    """
    for number, page in enumerate(handbook_pages(count)):
        text = page.read_text(encoding="utf-8")
        yield f"page_{number:05}.md", _TITLE.sub(rf"title: \1Edition {number} of ", text, count=1)


def generated_pages(count: int, sections: int = _SECTIONS) -> Iterator[tuple[str, str]]:
    """So many pages of random words as (file name, text); the same ones each time."""
    for number in range(count):
        words = random.Random(number)  # noqa: S311 - nothing secret about it
        parts = (f"## Section {part}\n\n{_prose(words)}\n" for part in range(sections))
        yield f"page_{number:05}.md", "\n".join([f"# Page {number}\n", *parts])


def _prose(chance: random.Random) -> str:
    return " ".join(_sentence(chance) for _ in range(_WORDS_A_SECTION // 9))


def _sentence(chance: random.Random) -> str:
    words = [_word(chance) for _ in range(9)]
    return f"{' '.join(words).capitalize()}."


def _word(chance: random.Random, syllables: Sequence[str] = ("ka", "lo", "mi", "ren", "su", "ta")) -> str:
    return "".join(chance.choices(syllables, k=chance.randint(1, 4)))
