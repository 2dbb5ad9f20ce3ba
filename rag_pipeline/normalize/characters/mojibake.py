"""UTF-8 that somebody read as Windows-1252 and saved again: "cafÃ©" for "café"."""

import re
from typing import Final

# Windows-1252 leaves five bytes undefined; programs pass them through as control characters.
_BYTES: Final = {
    **{code: bytes((code,)) for code in range(0x100)},
    **{ord(bytes((code,)).decode("cp1252")): bytes((code,)) for code in (*range(0x80, 0xA0),)
       if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)},
}  # fmt: skip
_FOLLOWING: Final = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_SEQUENCE: Final = re.compile(
    f"[\u00c2-\u00df][{_FOLLOWING}]|[\u00e0-\u00ef][{_FOLLOWING}]{{2}}|[\u00f0-\u00f4][{_FOLLOWING}]{{3}}"
)
# One could be meant as it stands, in a text about encodings.
_CERTAIN_FROM: Final = 2
# Text that went wrong twice happens, more often does not.
_MOST_ROUNDS: Final = 2


def repaired(text: str) -> str | None:
    """The text as it was before it was read wrongly; None unless that is certain.

    It is certain only where the whole text turns back: one character that cannot come from the mistake, an
    accent that stands for itself or any Chinese one, and the text is left as it is.
    """
    best = None
    for _ in range(_MOST_ROUNDS):
        if len(_SEQUENCE.findall(text[:1_000_000])) < _CERTAIN_FROM:
            break
        try:
            text = b"".join(_BYTES[ord(char)] for char in text).decode("utf-8")
        except (KeyError, UnicodeDecodeError):
            break
        best = text
    return best


def misread_places(text: str) -> list[str]:
    """The sequences in a text that are what UTF-8 looks like when read as Windows-1252."""
    return [match.group() for match in _SEQUENCE.finditer(text) if _turns_back(match.group())]


def _turns_back(sequence: str) -> bool:
    try:
        return b"".join(_BYTES[ord(char)] for char in sequence).decode("utf-8").isprintable()
    except UnicodeDecodeError:
        return False
