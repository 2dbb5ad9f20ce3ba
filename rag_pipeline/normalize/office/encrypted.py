"""Office files that need a password."""

import io
import zipfile
from collections.abc import Sequence
from typing import Any, Final

from rag_pipeline.errors import DocumentError, FailureCategory

# Excel encrypts workbooks that are only protected against changes with this password, and opens them unasked.
_NO_SECRET: Final = "VelvetSweatshop"  # noqa: S105 - known to everybody


def is_encrypted_legacy(data: bytes) -> bool:
    """Whether a file in an Office format from before 2007 needs a password."""
    try:
        return bool(_office_file(data).is_encrypted())
    except Exception:  # noqa: BLE001 - a parser of damaged files; whoever reads the file says what is wrong
        return False


def decrypted(data: bytes, passwords: Sequence[str]) -> bytes:
    """An encrypted Office file as it was before, by the first of `passwords` that fits.

    Raises DocumentError (ENCRYPTED) where none does.
    """
    for password in (_NO_SECRET, *passwords):
        if (content := _opened_with(data, password)) is not None:
            return content
    if passwords:
        reason = "none of the passwords from `parsing.password_env` opens it. Correct the variable's value"
    else:
        reason = "put its password into an environment variable and name that in `parsing.password_env`"
    raise DocumentError(
        FailureCategory.ENCRYPTED,
        f"The Office document is encrypted: {reason}, or save the document without a password.",
    )


def _opened_with(data: bytes, password: str) -> bytes | None:
    output = io.BytesIO()
    try:
        office_file = _office_file(data)
        office_file.load_key(password=password)
        office_file.decrypt(output)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a wrong password shows as errors of many kinds in what it decrypts
        return None
    content = output.getvalue()
    # Not every encryption tells a wrong password; what comes out does.
    modern = office_file.format == "ooxml"
    return None if modern and not zipfile.is_zipfile(io.BytesIO(content)) else content


def _office_file(data: bytes) -> Any:
    import msoffcrypto

    return msoffcrypto.OfficeFile(io.BytesIO(data))
