"""What documents say about themselves: it may narrow access and complete facts, never widen or break them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.sources.document import DocumentFacts
from rag_pipeline.sources.facts import document_facts
from rag_pipeline.sources.front_matter import FrontMatterError, split_front_matter
from rag_pipeline.sources.listing import HEAD_BYTES
from rag_pipeline.sources.manifest import Manifest

MODIFIED = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def source(*roles: str, public: bool = False, **changes: Any) -> Manifest:
    return Manifest.model_validate(
        {
            "source_id": "s", "title": "S", "system": "s", "owner": "o", "source_type": "other",
            "trust_tier": 3, "lifecycle": "active", "audience": ["all"], "environments": ["production"],
            "access_rules": {"require_auth": not public, "allowed_roles": list(roles)},
            "location": {"url": "."},
            **changes,
        }
    )  # fmt: skip


def facts_of(manifest: Manifest, text: str | bytes = "", sidecar: str | None = None) -> DocumentFacts:
    return document_facts(
        manifest,
        "guide.md",
        head=text if isinstance(text, bytes) else text.encode(),
        sidecar=None if sidecar is None else sidecar.encode(),
        modified_at=MODIFIED,
    )


def failure_of(manifest: Manifest, text: str | bytes = "", sidecar: str | None = None) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        facts_of(manifest, text, sidecar)
    return caught.value


def front(fields: str, body: str = "# Body\n") -> str:
    return f"---\n{fields}\n---\n{body}"


def test_without_own_facts_the_manifest_and_the_file_speak() -> None:
    manifest = source("hr", "it", language="de", effective_at="2026-01-01")
    assert facts_of(manifest, "# Title\n") == DocumentFacts(
        language="de",
        access_groups=("hr", "it"),
        updated_at=MODIFIED,
        effective_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_front_matter_completes_the_facts() -> None:
    text = front(
        "title: 'Sick leave: how to'\nlanguage: zh-Hans\nsource_url: https://example.org/sick?a=b#c\n"
        "updated_at: 2026-02-03 10:00:00 +0200\neffective_at: 2026-1-5\nvalid_until: 2027-01-01T00:00:00Z\n"
        "access_groups: [hr]\nsidebar: {nested: [1, 2]}\ntags: [a, b]"
    )
    assert facts_of(source("hr", "it"), text) == DocumentFacts(
        title="Sick leave: how to",
        language="zh-Hans",
        source_url="https://example.org/sick?a=b#c",
        access_groups=("hr",),
        updated_at=datetime(2026, 2, 3, 8, tzinfo=UTC),
        effective_at=datetime(2026, 1, 5, tzinfo=UTC),
        valid_until=datetime(2027, 1, 1, tzinfo=UTC),
    )


def test_a_sidecar_wins_over_front_matter() -> None:
    facts = facts_of(source("hr"), front("title: Old\nlanguage: en"), sidecar="title: New\n")
    assert (facts.title, facts.language) == ("New", "en")


@pytest.mark.parametrize("written", ["[]", "[hr]", "[hr, it]", "['hr']", "\n- hr"])
def test_access_can_be_narrowed_down_to_nobody(written: str) -> None:
    expected = tuple(group for group in ("hr", "it") if group in written)
    assert facts_of(source("hr", "it"), front(f"access_groups: {written}")).access_groups == expected
    assert facts_of(source("hr", "it"), sidecar=f"access_groups: {written}").access_groups == expected


@settings(max_examples=100)
@given(
    allowed=st.sets(st.sampled_from("abcd")),
    in_text=st.none() | st.sets(st.sampled_from("abcd")),
    beside=st.none() | st.sets(st.sampled_from("abcd")),
)
def test_access_never_widens(allowed: set[str], in_text: set[str] | None, beside: set[str] | None) -> None:
    text = "" if in_text is None else front(f"access_groups: {sorted(in_text)}")
    sidecar = None if beside is None else f"access_groups: {sorted(beside)}"
    manifest = source(*allowed)
    if (in_text or set()) <= allowed and (beside or set()) <= allowed:
        expected = (
            allowed & (allowed if in_text is None else in_text) & (allowed if beside is None else beside)
        )
        assert set(facts_of(manifest, text, sidecar).access_groups) == expected
    else:
        assert failure_of(manifest, text, sidecar).category is FailureCategory.ACCESS_WIDENED


def test_a_widening_names_the_groups_and_the_remedy() -> None:
    error = failure_of(source("hr"), front("access_groups: [hr, it]"))
    assert error.category is FailureCategory.ACCESS_WIDENED
    assert "guide.md: access_groups: it may not see this source; the source allows hr" in error.message
    assert not error.transient
    assert "allows nobody" in failure_of(source(), sidecar="access_groups: [hr]").message
    assert (
        failure_of(source("hr"), front("access_groups: [public]")).category is FailureCategory.ACCESS_WIDENED
    )


def test_a_restricted_document_does_not_belong_in_a_public_source() -> None:
    assert facts_of(source(public=True), front("access_groups: [public]")).access_groups == ("public",)
    assert facts_of(source(public=True), front("access_groups: []")).access_groups == ()
    error = failure_of(source(public=True), front("access_groups: [hr]"))
    assert error.category is FailureCategory.ACCESS_WIDENED
    assert "source is public" in error.message


@pytest.mark.parametrize(
    "block",
    [
        "access_groups: hr",
        "access_groups:",
        "access_groups: {hr: true}",
        "access_groups: [[hr]]",
        "access_groups: ['h r']",
        "access_groups: [hr",
        "access_groups: [hr]\naccess_groups: [hr, it]",
        "groups: &g [hr]\naccess_groups: *g",
        "title: {{ page.title }}\naccess_groups: [hr]",
        "Access-Groups: [hr]",
        "ACCESS_GROUPS: [hr]",
    ],
)
def test_unclear_access_groups_fail_closed(block: str) -> None:
    error = failure_of(source("hr", "it"), front(block))
    assert error.category is FailureCategory.BAD_METADATA
    assert "guide.md" in error.message


@pytest.mark.parametrize(
    "text",
    [
        "---\naccess_groups: [hr]\n\n# Never closed\n",
        "---\naccess_groups: [hr]\n" + "filler: x\n" * 10_000 + "---\n",
        "---\n" + "filler: x\n" * 10_000 + "access_groups: [hr]\n---\n",
    ],
)
def test_front_matter_that_is_not_closed_in_time_cannot_lose_its_access_groups(text: str) -> None:
    assert failure_of(source("hr"), text.encode()[:HEAD_BYTES]).category is FailureCategory.BAD_METADATA


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "gb18030", "latin-1"],
)
def test_access_groups_count_in_every_encoding(encoding: str) -> None:
    text = front("title: caf\u00e9\naccess_groups: [hr]").replace("\n", "\r\n")
    facts = facts_of(source("hr", "it"), text.encode(encoding))
    assert facts.access_groups == ("hr",)
    assert facts.title in {"caf\u00e9", None}


def test_dates_that_cannot_be_read_fail_and_other_oddities_do_not() -> None:
    error = failure_of(source("hr"), front("valid_until: whenever"))
    assert error.category is FailureCategory.BAD_METADATA
    assert "guide.md: valid_until: is not a date" in error.message
    assert "later than effective_at" in (
        failure_of(source("hr"), front("effective_at: 2026-01-02\nvalid_until: 2026-01-01")).message
    )
    odd = facts_of(
        source("hr"),
        front("title: [a, b]\nlanguage: Plain English\nsource_url: javascript:alert(1)\nupdated_at:\n1: 2"),
    )
    assert odd == DocumentFacts(access_groups=("hr",), updated_at=MODIFIED)


@pytest.mark.parametrize("written", ["2024", "no", "2026-01-01", "1.10", "12:30", "true"])
def test_scalars_are_titles_as_they_are_written(written: str) -> None:
    assert facts_of(source("hr"), front(f"title: {written}")).title == written


@pytest.mark.parametrize(
    ("sidecar", "message"),
    [
        ("titel: x", "guide.md.meta.yaml: titel: is not a known field"),
        ("source_url: ftp://example.org/x", "source_url: must be an http:// or https:// address"),
        ("source_url: https://me:pw@example.org/", "without a password"),
        ("source_url: 'https://[broken'", "must be an http:// or https:// address"),
        ("language: Plain English", "language: must match"),
        ("updated_at: yesterday", "updated_at: is not a date"),
        ("access_groups: hr", "access_groups: must be a list of group names"),
        ("title: [a]", "title: must be a valid string"),
        ("title: a\ntitle: b", "written twice"),
        ("- a", "must hold a mapping"),
        ("", "must hold a mapping"),
        ("title: [", "is not valid YAML"),
        ("title: " + "x" * 70_000, "is larger than"),
    ],
)
def test_a_sidecar_is_strict(sidecar: str, message: str) -> None:
    error = failure_of(source("hr"), sidecar=sidecar)
    assert error.category is FailureCategory.BAD_METADATA
    assert message in error.message


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("---\ntitle: A\n---\n# B\n", {"title": "A"}, "# B\n"),
        ("\ufeff---\r\ntitle: A\r\n---  \r\nB", {"title": "A"}, "B"),
        ("---\ntitle: A\n...\nB", {"title": "A"}, "B"),
        ("---\ntitle: A\n---", {"title": "A"}, ""),
        ("---\n---\nB", {}, "B"),
        ("---\n# A heading between two rules\n---\nB", None, None),
        ("---\na: |\n  text\n  --- not the end\n---\nB", {"a": "text\n--- not the end\n"}, "B"),
        ("# No front matter\n---\na: b\n---\n", None, None),
        ("---\nJust a paragraph between two rules.\n---\nB", None, None),
        ("---\n- a\n- b\n---\nB", None, None),
        ("---\ntitle: {{ page.title }}\n---\nB", None, None),
        ('---\ntitle: "unclosed\n---\nB', None, None),
        ("---\ntitle: never closed\n", None, None),
        ("----\ntitle: A\n----\n", None, None),
        ("--- \n\nA rule, then a text about `access_groups:` that no line closes.\n", None, None),
        ("", None, None),
    ],
)
def test_front_matter_is_split_from_the_body(
    text: str, fields: dict[str, object] | None, body: str | None
) -> None:
    found, offset = split_front_matter(text)
    assert found == fields
    assert text[offset:] == (text if body is None else body)


@settings(max_examples=150)
@given(st.text(alphabet="-.\r\n :a[]{}&*'\"\ufeff", max_size=60), st.booleans())
def test_splitting_keeps_every_character_of_the_body(text: str, opened: bool) -> None:
    whole = "---\n" + text if opened else text
    try:
        fields, offset = split_front_matter(whole)
    except FrontMatterError:
        return
    assert (fields is None) == (offset == 0)
    assert 0 <= offset <= len(whole)


def test_real_pages_never_fail_and_keep_their_titles(data_root: Path) -> None:
    pages = sorted(p for p in (data_root / "corpora").rglob("*.md") if p.is_file())
    assert len(pages) > 600
    manifest = source("staff")
    titled = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        facts = facts_of(manifest, text.encode()[:HEAD_BYTES])
        assert facts.access_groups == ("staff",)
        fields, offset = split_front_matter(text)
        assert facts.title == ((fields or {}).get("title") or None)
        assert not text[offset:].startswith("---\ntitle:")
        titled += facts.title is not None
    assert titled > 0.95 * len(pages)
