"""What governs the reading of a source's documents."""

from dataclasses import dataclass, field

from rag_pipeline.sources.manifest import OcrMode


@dataclass(frozen=True, slots=True)
class ParsingOptions:
    """How documents are read, and the limits that are checked before and while they are.

    `ocr` AUTO reads images and pages without usable text by OCR, ALWAYS every page of a PDF, NEVER none.
    `passwords` are tried one after the other on encrypted documents; they are left out of `repr`, so that no
    log shows them. `comments` keeps reviewers' comments in the text, marked as such. `ocr_threads` is how
    many threads one recognition may use.
    """

    ocr: OcrMode = OcrMode.AUTO
    passwords: tuple[str, ...] = field(default=(), repr=False)
    comments: bool = True
    max_bytes: int = 100 * 1024 * 1024
    max_pages: int = 2_000
    ocr_threads: int = 1
