"""A listing shows every document once, in its true version, and never hides what it could not see."""

import hashlib
import os
import shutil
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from upath import UPath

from rag_pipeline.errors import DocumentError, FailureCategory, SourceUnavailable
from rag_pipeline.sources.document import DocumentFacts, RawDocument
from rag_pipeline.sources.listing import HEAD_BYTES, Listing, list_source, read_document
from rag_pipeline.sources.manifest import Manifest
from rag_pipeline.sources.snapshot import Snapshot
from rag_pipeline.sources.tables import LISTING_COLUMNS, documents_from_frame, listing_frame


def source(url: object, *, max_bytes: int = 1 << 26, **location: Any) -> Manifest:
    return Manifest.model_validate(
        {
            "source_id": "s", "title": "S", "system": "s", "owner": "o", "source_type": "other",
            "trust_tier": 3, "lifecycle": "active", "audience": ["all"], "environments": ["production"],
            "access_rules": {"require_auth": True, "allowed_roles": ["hr", "it"]},
            "location": {"url": str(url), **location},
            "parsing": {"limits": {"max_bytes": max_bytes}},
        }
    )  # fmt: skip


def by_suffix(head: bytes, name: str) -> str:
    return "text/markdown" if name.endswith(".md") else "application/octet-stream"


def list_folder(url: object, **options: Any) -> Listing:
    return list_source(source(url, **options), detect=by_suffix)


def write(folder: Path, *paths: str, text: str = "# Text\n") -> None:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def paths(listing: Listing) -> list[str]:
    return [document.path for document in listing.documents]


def failures(listing: Listing) -> dict[str, DocumentError]:
    return {failure.path: failure.error for failure in listing.failures}


@pytest.fixture
def memory() -> Iterator[MemoryFileSystem]:
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    yield fs
    fs.store.clear()


def test_a_document_is_listed_with_its_identity_version_and_facts(tmp_path: Path) -> None:
    write(tmp_path, "b/Guide.md", text="---\ntitle: Guide\naccess_groups: [hr]\n---\n# Guide\n")
    write(tmp_path, "b/Guide.md.meta.yaml", text="source_url: https://example.org/guide\n")
    write(tmp_path, "a.bin", text="x")
    os.utime(tmp_path / "b/Guide.md", (1_700_000_000, 1_700_000_000))

    listing = list_folder(tmp_path)

    assert paths(listing) == ["a.bin", "b/Guide.md"]
    assert (listing.failures, listing.duplicates) == ((), ())
    data = (tmp_path / "b/Guide.md").read_bytes()
    guide = listing.documents[1]
    assert guide == RawDocument(
        document_id="s/b/Guide.md",
        source_id="s",
        path="b/Guide.md",
        url=str(tmp_path / "b/Guide.md"),
        size=len(data),
        content_hash=hashlib.sha256(data).hexdigest(),
        mime_type="text/markdown",
        facts=DocumentFacts(
            title="Guide",
            source_url="https://example.org/guide",
            access_groups=("hr",),
            updated_at=datetime.fromtimestamp(1_700_000_000, UTC),
        ),
    )
    assert read_document(guide) == data


ODD_NAMES = [
    "-rf.md", "a b.md", "a#b.md", "100%.md", "%20.md", "what?.md", "x::y.md", "[x].md", "*.md", "~home.md",
    "memory:x.md", "back\\slash.md", "new\nline.md", "$HOME.md", "名前.md", "e\u0301.md", "\u00e9.md",
    "A.md", "a.md",
]  # fmt: skip


def test_any_file_name_works_and_reopens(tmp_path: Path) -> None:
    for folder in ("", "dir #1 50%?/"):
        for name in ODD_NAMES:
            write(tmp_path, folder + name, text=folder + name)

    listing = list_folder(tmp_path)

    assert listing.failures == ()
    assert paths(listing) == sorted(folder + name for folder in ("", "dir #1 50%?/") for name in ODD_NAMES)
    for document in listing.documents:
        assert read_document(document).decode() == document.path
        assert UPath(document.url).read_text(encoding="utf-8") == document.path


def test_a_name_that_is_not_utf8_fails_alone(tmp_path: Path) -> None:
    write(tmp_path, "good.md")
    with open(os.fsencode(tmp_path) + b"/bad\xff.md", "wb") as stream:  # noqa: PTH123 - pathlib takes no bytes
        stream.write(b"x")

    listing = list_folder(tmp_path)

    assert paths(listing) == ["good.md"]
    assert failures(listing)["bad\\xff.md"].category is FailureCategory.UNREADABLE
    assert listing.failures[0].document_id == "s/bad\\xff.md"
    listing.failures[0].document_id.encode()


def test_includes_excludes_and_hidden_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.md", "A.MD", "x/b.md", "x/y/c.md", "x/y/d.txt", ".DS_Store", ".git/config.md", "x/.hidden.md",
        "drafts/e.md", "x/drafts/f.md", ".github/g.md",
    )  # fmt: skip

    everything = ["A.MD", "a.md", "drafts/e.md", "x/b.md", "x/drafts/f.md", "x/y/c.md", "x/y/d.txt"]
    assert paths(list_folder(tmp_path)) == everything
    assert paths(list_folder(tmp_path, include=["*.md"])) == ["a.md"]
    assert paths(list_folder(tmp_path, include=["x/**/*.md"], exclude=["**/drafts/**"])) == [
        "x/b.md",
        "x/y/c.md",
    ]
    assert paths(list_folder(tmp_path, include=["**/[a-c].md"])) == ["a.md", "x/b.md", "x/y/c.md"]
    assert paths(list_folder(tmp_path, include=[".github/**"])) == [".github/g.md"]
    assert paths(list_folder(tmp_path, include=["**/.*"], exclude=["*_Store"])) == ["x/.hidden.md"]


def test_sidecars_are_documents_only_when_they_describe_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "orphan.md.meta.yaml")
    write(tmp_path, "a.md.meta.yaml", text="access_groups: [it]\n")
    listing = list_folder(tmp_path)
    assert paths(listing) == ["a.md", "orphan.md.meta.yaml"]
    assert listing.documents[0].facts.access_groups == ("it",)
    # A sidecar counts even where the patterns choose documents only.
    (only,) = list_folder(tmp_path, include=["*.md"]).documents
    assert only.facts.access_groups == ("it",)


def test_a_sidecar_under_a_wrong_name_cannot_lose_its_access_groups(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    write(tmp_path, "a.md.meta.yml", text="access_groups: [it]\n")
    listing = list_folder(tmp_path, include=["*.md"])
    assert paths(listing) == ["b.md"]
    assert "must be named a.md.meta.yaml" in failures(listing)["a.md"].message


def test_bad_metadata_fails_its_own_document_with_the_hash_of_its_bytes(tmp_path: Path) -> None:
    write(tmp_path, "good.md")
    write(tmp_path, "wide.md", text="---\naccess_groups: [everyone]\n---\n")
    write(tmp_path, "typo.md")
    write(tmp_path, "typo.md.meta.yaml", text="acces_groups: [hr]\n")

    listing = list_folder(tmp_path)

    assert paths(listing) == ["good.md"]
    errors = failures(listing)
    assert errors["wide.md"].category is FailureCategory.ACCESS_WIDENED
    assert errors["typo.md"].category is FailureCategory.BAD_METADATA
    assert "typo.md.meta.yaml: acces_groups" in errors["typo.md"].message
    assert listing.failures[1].content_hash == hashlib.sha256((tmp_path / "wide.md").read_bytes()).hexdigest()


def test_links_are_followed_only_inside_the_source(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "root-secrets"
    write(root, "docs/real.md", "kept.md", ".data/v1/mounted.md")
    write(outside, "secret.md")
    write(outside, "wide.yaml", text="access_groups: [hr]\n")
    links = {
        "inside.md": root / "docs/real.md", "mounted.md": ".data/v1/mounted.md", "again": root / "docs",
        "loop": ".", "self.md": "self.md", "broken.md": "nowhere", "leak.md": outside / "secret.md",
        "leaks": outside, "relative.md": "../root-secrets/secret.md",
        "kept.md.meta.yaml": outside / "wide.yaml",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)

    listing = list_folder(root)

    assert paths(listing) == ["docs/real.md", "inside.md", "mounted.md"]
    reasons = {path: error.message for path, error in failures(listing).items()}
    assert sorted(reasons) == ["broken.md", "kept.md", "leak.md", "leaks", "relative.md", "self.md"]
    for path in ("leak.md", "leaks", "relative.md"):
        assert "leaves the source's folder" in reasons[path]
    for path in ("broken.md", "self.md"):
        assert "leads nowhere" in reasons[path]
    assert "kept.md.meta.yaml" in reasons["kept.md"]
    assert "leaks" in failures(list_folder(root, include=["**/*.md"]))
    assert "leaks" not in failures(list_folder(root, exclude=["leaks/**"]))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert "not a regular file" in failures(list_folder(tmp_path))["pipe.md"].message


def test_a_large_file_is_neither_read_nor_held(tmp_path: Path) -> None:
    write(tmp_path, "small.md")
    with (tmp_path / "large.bin").open("wb") as stream:
        stream.truncate(40 << 20)
    tracemalloc.start()
    allowed = list_folder(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 << 20
    assert allowed.documents[0].size == 40 << 20

    limited = list_folder(tmp_path, max_bytes=1 << 20)

    assert paths(limited) == ["small.md"]
    (failure,) = limited.failures
    assert failure.error.category is FailureCategory.OVER_LIMIT
    assert "parsing.limits.max_bytes" in failure.error.message
    assert failure.content_hash == ""


def test_the_type_is_told_from_the_head_and_the_name(tmp_path: Path) -> None:
    write(tmp_path, "x/long.md", text="a" * (HEAD_BYTES + 10))
    seen: list[tuple[int, str]] = []

    def detect(head: bytes, name: str) -> str:
        seen.append((len(head), name))
        raise DocumentError(FailureCategory.UNSUPPORTED_TYPE, "no")

    listing = list_source(source(tmp_path), detect=detect)
    assert seen == [(HEAD_BYTES, "long.md")]
    assert failures(listing)["x/long.md"].category is FailureCategory.UNSUPPORTED_TYPE


def test_a_file_that_vanishes_while_listing_fails_for_now(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "c.md")

    def detect(head: bytes, name: str) -> str:
        (tmp_path / "b.md").unlink(missing_ok=True)
        return "text/markdown"

    listing = list_source(source(tmp_path), detect=detect)
    assert paths(listing) == ["a.md", "c.md"]
    error = failures(listing)["b.md"]
    assert error.category is FailureCategory.UNREADABLE
    assert error.transient


def test_what_may_not_be_read_is_said(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "closed/b.md", "secret.md", "c.md", "c.md.meta.yaml")
    (tmp_path / "secret.md").chmod(0)
    if os.access(tmp_path / "secret.md", os.R_OK):
        pytest.skip("this user may read everything")
    (tmp_path / "c.md.meta.yaml").chmod(0)
    (tmp_path / "closed").chmod(0)
    try:
        with pytest.raises(SourceUnavailable, match="closed cannot be listed"):
            list_folder(tmp_path)
        listing = list_folder(tmp_path, exclude=["closed/**"])
    finally:
        (tmp_path / "closed").chmod(0o755)
    assert paths(listing) == ["a.md"]
    assert all(error.transient for error in failures(listing).values())
    assert sorted(failures(listing)) == ["c.md", "secret.md"]


@pytest.mark.parametrize(
    "url", ["{folder}/nowhere", "{folder}/file.md", "{folder}/loop", "memory://nowhere", "nosuchscheme://x"]
)
def test_a_source_that_cannot_be_listed_is_unavailable_not_empty(tmp_path: Path, url: str) -> None:
    write(tmp_path, "file.md")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SourceUnavailable, match="source s: "):
        list_folder(url.format(folder=tmp_path))


def test_an_empty_folder_is_an_empty_listing(tmp_path: Path) -> None:
    listing = list_folder(tmp_path)
    assert (listing.documents, listing.failures, listing.duplicates) == ((), (), ())
    assert listing.snapshot.files == 0


def test_a_changed_or_missing_file_is_not_read_as_the_listed_version(tmp_path: Path) -> None:
    write(tmp_path, "a.md", text="old text")
    (document,) = list_folder(tmp_path).documents
    for text in ("new text", "old text and more", ""):
        (tmp_path / "a.md").write_text(text)
        with pytest.raises(DocumentError) as caught:
            read_document(document)
        assert caught.value.category is FailureCategory.CHANGED_WHILE_READING
        assert caught.value.transient
    (tmp_path / "a.md").unlink()
    with pytest.raises(DocumentError) as caught:
        read_document(document)
    assert caught.value.category is FailureCategory.UNREADABLE
    assert caught.value.transient


def test_other_file_systems_are_listed_alike(memory: MemoryFileSystem) -> None:
    names = ["a b#c%20?.md", "sub/名前.md", "sub/.hidden.md", "x::y.md"]
    for name in names:
        memory.pipe(f"/bucket/docs/{name}", name.encode())
    memory.pipe("/bucket/docs/sub/名前.md.meta.yaml", b"access_groups: [hr]")
    memory.pipe("/bucket/other.md", b"not ours")

    listing = list_folder("memory://bucket/docs/")

    assert paths(listing) == ["a b#c%20?.md", "sub/名前.md"]
    assert [d.url for d in listing.documents] == [f"memory://bucket/docs/{path}" for path in paths(listing)]
    assert [read_document(document).decode() for document in listing.documents] == paths(listing)
    assert listing.documents[1].facts.access_groups == ("hr",)
    assert "'::'" in failures(listing)["x::y.md"].message


def test_documents_inside_an_archive_are_listed_by_a_chained_url(tmp_path: Path) -> None:
    write(tmp_path / "in", "a.md", "sub/b.md", text="zipped")
    archive = shutil.make_archive(str(tmp_path / "docs"), "zip", tmp_path / "in")
    listing = list_folder(f"zip://::{archive}")
    assert paths(listing) == ["a.md", "sub/b.md"]
    assert [read_document(document) for document in listing.documents] == [b"zipped", b"zipped"]


class RepeatingFileSystem(MemoryFileSystem):
    """Lists everything twice, as object stores may when they are changed between two pages."""

    protocol = "repeating"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("repeating://")))

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        listed: list[Any] = super().ls(path, detail=detail, **kwargs)
        return listed + [entry for entry in listed if entry["type"] == "file"]


@pytest.mark.filterwarnings("ignore:UPath 'repeating' filesystem:UserWarning")
def test_an_id_seen_twice_is_listed_once_and_reported(memory: MemoryFileSystem) -> None:
    fsspec.register_implementation("repeating", RepeatingFileSystem, clobber=True)
    memory.pipe("/docs/a.md", b"a")
    listing = list_folder("repeating:///docs")
    assert paths(listing) == ["a.md"]
    assert listing.duplicates == ("s/a.md",)


def test_a_listing_survives_its_table_and_parquet(tmp_path: Path) -> None:
    write(tmp_path, "b.md", text="---\ntitle: B\naccess_groups: []\nupdated_at: 0001-01-01\n---\n")
    write(tmp_path, "c.md", text="---\nvalid_until: 9999-12-31T23:59:59Z\nlanguage: zh\n---\n")
    write(tmp_path, "a.md", text="---\naccess_groups: [nobody-knows]\n---\n")
    listing = list_folder(tmp_path)

    frame = listing_frame(listing)
    frame.to_parquet(tmp_path / "x.parquet")
    read = pd.read_parquet(tmp_path / "x.parquet")

    for table in (frame, read):
        assert list(table["document_id"]) == ["s/a.md", "s/b.md", "s/c.md"]
        assert list(table["category"].dropna()) == ["access_widened"]
        assert tuple(documents_from_frame(table, "s")) == listing.documents
        assert {name: str(dtype) for name, dtype in table.dtypes.items()} == LISTING_COLUMNS


def test_an_empty_listing_keeps_its_column_types_through_parquet(tmp_path: Path) -> None:
    frame = listing_frame(Listing((), (), (), Snapshot("", 0)))
    frame.to_parquet(tmp_path / "x.parquet")
    read = pd.read_parquet(tmp_path / "x.parquet")
    for table in (frame, read):
        assert {name: str(dtype) for name, dtype in table.dtypes.items()} == LISTING_COLUMNS
        assert list(documents_from_frame(table, "s")) == []


def test_hostile_files_are_listed_without_failing(data_root: Path) -> None:
    listing = list_folder(data_root / "hostile", max_bytes=1 << 30)
    assert failures(listing) == {}
    assert len(listing.documents) > 80
    assert all(read_document(document) is not None for document in listing.documents)
