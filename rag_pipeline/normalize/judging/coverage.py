"""Holding what was made of a PDF against its text layer: nothing may be lost without being reported."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

# Below this share of the text layer in the output, a reader has to be told.
LEAST_COVERAGE: Final = 0.95
# Below this, what was made is no more than a part of the document.
LEAST_USABLE: Final = 0.5


def coverage(layer: Iterable[str], output: str, removed: Iterable[str] = ()) -> float:
    """Which share of a text layer's letters and digits is in the output or among what was removed, 0 to 1.

    Characters are counted, not placed, so that a new order loses none. Signs are left out: hyphens at line
    ends, bullets and leaders are changed on purpose.
    """
    stored = _characters(layer)
    total = stored.total()
    if not total:
        return 1.0
    kept = _characters([output, *removed])
    return (stored & kept).total() / total


def _characters(texts: Iterable[str]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update(text)
    return Counter({char: count for char, count in counted.items() if char.isalnum()})
