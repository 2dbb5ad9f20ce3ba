"""Imported by the fork server before it forks workers: what takes longest to import, and starts no threads."""

import docling.datamodel.document  # noqa: F401
import pypdfium2  # noqa: F401
