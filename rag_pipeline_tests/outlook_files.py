"""Outlook mails as tests need them: a compound file with the properties of a message, and nothing else."""

import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

_SECTOR, _SMALL, _ENTRY = 512, 64, 128
_FOLDER, _STREAM, _ROOT = 1, 2, 5
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_TEXT, _NUMBER, _TIME = 0x001F, 0x0003, 0x0040


@dataclass
class _Storage:
    """A folder of a compound file: streams and folders by name."""

    streams: dict[str, bytes] = field(default_factory=dict)
    folders: dict[str, "_Storage"] = field(default_factory=dict)


def outlook_mail(
    texts: dict[int, str],
    *,
    sent: datetime,
    recipients: list[tuple[str, str, int]],
    attachments: list[tuple[str, str]],
) -> bytes:
    """A message of texts by property; recipients by name, address and kind, files by name and type."""
    root = _properties(texts, header=32, sent=sent)
    for number, (name, address, kind) in enumerate(recipients):
        held = _properties({0x3001: name, 0x39FE: address}, header=8, kind=kind)
        root.folders[f"__recip_version1.0_#{number:08X}"] = held
    for number, (name, mime_type) in enumerate(attachments):
        held = _properties({0x3707: name, 0x370E: mime_type}, header=8)
        root.folders[f"__attach_version1.0_#{number:08X}"] = held
    return _compound_file(root)


def _properties(
    texts: dict[int, str], *, header: int, sent: datetime | None = None, kind: int | None = None
) -> _Storage:
    storage = _Storage()
    entries = b""
    for number, text in texts.items():
        data = text.encode("utf-16-le")
        storage.streams[f"__substg1.0_{number:04X}{_TEXT:04X}"] = data
        entries += struct.pack("<HHIII", _TEXT, number, 6, len(data) + 2, 0)
    if sent is not None:
        ticks = int((sent - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds() * 10_000_000)
        entries += struct.pack("<HHIQ", _TIME, 0x0039, 6, ticks)
    if kind is not None:
        entries += struct.pack("<HHIII", _NUMBER, 0x0C15, 6, kind, 0)
    storage.streams["__properties_version1.0"] = bytes(header) + entries
    return storage


def _compound_file(root: _Storage) -> bytes:
    """The file's sectors: its allocation table, the directory, the table of the small streams, and those."""
    entries: list[tuple[str, int, bytes]] = []
    following: dict[int, int] = {}
    first_child: dict[int, int] = {}

    def add(name: str, kind: int, data: bytes = b"") -> int:
        entries.append((name, kind, data))
        return len(entries) - 1

    def fill(number: int, storage: _Storage) -> None:
        children = [add(name, _STREAM, data) for name, data in storage.streams.items()]
        for name, folder in storage.folders.items():
            children.append(add(name, _FOLDER))
            fill(children[-1], folder)
        following.update(pairwise(children))
        first_child[number] = children[0]

    fill(add("Root Entry", _ROOT), root)
    small = b""
    small_chain: list[int] = []
    directory = b""
    sectors_of_directory = -(-len(entries) * _ENTRY // _SECTOR)
    first_small = 2 + sectors_of_directory
    for number, (name, kind, data) in enumerate(entries):
        start, size = len(small_chain), len(data)
        count = -(-size // _SMALL)
        small_chain += [*range(start + 1, start + count), *[_END] * bool(count)]
        small += data.ljust(count * _SMALL, b"\0")
        if kind == _ROOT:
            start, size = first_small, sum(-(-len(part) // _SMALL) * _SMALL for _, _, part in entries)
        written = name.encode("utf-16-le") + b"\0\0"
        links = (_FREE, following.get(number, _FREE), first_child.get(number, _FREE))
        directory += struct.pack(
            "<64sHBBIII16sIQQIQ", written, len(written), kind, 1, *links, b"", 0, 0, 0, start, size
        )
    chain = [
        _FAT,
        *_chained(1, sectors_of_directory),
        _END,
        *_chained(first_small, -(-len(small) // _SECTOR)),
    ]
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII109I",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"",
        0, 1, 1, 0, 4096, first_small - 1, 1, _END, 0, 0, *[_FREE] * 108,
    )  # fmt: skip
    return header + _table(chain) + _padded(directory) + _table(small_chain) + _padded(small)


def _chained(first: int, count: int) -> list[int]:
    return [*range(first + 1, first + count), _END]


def _table(chain: list[int]) -> bytes:
    assert len(chain) <= _SECTOR // 4, "one sector holds no more"
    return struct.pack(f"<{_SECTOR // 4}I", *chain, *[_FREE] * (_SECTOR // 4 - len(chain)))


def _padded(data: bytes) -> bytes:
    return data.ljust(-(-len(data) // _SECTOR) * _SECTOR, b"\0")
