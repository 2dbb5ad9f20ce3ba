"""What the fork server imports before it forks workers: slow to import, and without threads of its own."""

import docling.datamodel.document  # noqa: F401
import pypdfium2  # noqa: F401
