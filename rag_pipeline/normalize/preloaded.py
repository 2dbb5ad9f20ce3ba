"""What the fork server imports before it forks workers: slow to import, and without threads of its own."""

import docling.backend.msexcel_backend
import docling.backend.mspowerpoint_backend
import docling.backend.msword_backend
import docling.backend.opendocument_backend  # noqa: F401
import lxml.html  # type: ignore[import-untyped]  # noqa: F401
import pypdfium2  # noqa: F401

import rag_pipeline.normalize.trees.serializing  # noqa: F401
