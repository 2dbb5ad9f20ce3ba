"""What a PDF's objects show before anything of it is drawn: forms inside themselves, content that is none.

Only streams' own dictionaries are looked at, which no PDF compresses. A parser follows a form that is drawn
inside itself until memory ends, and unpacks as much as an image says it holds.
"""

import re
from collections.abc import Iterator
from typing import Final

_BORDER: Final = re.compile(rb"obj\b|stream\b")
_NUMBER: Final = re.compile(rb"(?<![\d.])(\d{1,10})\s{1,4}\d{1,5}\s{1,4}$")
_DRAWN: Final = re.compile(rb"/Subtype\s*/Form\b|/PatternType\s+1\b|/Subtype\s*/Type3\b")
_RESOURCES: Final = re.compile(rb"/Resources\b")
_REFERENCE: Final = re.compile(rb"(?<!\d)(\d{1,10})\s+\d{1,5}\s+R\b")
_IMAGE: Final = re.compile(rb"/Subtype\s*/Image\b|/Width\b")
_IMAGE_PACKED: Final = re.compile(rb"/Filter\s*\[?\s*/(?:JBIG2|DCT|JPX|CCITTFax)Decode\b")
# A dictionary longer than this is no form's or content's.
_LONGEST: Final = 20_000


def draws_itself(data: bytes) -> bool:
    """Whether a form, pattern or font of the PDF is drawn inside itself, directly or by others."""
    if not _DRAWN.search(data):
        return False
    bodies = dict(_bodies(data))
    drawn = {number: _references(body) for number, body in bodies.items() if _DRAWN.search(body)}
    # A form may keep its resources in an object of their own.
    inner = {number: _through(references, bodies, drawn) for number, references in drawn.items()}
    return _has_cycle(inner)


def packed_as_images(data: bytes) -> int:
    """How many streams are packed as only images are, and are no images: decoded, they may be of any size."""
    if not _IMAGE_PACKED.search(data):
        return 0
    return sum(bool(_IMAGE_PACKED.search(body)) and not _IMAGE.search(body) for _, body in _bodies(data))


def _bodies(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The objects' numbers and dictionaries, as far as they are in plain sight."""
    number: bytes | None = None
    start = 0
    for border in _BORDER.finditer(data):
        if number is not None:
            yield int(number), data[start : min(border.start(), start + _LONGEST)]
        head = _NUMBER.search(data, max(border.start() - 24, 0), border.start())
        number, start = head and head[1], border.end()


def _references(body: bytes) -> set[int]:
    """What a form's resources refer to; nothing where it has none of its own."""
    resources = _RESOURCES.search(body)
    return {int(number) for number in _REFERENCE.findall(body, resources.end())} if resources else set()


def _through(references: set[int], bodies: dict[int, bytes], drawn: dict[int, set[int]]) -> set[int]:
    """The forms among references, those in dictionaries of resources included."""
    found = references & drawn.keys()
    for number in references - found:
        found |= {int(one) for one in _REFERENCE.findall(bodies.get(number, b""))} & drawn.keys()
    return found


def _has_cycle(graph: dict[int, set[int]]) -> bool:
    """Whether what is left after taking away, again and again, whatever leads nowhere is not empty."""
    users: dict[int, list[int]] = {number: [] for number in graph}
    open_ends = {number: len(inner) for number, inner in graph.items()}
    for number, inner in graph.items():
        for one in inner:
            users[one].append(number)
    ended = [number for number, count in open_ends.items() if not count]
    for number in ended:
        for user in users[number]:
            open_ends[user] -= 1
            if not open_ends[user]:
                ended.append(user)
    return len(ended) < len(graph)
