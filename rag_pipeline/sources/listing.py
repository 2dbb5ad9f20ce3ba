"""Listing a source: which documents it holds now, in which version, with which facts."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from upath import UPath

from rag_pipeline.errors import DocumentError, FailureCategory, SourceUnavailable
from rag_pipeline.sources.document import RawDocument
from rag_pipeline.sources.facts import MAX_SIDECAR_BYTES, document_facts
from rag_pipeline.sources.manifest import Manifest, resolve_root
from rag_pipeline.sources.snapshot import Snapshot, hashes_in_doubt, signature
from rag_pipeline.sources.walk import FoundFile, walk

HEAD_BYTES = 1 << 16
"""How much of a file's beginning is looked at to tell its type and to read its front matter."""

_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ListingFailure:
    """A file that should be a document but cannot be listed as one.

    `content_hash` is empty where the bytes could not be read or were not worth reading.
    """

    document_id: str
    path: str
    content_hash: str
    error: DocumentError


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source holds, sorted by path. `duplicates` are ids that were seen twice; the later one won.

    `snapshot` is what it looked like before any file was read.
    """

    documents: tuple[RawDocument, ...]
    failures: tuple[ListingFailure, ...]
    duplicates: tuple[str, ...]
    snapshot: Snapshot


def list_source(
    manifest: Manifest,
    *,
    detect: Callable[[bytes, str], str],
    known_types: Mapping[tuple[str, str], str] | None = None,
) -> Listing:
    """List every document of a source, reading each file once to hash it.

    `detect` tells a MIME type from the first HEAD_BYTES of a file and its name; it may raise DocumentError.
    It is not asked of documents whose type is among `known_types`, by document id and content hash.
    One bad file becomes a failure and stops nothing. Raises SourceUnavailable where the location cannot be
    listed in full, so that a listing is never mistaken for an empty one.
    """
    looked_at = datetime.now(UTC)
    root, found = find_files(manifest)
    outcomes: dict[str, RawDocument | ListingFailure] = {}
    duplicates: dict[str, None] = {}
    for file in found:
        outcome = _look_at(manifest, root, file, detect, known_types or {})
        if outcome.document_id in outcomes:
            duplicates[outcome.document_id] = None
        outcomes[outcome.document_id] = outcome
    hashes = {one.path: one.content_hash for one in outcomes.values()}
    in_doubt = hashes_in_doubt(found, looked_at, hashes)
    return Listing(
        documents=tuple(outcome for outcome in outcomes.values() if isinstance(outcome, RawDocument)),
        failures=tuple(outcome for outcome in outcomes.values() if isinstance(outcome, ListingFailure)),
        duplicates=tuple(duplicates),
        snapshot=Snapshot(signature(manifest, found), len(found), in_doubt),
    )


def find_files(manifest: Manifest) -> tuple[UPath, list[FoundFile]]:
    """A source's root and the files that its patterns choose, sorted by path; none of them is read.

    Raises SourceUnavailable where the location cannot be listed in full.
    """
    try:
        root = resolve_root(manifest)
        return root, sorted(walk(root, manifest.location), key=lambda file: file.path)
    except (ImportError, ValueError) as error:  # a scheme that is unknown or whose package is missing
        raise SourceUnavailable(
            f"source {manifest.source_id}: {manifest.location.url} cannot be opened: {error}"
        ) from error
    except SourceUnavailable as error:
        raise SourceUnavailable(f"source {manifest.source_id}: {error}") from error


def hash_file(manifest: Manifest, root: UPath, file: FoundFile) -> str:
    """The sha256 of what a found file holds now, in hex; raises DocumentError where it must not be read."""
    _url(root, file)
    return _read(root.fs, file, manifest.parsing.limits.max_bytes)[2]


def read_document(document: RawDocument) -> bytes:
    """The bytes of the version that was listed.

    Raises DocumentError, transient: UNREADABLE, or CHANGED_WHILE_READING where the file holds another
    version by now, which the next listing will see.
    """
    file = UPath(document.url)
    try:
        with file.fs.open(file.path, "rb") as stream:
            data: bytes = stream.read(document.size + 1)
    except Exception as error:  # each fsspec backend has its own errors, not all OSErrors
        raise _unreadable(error) from error
    if hashlib.sha256(data).hexdigest() != document.content_hash:
        raise DocumentError(
            FailureCategory.CHANGED_WHILE_READING,
            "the file changed after it was listed; the next run reads its new version",
            transient=True,
        )
    return data


def _look_at(
    manifest: Manifest,
    root: UPath,
    file: FoundFile,
    detect: Callable[[bytes, str], str],
    known_types: Mapping[tuple[str, str], str],
) -> RawDocument | ListingFailure:
    document_id = f"{manifest.source_id}/{_printable(file.path)}"
    content_hash = ""
    try:
        url = _url(root, file)
        head, size, content_hash = _read(root.fs, file, manifest.parsing.limits.max_bytes)
        sidecar = _read_sidecar(root.fs, file.sidecar) if file.sidecar else None
        name = file.path.rsplit("/", 1)[-1]
        return RawDocument(
            document_id=document_id,
            source_id=manifest.source_id,
            path=file.path,
            url=url,
            size=size,
            content_hash=content_hash,
            mime_type=known_types.get((document_id, content_hash)) or detect(head, name),
            facts=document_facts(
                manifest, file.path, head=head, sidecar=sidecar, modified_at=file.modified_at
            ),
        )
    except DocumentError as error:
        return ListingFailure(document_id, _printable(file.path), content_hash, error)


def _printable(path: str) -> str:
    """The path itself, or, where its bytes are not valid UTF-8, one that shows them as \\xNN."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _url(root: UPath, file: FoundFile) -> str:
    """An address from which UPath opens the file again, whatever characters its name holds."""
    if file.obstacle:
        raise DocumentError(FailureCategory.UNREADABLE, f"the file cannot be read: {file.obstacle}")
    if _printable(file.path) != file.path:
        raise DocumentError(
            FailureCategory.UNREADABLE,
            "the file's name is not valid UTF-8, so nothing can cite it; rename it",
        )
    if root.protocol == "":
        return file.fs_path
    if "::" in file.path:
        raise DocumentError(
            FailureCategory.UNREADABLE, "the file's name holds '::', which joins two addresses; rename it"
        )
    address, chain, outer = str(root).partition("::")
    return f"{address.rstrip('/')}/{file.path}{chain}{outer}"


def _read(fs: Any, file: FoundFile, max_bytes: int) -> tuple[bytes, int, str]:
    """The file's head, its size and its sha256; no more than a piece of it is in memory at a time."""
    if file.size is not None and file.size > max_bytes:
        raise _over_limit(max_bytes)
    digest = hashlib.sha256()
    head, size = b"", 0
    try:
        with fs.open(file.fs_path, "rb") as stream:
            while piece := stream.read(_READ_BYTES):
                if len(head) < HEAD_BYTES:
                    head += piece[: HEAD_BYTES - len(head)]
                size += len(piece)
                if size > max_bytes:
                    raise _over_limit(max_bytes)
                digest.update(piece)
    except DocumentError:
        raise
    except Exception as error:  # each fsspec backend has its own errors, not all OSErrors
        raise _unreadable(error) from error
    return head, size, digest.hexdigest()


def _read_sidecar(fs: Any, fs_path: str) -> bytes:
    try:
        with fs.open(fs_path, "rb") as stream:
            data: bytes = stream.read(MAX_SIDECAR_BYTES + 1)
    except Exception as error:  # each fsspec backend has its own errors, not all OSErrors
        raise _unreadable(error, what="its sidecar") from error
    return data


def _over_limit(max_bytes: int) -> DocumentError:
    return DocumentError(
        FailureCategory.OVER_LIMIT,
        f"the file is larger than {max_bytes} bytes; split it, or raise parsing.limits.max_bytes",
    )


def _unreadable(error: Exception, what: str = "the file") -> DocumentError:
    reason = getattr(error, "strerror", None) or type(error).__name__
    return DocumentError(FailureCategory.UNREADABLE, f"{what} cannot be read: {reason}", transient=True)
