"""Patterns mean what they mean to the standard library, and no pattern is slow."""

import glob as standard_glob
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.sources.globs import Glob


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("forest")
    folders = ["", "a/", "b/", ".h/"]
    for first in folders:
        for second in folders:
            (root / first / second).mkdir(parents=True, exist_ok=True)
            for name in ("a.md", "ab", ".x"):
                (root / first / second / name).touch()
    return root


parts = st.sampled_from(["**", "*", "a", "a*", "?", ".h", ".*", "[ab]", "[!a]*", "*.md", "ab", "**", "a**b"])


@settings(max_examples=200)
@given(pattern=st.lists(parts, min_size=1, max_size=5).map("/".join), hidden=st.booleans())
def test_patterns_mean_what_they_mean_to_the_standard_library(
    forest: Path, pattern: str, hidden: bool
) -> None:
    everything = [f.relative_to(forest).parts for f in forest.rglob("*") if f.is_file()]
    found = standard_glob.glob(pattern, root_dir=forest, recursive=True, include_hidden=hidden)  # noqa: PTH207
    expected = {tuple(p.split("/")) for p in found if (forest / p).is_file() and not p.endswith("/")}
    ours = Glob(pattern, hidden=hidden)

    assert {names for names in everything if ours.matches(names)} == expected
    for names in everything:
        for depth in range(1, len(names)):
            if ours.matches(names):
                assert ours.may_match_below(names[:depth])
            if ours.matches_all_below(names[:depth]):
                assert ours.matches(names)


def test_a_pattern_cannot_make_matching_slow() -> None:
    names = ["a"] * 200
    assert not Glob("/".join(["**", "a"] * 40 + ["b"]), hidden=True).matches(names)
    assert not Glob("*a" * 40 + "b", hidden=True).matches(["a" * 300])
