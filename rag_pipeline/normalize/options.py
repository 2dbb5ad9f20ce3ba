"""What governs the reading of a source's documents."""

from dataclasses import dataclass, field
from typing import Literal

OcrMode = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class ParsingOptions:
    """How documents are read, and the limits that are checked before and while they are.

    `ocr` "auto" reads images and pages without usable text by OCR, "always" every page of a PDF, "never"
    none. `passwords` are tried one after the other on encrypted documents; they are left out of `repr`, so
    that no log shows them. `ocr_threads` is how many threads one recognition may use.
    """

    ocr: OcrMode = "auto"
    passwords: tuple[str, ...] = field(default=(), repr=False)
    max_bytes: int = 100_000_000
    max_pages: int = 2_000
    ocr_threads: int = 1
