"""Manifests: the YAML record of a source, validated strictly before anything else looks at it."""

import os
import re
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    StrictInt,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from upath import UPath

from rag_pipeline.sources.moments import parse_moment

PUBLIC_GROUP = "public"
"""The access group that everybody is in. A manifest cannot grant it but by `require_auth: false`."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")
_URL_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")


class SourceType(StrEnum):
    """What kind of knowledge a source holds."""

    OFFICIAL_POLICY = "official_policy"
    PRODUCT_DOCS = "product_docs"
    RUNBOOK = "runbook"
    SUPPORT_NOTE = "support_note"
    DESIGN_DRAFT = "design_draft"
    COMMUNITY = "community"
    DATABASE_RECORD = "database_record"
    WEB_PAGE = "web_page"
    TOOL_RESULT = "tool_result"
    OTHER = "other"


class Lifecycle(StrEnum):
    """Where a source stands in its life."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    ARCHIVED = "archived"


class OcrMode(StrEnum):
    """When pages are read by OCR."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class CommentMode(StrEnum):
    """What becomes of reviewers' comments in Office documents."""

    KEEP = "keep"
    DROP = "drop"


def _no_dot_runs(value: str) -> str:
    if ".." in value:
        raise ValueError("must not hold two dots in a row")
    return value


def _no_password(url: str) -> str:
    if _URL_PASSWORD.search(url):
        raise ValueError("must not hold a password; give credentials to the file system's own settings")
    return url


def _plain_pattern(pattern: str) -> str:
    names = pattern.split("/")
    if "" in names:
        raise ValueError(
            "must be relative to the location, without empty parts; write docs/** for all below docs"
        )
    if ".." in names or "." in names:
        raise ValueError("must not hold '.' or '..' as a folder")
    return pattern


SourceId = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=100),
    AfterValidator(_no_dot_runs),
]  # fmt: skip
Text = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=500)]
GroupName = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:@-]*$", max_length=200)
]
LanguageTag = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)
]
VariableName = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Z_][A-Z0-9_]*$", max_length=100)]
Pattern = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=500), AfterValidator(_plain_pattern)
]
Moment = Annotated[
    datetime,
    BeforeValidator(parse_moment),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}
    ),
]
PositiveInt = Annotated[StrictInt, Field(gt=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class AccessRules(_Strict):
    """Who may see the documents of a source."""

    require_auth: StrictBool
    """false: everybody may see the source. true: only callers with one of the allowed roles."""
    allowed_roles: tuple[GroupName, ...] = ()
    """Access groups that may see the source. None, while require_auth is true, means nobody."""

    @model_validator(mode="after")
    def _no_contradiction(self) -> Self:
        if self.require_auth and PUBLIC_GROUP in self.allowed_roles:
            raise ValueError(
                f"allowed_roles holds the reserved role '{PUBLIC_GROUP}' while require_auth is true; "
                "set require_auth: false to publish the source, or name real roles"
            )
        if not self.require_auth and set(self.allowed_roles) - {PUBLIC_GROUP}:
            raise ValueError(
                "allowed_roles restricts the source while require_auth is false, which publishes it; "
                "set require_auth: true, or remove allowed_roles"
            )
        return self


class Location(_Strict):
    """Where a source's files lie and which of them are its documents."""

    url: Annotated[Text, AfterValidator(_no_password)]
    """A folder: a path relative to this manifest's folder, an absolute path, or any fsspec URL (s3://…)."""
    include: Annotated[tuple[Pattern, ...], Field(min_length=1)] = ("**/*",)
    """Patterns of paths below the location that are documents; ** stands for any number of folders.
    Hidden files match only where the pattern writes their leading dot."""
    exclude: tuple[Pattern, ...] = ()
    """Patterns of paths that are not documents although they are included; hidden files match too."""


class Limits(_Strict):
    """What one document may cost; a document over a limit becomes a dead letter."""

    max_bytes: PositiveInt = 100 * 1024 * 1024
    """Size of the file, in bytes."""
    max_pages: PositiveInt = 2000
    """Pages of a document that has pages."""
    timeout_seconds: PositiveInt = 300
    """Wall time of converting one document, in seconds."""
    memory_mb: PositiveInt = 2048
    """Memory of the process that converts a document, in MiB."""


class Parsing(_Strict):
    """How a source's documents are read."""

    ocr: OcrMode = OcrMode.AUTO
    """auto: pages without usable text; always: every page; never: such pages fail."""
    password_env: tuple[VariableName, ...] = ()
    """Names of environment variables that hold passwords of encrypted documents. Never a password itself."""
    comments: CommentMode = CommentMode.KEEP
    """keep: reviewers' comments in Office documents are kept, marked as comments; drop: they are left out."""
    limits: Limits = Limits()
    """What one document may cost."""


class Manifest(_Strict):
    """One knowledge source: its identity, owner, trust, lifecycle, access, freshness and location.

    Whatever governs identity, trust or access has no default: a manifest that leaves it out is refused.
    """

    model_config = ConfigDict(title="Source manifest")

    source_id: SourceId
    """Unique name of the source: a to z, digits, '_', '.', '-'. It is part of every document's id."""
    title: Text
    """What people call the source."""
    system: Text
    """The system that the source's documents come from."""
    owner: Text
    """The team that answers for the source."""
    source_type: SourceType
    """What kind of knowledge the source holds."""
    trust_tier: Annotated[StrictInt, Field(ge=1, le=5)]
    """How far the source is trusted: 1 most, 5 least."""
    lifecycle: Lifecycle
    """Where the source stands in its life."""
    audience: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Whom the source is written for."""
    environments: Annotated[tuple[Text, ...], Field(min_length=1)]
    """The environments that the source describes (production, staging)."""
    access_rules: AccessRules
    """Who may see the source's documents."""
    location: Location
    """Where the source's files lie."""
    tenant: GroupName = "default"
    """The tenant that the source belongs to."""
    language: LanguageTag | None = None
    """Language of the documents (en, zh-Hant) where they do not say it themselves."""
    freshness_sla_days: PositiveInt | None = None
    """Days after which the source counts as stale when nothing in it was updated or reviewed."""
    effective_at: Moment | None = None
    """When the source's content takes effect. A date means 00:00 UTC of that day."""
    valid_until: Moment | None = None
    """When the source's content stops being valid. A date means 00:00 UTC of that day."""
    last_reviewed_at: Moment | None = None
    """When the owner last confirmed the content. A date means 00:00 UTC of that day."""
    parsing: Parsing = Parsing()
    """How the source's documents are read."""

    _folder: Path = PrivateAttr(default=Path())

    def model_post_init(self, context: Any, /) -> None:
        """Remember the manifest's own folder, which relative locations start from."""
        if context and "folder" in context:
            self._folder = context["folder"]

    @model_validator(mode="after")
    def _valid_after_effective(self) -> Self:
        if self.effective_at and self.valid_until and self.valid_until <= self.effective_at:
            raise ValueError("valid_until must be later than effective_at")
        return self

    @property
    def access_groups(self) -> tuple[str, ...]:
        """The groups that may see the source's documents, sorted; empty means nobody."""
        if not self.access_rules.require_auth:
            return (PUBLIC_GROUP,)
        return tuple(sorted(set(self.access_rules.allowed_roles)))

    @property
    def folder(self) -> Path:
        """The folder that the manifest was loaded from; the working folder if it was made in memory."""
        return self._folder


def resolve_root(manifest: Manifest) -> UPath:
    """The folder of the source's files. Local ones become absolute paths without a scheme."""
    url = manifest.location.url
    if url.startswith(("file://", "local://")):
        url = UPath(url).path
    if _URL.match(url):
        return UPath(url)
    return UPath(os.path.realpath(manifest.folder / url))  # unlike Path.resolve, no error for a loop of links


def manifest_schema() -> dict[str, Any]:
    """JSON Schema of a manifest file, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Manifest.model_json_schema()}
