"""The forms in which a password may have been given to the program that encrypted a document."""

import stringprep
import unicodedata
from collections.abc import Iterable


def password_forms(passwords: Iterable[str]) -> tuple[str, ...]:
    """Each password as it is and as SASLprep (RFC 4013) writes it, which AES-256 in PDFs asks for."""
    return tuple(dict.fromkeys(form for password in passwords for form in (password, _prepared(password))))


def _prepared(password: str) -> str:
    mapped = (
        " " if stringprep.in_table_c12(char) else char
        for char in password
        if not stringprep.in_table_b1(char)
    )
    return unicodedata.normalize("NFKC", "".join(mapped))
