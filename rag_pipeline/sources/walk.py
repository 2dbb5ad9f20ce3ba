"""Walking a source's folder, whatever file system it lies on."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from upath import UPath

from rag_pipeline.errors import SourceUnavailable
from rag_pipeline.sources.facts import SIDECAR_SUFFIX
from rag_pipeline.sources.globs import Glob
from rag_pipeline.sources.manifest import Location

# A slip that would leave what the sidecar says about access without effect.
_MISNAMED_SIDECAR = ".meta.yml"
# What file systems call the time of a file's last change.
_TIMES = ("mtime", "LastModified", "last_modified", "updated")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that a source's patterns choose.

    `path` is relative to the root; `fs_path` is what the file system calls the file, and `sidecar` what it
    calls the file's sidecar. `size` is in bytes. `mark` changes whenever the file or its sidecar does, as far
    as the file system tells; empty where it tells nothing. `obstacle` says why the file must not or cannot be
    read.
    """

    path: str
    fs_path: str
    size: int | None = None
    modified_at: datetime | None = None
    sidecar: str | None = None
    sidecar_modified_at: datetime | None = None
    mark: str = ""
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    fs_path: str
    is_folder: bool = False
    size: int | None = None
    modified_at: datetime | None = None
    obstacle: str | None = None
    mark: str = ""


def walk(root: UPath, location: Location) -> Iterator[FoundFile]:
    """Every file below `root` that the location includes and does not exclude, in no particular order.

    Sidecars of a file are not files of their own. A link that leaves the root, leads nowhere or is a loop is
    found with an obstacle; a link to a folder inside the root is passed over, since what it holds is found
    where it lies. Raises SourceUnavailable where the root or any folder below it cannot be listed: documents
    that were not seen must not be taken for deleted.
    """
    include = [Glob(pattern, hidden=False) for pattern in location.include]
    exclude = [Glob(pattern, hidden=True) for pattern in location.exclude]
    root.fs.invalidate_cache()
    folders: list[tuple[tuple[str, ...], str]] = [((), root.path)]
    while folders:
        names, fs_path = folders.pop()
        entries = _list_folder(root, fs_path, names)
        files = {entry.name: entry for entry in entries if not entry.is_folder}
        for entry in entries:
            path = (*names, entry.name)
            if entry.is_folder:
                wanted = any(glob.may_match_below(path) for glob in include)
                if not wanted or any(glob.matches_all_below(path) for glob in exclude):
                    continue
                if entry.obstacle:
                    yield _found(path, entry, {})
                else:
                    folders.append((path, entry.fs_path))
                continue
            if entry.name.endswith(SIDECAR_SUFFIX) and entry.name.removesuffix(SIDECAR_SUFFIX) in files:
                continue
            if any(glob.matches(path) for glob in include) and not any(
                glob.matches(path) for glob in exclude
            ):
                yield _found(path, entry, files)


def _found(path: Sequence[str], entry: _Entry, beside: Mapping[str, _Entry]) -> FoundFile:
    sidecar = beside.get(entry.name + SIDECAR_SUFFIX)
    obstacle = entry.obstacle
    if sidecar and sidecar.obstacle and not obstacle:
        obstacle = f"its sidecar {sidecar.name} is in the way: {sidecar.obstacle}"
    if entry.name + _MISNAMED_SIDECAR in beside and not obstacle:
        obstacle = (
            f"its sidecar must be named {entry.name}{SIDECAR_SUFFIX}, not {_MISNAMED_SIDECAR}; rename it"
        )
    return FoundFile(
        path="/".join(path),
        fs_path=entry.fs_path,
        size=entry.size,
        modified_at=entry.modified_at,
        sidecar=sidecar.fs_path if sidecar else None,
        sidecar_modified_at=sidecar.modified_at if sidecar else None,
        mark=f"{entry.mark} {sidecar.mark}" if sidecar and entry.mark else entry.mark,
        obstacle=obstacle,
    )


def _list_folder(root: UPath, fs_path: str, names: Sequence[str]) -> list[_Entry]:
    try:
        if not names and not root.fs.isdir(fs_path):
            raise SourceUnavailable(f"{root} is not a folder, or cannot be reached; correct location.url")
        listed = root.fs.ls(fs_path, detail=True)
    except SourceUnavailable:
        raise
    except FileNotFoundError:
        if names:
            return []  # removed while we walk: its documents are gone
        raise SourceUnavailable(f"{root} does not exist; correct location.url") from None
    except Exception as error:  # each fsspec backend has its own errors, not all OSErrors
        place = "/".join((str(root), *names))
        raise SourceUnavailable(f"{place} cannot be listed: {type(error).__name__}: {error}") from error
    own = fs_path.rstrip("/")
    entries = []
    for info in listed:
        child = str(info["name"]).rstrip("/")
        if child == own:
            continue  # object stores list a folder's own marker in it
        name = child.rsplit("/", 1)[-1]
        if name in {"", ".", ".."}:
            entry = _Entry(name, child, obstacle="its name is not one that a path can hold; rename it")
        elif info.get("islink"):
            resolved = _resolved_link(root, name, child)
            if resolved is None:
                continue
            entry = resolved
        elif info["type"] in {"file", "directory"}:
            is_folder = info["type"] == "directory"
            entry = _Entry(name, child, is_folder, info.get("size"), _modified_at(info), mark=_mark(info))
        else:
            entry = _Entry(name, child, obstacle="it is not a regular file")
        entries.append(entry)
    return entries


def _resolved_link(root: UPath, name: str, fs_path: str) -> _Entry | None:
    """A local symbolic link as what it leads to; None for a link to a folder inside the root."""
    home, target = Path(root.path).resolve(), Path(os.path.realpath(fs_path))
    try:
        status = target.stat()
    except OSError:
        return _Entry(name, fs_path, obstacle="it is a link that leads nowhere")
    is_folder = stat.S_ISDIR(status.st_mode)
    if not target.is_relative_to(home):
        return _Entry(name, fs_path, is_folder, obstacle="it is a link that leaves the source's folder")
    if is_folder:
        return None
    if not stat.S_ISREG(status.st_mode):
        return _Entry(name, fs_path, obstacle="it is not a regular file")
    info = {
        "size": status.st_size, "mtime": status.st_mtime, "created": status.st_ctime, "ino": status.st_ino
    }  # fmt: skip
    return _Entry(name, fs_path, False, status.st_size, _modified_at(info), mark=_mark(info))


def _mark(info: Mapping[str, Any]) -> str:
    """What tells one state of a file from another: its etag, or its size, times and place on the disk.

    A local file's `created` is when its inode last changed, which no program can set back.
    """
    for key in ("ETag", "etag"):
        if info.get(key):
            return str(info[key])
    modified = next((info[key] for key in _TIMES if info.get(key) is not None), None)
    if modified is None:
        return ""
    return f"{info.get('size')} {modified} {info.get('created')} {info.get('ino')}"


def _modified_at(info: Mapping[str, Any]) -> datetime | None:
    """When the file was last changed; None where the file system does not tell."""
    for key in _TIMES:
        value = info.get(key)
        if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        if isinstance(value, int | float):
            try:
                return datetime.fromtimestamp(value, UTC)
            except (ValueError, OverflowError, OSError):
                return None  # a clock gone wild, beyond the years 1 to 9999
    return None
