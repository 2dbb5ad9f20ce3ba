"""Artifacts: a stage's output for one document, kept under a key made of its inputs.

The same inputs give the same key, so a re-run or a run after a crash finds what is done and repeats nothing.
"""

import hashlib
import json
import logging
import uuid
from typing import Any

from upath import UPath

from rag_pipeline.errors import ArtifactsUnavailable
from rag_pipeline.fault_points import passing

logger = logging.getLogger(__name__)


def artifact_key(stage: str, version: int, *parts: object) -> str:
    """A key for a stage's output: its name, its version and everything its output depends on.

    `parts` must be JSON-serializable. Raising `version` makes every document of the stage anew.
    """
    material = json.dumps([stage, version, *parts], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(material.encode()).hexdigest()
    return f"{stage}/{digest[:2]}/{digest}.json"


class ArtifactStore:
    """JSON artifacts under an fsspec URL (a local folder, s3://…)."""

    def __init__(self, root: UPath) -> None:
        self._root = root
        self._made: set[str] = set()

    def exists(self, key: str) -> bool:
        """Whether an artifact is stored under `key`."""
        return bool((self._root / key).exists())

    def read(self, key: str) -> Any:
        """The stored JSON value, or None where nothing is stored under `key`.

        What a power cut or a full disk left unreadable is removed and counts as not stored: it is made again.
        """
        try:
            return json.loads((self._root / key).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            logger.warning("The artifact %s is damaged; it is removed and made again.", key)
            self.delete(key)
            return None

    def write(self, key: str, value: Any) -> None:
        """Store a JSON value under `key`; readers see all of it or nothing.

        Raises ArtifactsUnavailable where there is no room or no permission.
        """
        path = self._root / key
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            if path.protocol in ("", "file"):
                self._write_file(path, data)
            else:
                path.write_bytes(data)  # object stores publish an object only once it is complete
        except OSError as error:
            raise ArtifactsUnavailable(
                f"The artifact {key} could not be stored in {self._root}: {error.strerror or error}. Make "
                "room or mend that place (RAG_HOME, RAG_ARTIFACTS_URL), then run again; the rest is kept."
            ) from error

    def _write_file(self, path: UPath, data: bytes) -> None:
        parent = str(path.parent)
        if parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(parent)
        unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            unfinished.write_bytes(data)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        passing("artifact written aside")
        unfinished.replace(path)
        passing("artifact stored")

    def delete(self, key: str) -> None:
        """Remove the artifact, and what was left of attempts to write it; one that is not there is fine."""
        path = self._root / key
        path.unlink(missing_ok=True)
        if path.protocol in ("", "file"):
            for unfinished in path.parent.glob(f".{path.name}.*"):
                unfinished.unlink(missing_ok=True)
