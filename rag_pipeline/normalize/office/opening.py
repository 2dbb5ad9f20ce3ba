"""Office files that must be opened before they can be read: encrypted ones, and those from before 2007."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.normalize import mime_types as types
from rag_pipeline.normalize.detecting import detect
from rag_pipeline.normalize.office.encrypted import decrypted, is_encrypted_legacy
from rag_pipeline.normalize.office.legacy import saved_anew


@dataclass(frozen=True, slots=True)
class ModernFile:
    """A file that can be read as it is, and the `decisions` that made it so."""

    data: bytes
    mime_type: str
    decisions: tuple[str, ...] = ()


def modern_office(data: bytes, mime_type: str, name: str, passwords: Sequence[str]) -> ModernFile:
    """Open an encrypted Office file by one of `passwords`, save a legacy one anew; leave others as they are.

    Raises DocumentError where no password fits, or LibreOffice is needed and missing or cannot read the file.
    """
    decisions: list[str] = []
    legacy = mime_type in types.LEGACY_OFFICE
    if mime_type == types.ENCRYPTED_OFFICE or (legacy and is_encrypted_legacy(data)):
        data = decrypted(data, passwords)
        mime_type = detect(data, name).mime_type
        decisions.append("decrypted")
    if mime_type in types.LEGACY_OFFICE:
        data, mime_type = saved_anew(data, mime_type)
        decisions.append("saved in a modern format by LibreOffice")
    return ModernFile(data, mime_type, tuple(decisions))
