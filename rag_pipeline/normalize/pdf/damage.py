"""Telling whether a PDF is damaged though parsers can repair it: then some of it may be missing.

Parsers repair in silence. The signs are in the file: its end is missing, objects are not where its
table says, or compressed streams cannot be unpacked.
"""

import re
import zlib
from collections.abc import Iterator
from typing import Final

_START: Final = re.compile(rb"startxref\s+(\d{1,12})\s")
_TABLE: Final = re.compile(rb"\s*(?:xref\b|\d+\s+\d+\s+obj\b)")
_SECTION: Final = re.compile(rb"\s*(\d{1,10})\s+(\d{1,10})\s*[\r\n]+")
_ENTRY: Final = re.compile(rb"\s{0,2}(\d{10}) \d{5} ([nf])[ \r\n]{1,2}")
_STREAM: Final = re.compile(rb">>\s*stream\r?\n")
_PAGES: Final = re.compile(
    rb"/Type\s*/Pages\b[^<>]{0,2000}?/Count\s+(\d+)|/Count\s+(\d+)[^<>]{0,2000}?/Type\s*/Pages\b"
)
_ONLY_FLATE: Final = re.compile(rb"/Filter\s*\[?\s*/FlateDecode\s*(?:\]|/(?!\w*Decode\b)|>>|$)")
# A dictionary is looked for within this many bytes before its stream; so much of all is unpacked at most.
_DICTIONARY: Final = 600
_MOST_UNPACKED: Final = 50_000_000
_MOST_STREAMS: Final = 5_000
_MOST_OBJECTS: Final = 100_000


def damage_of(data: bytes, pages: int) -> str | None:
    """What is broken in a PDF in which `pages` pages were found, None where no sign of it is seen.

    Streams of encrypted PDFs are not looked into.
    """
    starts = _START.findall(data[-2048:]) or _START.findall(data)
    if not starts:
        return "its end is missing"
    table = _header(data) + int(starts[-1])
    if not _TABLE.match(data[table : table + 40]):
        return "its table of objects is not where it should be"
    if not all(_is_object(data, number, place) for number, place in _entries(data, table)):
        return "objects are not where they should be"
    counts = {int(one or other) for one, other in _PAGES.findall(data)}
    if counts and pages not in counts:
        return f"it says that it has {max(counts):,} pages, and {pages:,} were found"
    if b"/Encrypt" not in data and _broken_stream(data):
        return "parts of its content cannot be unpacked"
    return None


def _header(data: bytes) -> int:
    """Where the PDF begins in the file: other bytes may stand before it, and places count from there."""
    return max(data[:1024].find(b"%PDF-"), 0)


def _entries(data: bytes, table: int) -> Iterator[tuple[int, int]]:
    """The numbers and places of the objects that a table in text form lists, as far as it can be read."""
    section = _SECTION.match(data, data.find(b"xref", table) + 4)
    seen = 0
    while section and seen < _MOST_OBJECTS:
        first, count = int(section[1]), int(section[2])
        at = section.end()
        for number in range(first, first + min(count, _MOST_OBJECTS - seen)):
            entry = _ENTRY.match(data, at)
            if not entry:
                return
            if entry[2] == b"n" and int(entry[1]):  # some programs list unused objects at 0
                yield number, _header(data) + int(entry[1])
            at = entry.end()
        seen += count
        section = _SECTION.match(data, at)


def _is_object(data: bytes, number: int, place: int) -> bool:
    """Whether an object with that number begins at a place, or near it: places may be a line end off."""
    return (
        re.match(rb"\s*%d\s+\d+\s+obj\b" % number, data[max(place - 1, 0) : place + 30].lstrip(b"\n\r"))
        is not None
    )


def _broken_stream(data: bytes) -> bool:
    unpacked = 0
    for number, match in enumerate(_STREAM.finditer(data)):
        if unpacked > _MOST_UNPACKED or number > _MOST_STREAMS:
            return False
        dictionary = data[max(match.start() - _DICTIONARY, 0) : match.start()].rpartition(b" obj")[2]
        if not _ONLY_FLATE.search(dictionary):
            continue
        left = _MOST_UNPACKED - unpacked + 1
        try:
            # What is packed knows its own end.
            unpacked += len(zlib.decompressobj().decompress(memoryview(data)[match.end() :], left))
        except zlib.error as error:
            # Many programs write wrong checksums, which matter to nobody.
            if "incorrect data check" not in str(error):
                return True
    return False
