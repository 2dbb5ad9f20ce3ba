"""A manifest is taken exactly as written or refused with the file, the field and the reason."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.sources.manifest import Manifest, OcrMode, manifest_schema, resolve_root
from rag_pipeline.sources.manifest_folder import ManifestProblem, load_manifests

REFUNDS = """\
source_id: refund_policy
title: Refund policy
system: policy_store
owner: finance-ops
source_type: official_policy
trust_tier: 1
lifecycle: active
audience: [support, customers]
environments: [production]
tenant: default
language: en
freshness_sla_days: 30
effective_at: 2026-01-01
access_rules: {require_auth: true, allowed_roles: [support, finance]}
location: {url: ../sample_corpus/refunds, include: ["**/*"], exclude: []}
parsing: {ocr: auto}
"""

GOVERNING = [
    "source_id", "title", "system", "owner", "source_type", "trust_tier", "lifecycle", "audience",
    "environments", "access_rules", "location",
]  # fmt: skip


def fields(**changes: Any) -> dict[str, Any]:
    return {**yaml.safe_load(REFUNDS), **changes}


def problems_of(folder: Path, text: str) -> dict[str, str]:
    """Reason by field for one manifest of this text, which must not load."""
    (folder / "refunds.yaml").write_text(text, encoding="utf-8")
    result = load_manifests(folder)
    assert result.manifests == {}
    return {problem.field: problem.reason for problem in result.problems}


def problems_with(folder: Path, **changes: Any) -> dict[str, str]:
    return problems_of(folder, yaml.safe_dump(fields(**changes)))


def test_the_documented_manifest_loads(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "refunds.yaml").write_text(REFUNDS, encoding="utf-8")

    result = load_manifests(sources)

    assert result.problems == ()
    manifest = result.manifests["refund_policy"]
    assert manifest.access_groups == ("finance", "support")
    assert manifest.effective_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert manifest.valid_until is None
    assert manifest.parsing.ocr is OcrMode.AUTO
    assert str(resolve_root(manifest)) == str(tmp_path / "sample_corpus" / "refunds")


def test_only_what_governs_identity_trust_and_access_is_required(tmp_path: Path) -> None:
    for name in GOVERNING:
        without = {key: value for key, value in fields().items() if key != name}
        assert problems_of(tmp_path, yaml.safe_dump(without)) == {name: "is required"}
    manifest = Manifest.model_validate({name: fields()[name] for name in GOVERNING})
    assert manifest.tenant == "default"
    assert manifest.parsing.limits.max_bytes > 0


@pytest.mark.parametrize(
    ("rules", "groups"),
    [
        ({"require_auth": False}, ("public",)),
        ({"require_auth": False, "allowed_roles": ["public"]}, ("public",)),
        ({"require_auth": True}, ()),
        ({"require_auth": True, "allowed_roles": []}, ()),
        ({"require_auth": True, "allowed_roles": ["b", "a", "b"]}, ("a", "b")),
    ],
)
def test_access_rules_give_groups_and_say_nobody_when_they_name_none(
    rules: dict[str, Any], groups: tuple[str, ...]
) -> None:
    assert Manifest.model_validate(fields(access_rules=rules)).access_groups == groups


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"access_rules": {"require_auth": False, "allowed_roles": ["hr"]}}, "access_rules", "publishes it"),
        (
            {"access_rules": {"require_auth": True, "allowed_roles": ["public"]}},
            "access_rules",
            "reserved role",
        ),
        ({"access_rules": {"require_auth": "no"}}, "access_rules.require_auth", "must be true or false"),
        ({"access_rules": {}}, "access_rules.require_auth", "is required"),
        ({"access_rules": None}, "access_rules", "must be a mapping"),
        (
            {"access_rules": {"require_auth": True, "allowed_roles": ["a b"]}},
            "access_rules.allowed_roles.0",
            "group name",
        ),
        (
            {"access_rules": {"require_auth": True, "allowed_roles": "hr"}},
            "access_rules.allowed_roles",
            "must be a list",
        ),
        ({"source_id": "Refunds"}, "source_id", "lower-case letters"),
        ({"source_id": "a..b"}, "source_id", "two dots"),
        ({"source_id": "../x"}, "source_id", "lower-case letters"),
        ({"trust_tier": 0}, "trust_tier", "must be greater than or equal to 1"),
        ({"trust_tier": 6}, "trust_tier", "must be less than or equal to 5"),
        ({"trust_tier": "1"}, "trust_tier", "must be a valid integer"),
        ({"trust_tier": True}, "trust_tier", "must be a valid integer"),
        ({"source_type": "blog"}, "source_type", "'official_policy'"),
        ({"audience": []}, "audience", "at least one"),
        ({"environments": ["  "]}, "environments.0", "at least 1 character"),
        ({"freshness_sla_days": 0}, "freshness_sla_days", "greater than 0"),
        ({"effective_at": "2026-02-30"}, "effective_at", "is not a date"),
        ({"effective_at": "soon"}, "effective_at", "ISO 8601"),
        ({"valid_until": "2026-01-01"}, "", "later than effective_at"),
        ({"language": "English language"}, "language", "en or zh-Hant"),
        ({"location": {"url": "x", "include": []}}, "location.include", "at least one"),
        ({"location": {"url": "x", "include": ["/etc/*"]}}, "location.include.0", "relative"),
        ({"location": {"url": "x", "exclude": ["a/../*"]}}, "location.exclude.0", "'..'"),
        ({"location": {"url": "sftp://me:pw@host/x"}}, "location.url", "must not hold a password"),
        ({"parsing": {"ocr": "sometimes"}}, "parsing.ocr", "'auto'"),
        ({"parsing": {"limits": {"max_bytes": -1}}}, "parsing.limits.max_bytes", "greater than 0"),
    ],
)
def test_a_wrong_value_is_named_with_its_field_and_reason(
    tmp_path: Path, changes: dict[str, Any], field: str, reason: str
) -> None:
    problems = problems_with(tmp_path, **changes)
    assert list(problems) == [field]
    assert reason in problems[field]


def test_an_unknown_field_is_an_error_that_suggests_the_known_one(tmp_path: Path) -> None:
    assert "did you mean freshness_sla_days?" in problems_with(tmp_path, freshness_days=3)["freshness_days"]
    location = {"url": "x", "exclud": []}
    assert "did you mean exclude?" in problems_with(tmp_path, location=location)["location.exclud"]


def test_a_secret_written_by_mistake_is_not_repeated(tmp_path: Path) -> None:
    problems = problems_with(
        tmp_path,
        parsing={"password_env": ["hunter2-secret"]},
        location={"url": "s3://key:hunter2-secret@bucket/x"},
    )
    assert len(problems) == 2
    assert "hunter2" not in str(problems)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("source_id: [unclosed\n", "not valid YAML"),
        ("- a\n- b\n", "must hold a mapping"),
        ("", "must hold a mapping"),
        (REFUNDS + "owner: somebody-else\n", "'owner' is written twice"),
        (
            REFUNDS.replace("{require_auth: true,", "{require_auth: true, require_auth: false,"),
            "'require_auth' is written twice",
        ),
        ("a: &a [x, x]\nb: [*a, *a]\n", "anchor or alias"),
        ("a: !!python/object/apply:os.getcwd []\n", "tag"),
        ("a: " + "[" * 100 + "]" * 100, "nested deeper"),
        ("a: " + "[" * 100_000, "YAML"),
        ("a: \x07", "not valid YAML"),
        ("a: " + "9" * 10_000, "YAML"),
        ("# " + "x" * (1 << 20), "larger than"),
    ],
)
def test_unacceptable_yaml_is_a_problem_of_its_file(tmp_path: Path, text: str, reason: str) -> None:
    assert reason in problems_of(tmp_path, text)[""]


def test_bytes_that_are_no_text_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"title: \xff\xfe\x00")
    assert "UTF-8" in load_manifests(tmp_path).problems[0].reason


def test_yaml_1_1_surprises_do_not_happen(tmp_path: Path) -> None:
    (tmp_path / "x.yml").write_text(REFUNDS.replace("language: en", "language: no"), encoding="utf-8")
    assert load_manifests(tmp_path).manifests["refund_policy"].language == "no"


def test_a_broken_manifest_stops_only_its_own_source_and_says_which(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        yaml.safe_dump(fields(source_id="broken", trust_tier=9)), encoding="utf-8"
    )
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(fields(source_id="zulu")), encoding="utf-8")
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(fields(source_id="alpha")), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not a manifest")
    (tmp_path / "d.yaml").mkdir()

    result = load_manifests(tmp_path)

    assert list(result.manifests) == ["alpha", "zulu"]
    broken, folder = result.problems
    assert (broken.file.name, broken.field, broken.source_id) == ("a.yaml", "trust_tier", "broken")
    assert str(broken).startswith(f"{broken.file}: trust_tier: must be")
    assert folder.file.name == "d.yaml"


@pytest.mark.parametrize("second_changes", [{}, {"trust_tier": 9}])
def test_a_source_id_claimed_twice_is_loaded_from_neither(
    tmp_path: Path, second_changes: dict[str, Any]
) -> None:
    (tmp_path / "one.yaml").write_text(REFUNDS, encoding="utf-8")
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(fields(**second_changes)), encoding="utf-8")
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(fields(source_id="other")), encoding="utf-8")

    result = load_manifests(tmp_path)

    assert list(result.manifests) == ["other"]
    duplicates: list[ManifestProblem] = [p for p in result.problems if p.field == "source_id"]
    assert [p.file.name for p in duplicates] == ["one.yaml", "two.yaml"]
    assert "two.yaml" in duplicates[0].reason
    assert "one.yaml" in duplicates[1].reason


def test_a_missing_folder_is_a_configuration_error_and_an_empty_one_is_not(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        load_manifests(tmp_path / "nowhere")
    assert load_manifests(tmp_path).manifests == {}


def test_locations_may_be_relative_absolute_or_urls(tmp_path: Path) -> None:
    def root(url: str) -> str:
        (tmp_path / "m.yaml").write_text(yaml.safe_dump(fields(location={"url": url})), encoding="utf-8")
        return str(resolve_root(load_manifests(tmp_path).manifests["refund_policy"]))

    assert root(".") == str(tmp_path)
    assert root("a b#c/100%") == str(tmp_path / "a b#c/100%")
    assert root("/srv/docs") == "/srv/docs"
    assert root("file:///srv/docs") == "/srv/docs"
    assert root("memory://bucket/docs") == "memory://bucket/docs"


def test_the_schema_describes_every_field() -> None:
    schema = manifest_schema()
    objects = [schema, *(d for d in schema["$defs"].values() if d["type"] == "object")]
    assert len(objects) > 4
    for described in objects:
        assert described["additionalProperties"] is False
        for name, field in described["properties"].items():
            assert field.get("description"), name
    assert sorted(schema["required"]) == sorted(GOVERNING)


@settings(max_examples=150)
@given(st.text(max_size=200) | st.text(alphabet="a:-[]{}&*!'\"#|> \n", max_size=200))
def test_no_text_crashes_the_loader(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("manifests")
    (folder / "x.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    result = load_manifests(folder)
    assert result.manifests == {}
    assert result.problems
