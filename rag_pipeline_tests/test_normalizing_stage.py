"""A source is normalized once, and a failure stands until something changes that it depends on."""

from pathlib import Path

import pytest
from upath import UPath

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.errors import ConfigurationError, DocumentError
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.files import convert_file, listed_file, normalize_files
from rag_pipeline.normalize.options import ParsingOptions
from rag_pipeline.normalize.stage import NormalizedResult, attempt_key, normalize_source
from rag_pipeline.sources.document import RawDocument
from rag_pipeline.sources.manifest import Limits, Manifest

OPTIONS = ParsingOptions()


def manifest(**parsing: object) -> Manifest:
    return Manifest.model_validate(
        {
            "source_id": "docs", "title": "Docs", "system": "files", "owner": "ops", "source_type": "runbook",
            "trust_tier": 2, "lifecycle": "active", "audience": ["all"], "environments": ["test"],
            "tenant": "default", "freshness_sla_days": 30, "access_rules": {"require_auth": False},
            "location": {"url": "."}, "parsing": parsing,
        }
    )  # fmt: skip


class Stage:
    """A source's folder, its artifacts, and what the last run did."""

    def __init__(self, folder: Path) -> None:
        self.artifacts = ArtifactStore(UPath(folder / "artifacts"))
        self.advanced = 0

    def run(
        self, files: list[Path], failures: dict[str, DocumentError] | None = None
    ) -> dict[str, NormalizedResult]:
        def known_failure(document: RawDocument) -> DocumentError | None:
            return (failures or {}).get(document.path)

        def advance() -> None:
            self.advanced += 1

        results = normalize_source(
            map(listed_file, files),
            manifest=manifest(limits={"timeout_seconds": 60}),
            passwords=(),
            workers=2,
            artifacts=self.artifacts,
            known_failure=known_failure,
            advance=advance,
        )
        found = {}
        for result in results:
            if result.artifact_key:
                assert self.artifacts.exists(result.artifact_key)
            found[result.document.path] = result
        return found


def test_a_source_is_converted_once_and_failures_are_not_tried_again(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("good.md", "again.md", "bad.bin")]
    files[0].write_text("# Good\n\nRefunds take 14 days.\n")
    files[1].write_text("# Again\n\nRefunds take 30 days.\n")
    files[2].write_bytes(b"\0\1\2\3" * 100)
    stage = Stage(tmp_path)

    first = stage.run(files)
    assert stage.advanced == len(first) == 3
    assert first["bad.bin"].error is not None
    good = first["good.md"]
    assert (good.title, good.characters, good.reused, good.error) == ("Good", 29, False, None)
    stored = NormalizedDocument.from_json(stage.artifacts.read(good.artifact_key or ""))
    assert stored.markdown == "# Good\n\nRefunds take 14 days."

    files[1].write_text("# Again\n\nRefunds take 31 days.\n")
    second = stage.run(files, {"bad.bin": first["bad.bin"].error})
    assert {name: result.reused for name, result in second.items()} == {
        "good.md": True, "again.md": False, "bad.bin": False,
    }  # fmt: skip
    assert second["good.md"].artifact_key == good.artifact_key
    assert (second["good.md"].title, second["good.md"].characters) == (good.title, good.characters)
    assert second["bad.bin"].error is first["bad.bin"].error
    assert second["again.md"].artifact_key != first["again.md"].artifact_key

    stage.artifacts.delete(good.artifact_key or "")
    assert not stage.run(files[:1])["good.md"].reused


def test_a_failure_stands_until_content_limits_or_named_passwords_change(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("one")
    parsing = manifest().parsing
    one = attempt_key(listed_file(file), parsing)
    assert attempt_key(listed_file(file), manifest(limits={"max_pages": 3}).parsing) != one
    assert attempt_key(listed_file(file), manifest(password_env=["DOCS_PASSWORD"]).parsing) != one
    file.write_text("two")
    assert attempt_key(listed_file(file), parsing) != one
    file.write_text("one")
    assert attempt_key(listed_file(file), parsing) == one


def test_files_are_written_under_their_names(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    name = "名前 with spaces & 100%#?.md"
    (folder / name).write_text("# Title\n\n14 days\n")
    (folder / "-rf.txt").write_text("")
    results = normalize_files(
        [folder / name, folder / "-rf.txt"], out, options=OPTIONS, workers=1, limits=Limits()
    )
    errors = {result.document.path: result.error for result in results}
    assert errors[name] is None
    assert (out / f"{name}.md").read_text() == "# Title\n\n14 days"
    assert errors["-rf.txt"] is not None
    assert [path.name for path in out.iterdir()] == [f"{name}.md"]
    assert convert_file(folder / name, options=OPTIONS, limits=Limits()).title == "Title"
    with pytest.raises(DocumentError, match="no content"):
        convert_file(folder / "-rf.txt", options=OPTIONS, limits=Limits())
    with pytest.raises(ConfigurationError, match="not a file"):
        list(normalize_files([folder / "absent"], out, options=OPTIONS, workers=1, limits=Limits()))
