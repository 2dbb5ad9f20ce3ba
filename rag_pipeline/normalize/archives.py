"""Limits on zip-based documents, checked from the directory before anything is unpacked."""

import io
import zipfile
import zlib
from typing import Final

from rag_pipeline.errors import DocumentError, FailureCategory

_MAX_MEMBERS: Final = 10_000
_MAX_TOTAL: Final = 512 * 1024 * 1024
_MAX_MEMBER: Final = 128 * 1024 * 1024
# Office XML shrinks about tenfold, tables of repeated values fiftyfold; a bomb a thousandfold.
_MAX_RATIO: Final = 200
# Small members may be anything: an empty spreadsheet column compresses without limit and harms nobody.
_RATIO_MATTERS_FROM: Final = 8 * 1024 * 1024
# A declaration stands before the root element. A comment before that may be long, but no program writes one.
_XML_HEAD: Final = 65_536
_MAX_DEPTH: Final = 2
_MAX_INNER: Final = 16 * 1024 * 1024


def check_archive(data: bytes) -> None:
    """Refuse a zip-based document that unpacks to too much, is broken, encrypted, or declares XML entities.

    The directory's sizes are trusted only as far as a reader does: zipfile stops a member at its stated size.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_sizes(members)
            for member in members:
                if member.flag_bits & 0x1:
                    raise DocumentError(
                        FailureCategory.ENCRYPTED,
                        "The document's parts are encrypted. Save it without a password.",
                    )
                if member.filename.endswith((".xml", ".rels")):
                    _check_xml(archive, member)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError) as error:
        raise DocumentError(
            FailureCategory.CORRUPT,
            f"The file is damaged: its zip structure cannot be read ({error}). Upload it again.",
        ) from error


def check_bomb(data: bytes) -> None:
    """Raise DocumentError (OVER_LIMIT) for a zip archive that is made to overload whoever unpacks it.

    Archives are not read, but a bomb is worth another message. What is no zip archive passes.
    """
    try:
        _check_levels(data, _MAX_DEPTH)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError, RuntimeError):
        return


def _check_levels(data: bytes, levels: int) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        _check_sizes(members)
        inner = [member for member in members if member.filename.lower().endswith(".zip")]
        if inner and not levels:
            raise _over(f"archives are nested in it more than {_MAX_DEPTH} deep")
        # The largest shows it: a bomb multiplies by repeating one archive.
        for member in sorted(inner, key=lambda member: member.file_size)[-1:]:
            with archive.open(member) as part:
                _check_levels(part.read(_MAX_INNER), levels - 1)


def _check_sizes(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > _MAX_MEMBERS:
        raise _over(f"it holds {len(members)} parts; {_MAX_MEMBERS} are allowed")
    total = sum(member.file_size for member in members)
    largest = max((member.file_size for member in members), default=0)
    if total > _MAX_TOTAL or largest > _MAX_MEMBER:
        raise _over(
            f"it would unpack to {total:,} bytes; {_MAX_TOTAL:,} are allowed, {_MAX_MEMBER:,} for one part"
        )
    for member in members:
        if member.file_size > max(_RATIO_MATTERS_FROM, member.compress_size * _MAX_RATIO):
            raise _over(f"its part {member.filename!r} would unpack to more than {_MAX_RATIO} times its size")


def _check_xml(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    with archive.open(member) as part:
        # Without zero bytes UTF-16 reads as ASCII.
        if b"<!ENTITY" in part.read(_XML_HEAD).replace(b"\0", b""):
            raise DocumentError(
                FailureCategory.CORRUPT,
                f"Its part {member.filename!r} declares XML entities, which no office program writes; "
                "they are never expanded. Save the document anew.",
            )


def _over(what: str) -> DocumentError:
    return DocumentError(FailureCategory.OVER_LIMIT, f"The document is too large when unpacked: {what}.")
