"""What a source looks like from outside: enough to tell that it changed, without reading its files."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from upath import UPath

from rag_pipeline.sources.manifest import Manifest
from rag_pipeline.sources.walk import FoundFile

# A file may change twice within one tick of a file system's clock (two seconds on FAT, and on servers whose
# clock runs behind ours), and look the same after both. The method is git's for its index.
_IN_DOUBT: Final = timedelta(seconds=3)

_READ_BYTES: Final = 1 << 20

WITHDRAWN: Final = "withdrawn"
"""What stands for the look of a source whose manifest is gone or archived."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A source's `signature`: the digest of its manifest and of every file's path and mark.

    `in_doubt` holds, by path, the sha256 of those files that changed so shortly before the look that their
    mark proves nothing; it is what they held when they were last read. Where a sidecar is in doubt the hash
    is empty, which no file has.
    """

    signature: str
    files: int
    in_doubt: Mapping[str, str] = field(default_factory=dict)


def signature(manifest: Manifest, files: Iterable[FoundFile]) -> str:
    """The digest of a source's look. Two looks with the same one differ at most in files in doubt."""
    digest = hashlib.sha256(_manifest_text(manifest).encode())
    for line in sorted(f"{file.path}\0{file.mark}\0{file.obstacle or ''}" for file in files):
        digest.update(line.encode(errors="surrogateescape") + b"\n")
    return digest.hexdigest()


def hashes_in_doubt(
    files: Iterable[FoundFile], looked_at: datetime, hashes: Mapping[str, str]
) -> dict[str, str]:
    """The files whose next change could leave the same mark as the present one, each with its hash."""
    found: dict[str, str] = {}
    for file in files:
        if _is_young(file.sidecar_modified_at, looked_at):
            found[file.path] = ""
        elif not file.mark or _is_young(file.modified_at, looked_at):
            found[file.path] = hashes.get(file.path, "")
    return found


def same_content(root: UPath, files: Iterable[FoundFile], hashes: Mapping[str, str]) -> bool:
    """Whether the files in doubt still hold what they held when `hashes` was taken, by reading them."""
    by_path = {file.path: file for file in files}
    return all(path in by_path and _hash(root.fs, by_path[path]) == known for path, known in hashes.items())


def _is_young(modified_at: datetime | None, looked_at: datetime) -> bool:
    return modified_at is not None and modified_at > looked_at - _IN_DOUBT


def _manifest_text(manifest: Manifest) -> str:
    value: dict[str, Any] = manifest.model_dump(mode="json")
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _hash(fs: Any, file: FoundFile) -> str | None:
    digest = hashlib.sha256()
    try:
        with fs.open(file.fs_path, "rb") as stream:
            while piece := stream.read(_READ_BYTES):
                digest.update(piece)
    except Exception:  # noqa: BLE001 - each fsspec backend has its own errors; unreadable is not the same
        return None
    return digest.hexdigest()
