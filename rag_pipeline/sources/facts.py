"""A document's facts: its manifest's, narrowed and completed by front matter and by a sidecar file."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.sources.document import DocumentFacts
from rag_pipeline.sources.front_matter import FrontMatterError, split_front_matter
from rag_pipeline.sources.manifest import PUBLIC_GROUP, GroupName, LanguageTag, Manifest, Moment
from rag_pipeline.sources.strict_yaml import StrictYamlError, load_text

SIDECAR_SUFFIX = ".meta.yaml"
"""What a sidecar's name adds to the whole name of the document that it describes."""

MAX_SIDECAR_BYTES = 1 << 16

_ACCESS = "access_groups"
_MOMENTS = ("updated_at", "effective_at", "valid_until")
# With or without a byte order mark; in every other encoding that people use, front matter is ASCII.
_ENCODINGS = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")


def _web_url(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = None
    if not parts or parts.scheme not in {"http", "https"} or not parts.hostname or parts.password:
        raise ValueError("must be an http:// or https:// address, without a password")
    if not value.isprintable() or " " in value:
        raise ValueError("must not hold spaces or control characters")
    return value


class OwnFacts(BaseModel):
    """What a document may say about itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)] | None = (
        None
    )
    updated_at: Moment | None = None
    effective_at: Moment | None = None
    valid_until: Moment | None = None
    source_url: Annotated[str, StringConstraints(max_length=4000), AfterValidator(_web_url)] | None = None
    access_groups: tuple[GroupName, ...] | None = None
    language: LanguageTag | None = None


def document_facts(
    manifest: Manifest, name: str, *, head: bytes, sidecar: bytes | None, modified_at: datetime | None
) -> DocumentFacts:
    """The facts of the document called `name`, whose first bytes are `head`.

    A sidecar's value wins over front matter, front matter over the manifest; `modified_at`, the time of the
    file, is used where the document does not say when it was updated. Access groups can only be narrowed:
    each place must name a subset of the source's groups, and where both name some, those in both count.
    Raises DocumentError: ACCESS_WIDENED, or BAD_METADATA where a value that governs use cannot be trusted.
    """
    allowed = manifest.access_groups
    front = _front_matter_facts(name, head)
    beside = OwnFacts() if sidecar is None else _sidecar_facts(name + SIDECAR_SUFFIX, sidecar)
    effective_at = beside.effective_at or front.effective_at
    valid_until = beside.valid_until or front.valid_until
    if effective_at and valid_until and valid_until <= effective_at:
        raise _bad_metadata(name, "valid_until", "must be later than effective_at")
    groups = set(allowed)
    for place, facts in ((name, front), (name + SIDECAR_SUFFIX, beside)):
        if facts.access_groups is not None:
            _refuse_widening(place, facts.access_groups, allowed)
            groups &= set(facts.access_groups)
    return DocumentFacts(
        title=beside.title or front.title,
        language=beside.language or front.language or manifest.language,
        source_url=beside.source_url or front.source_url,
        access_groups=tuple(sorted(groups)),
        updated_at=beside.updated_at or front.updated_at or modified_at,
        effective_at=effective_at or manifest.effective_at,
        valid_until=valid_until or manifest.valid_until,
    )


def _front_matter_facts(name: str, head: bytes) -> OwnFacts:
    """Documents in the wild carry all sorts of fields: known ones count, few are worth failing for."""
    try:
        fields, _ = split_front_matter(_decoded(head))
    except FrontMatterError as error:
        raise DocumentError(FailureCategory.BAD_METADATA, f"{name}: {error}; correct it") from None
    if not fields:
        return OwnFacts()
    for key in fields:
        if key != _ACCESS and key.casefold().replace("-", "_").replace(" ", "_") == _ACCESS:
            raise _bad_metadata(name, key, f"looks like {_ACCESS} but is not; write {_ACCESS}")
    known = {
        key: value
        for key, value in fields.items()
        if key in OwnFacts.model_fields and (key == _ACCESS or _says_something(value))
    }
    try:
        return OwnFacts.model_validate(known)
    except ValidationError as error:
        wrong = {str(details["loc"][0]) for details in error.errors()}
        if wrong & {_ACCESS, *_MOMENTS}:
            raise _first_problem(name, error, among={_ACCESS, *_MOMENTS}) from None
    return OwnFacts.model_validate({key: value for key, value in known.items() if key not in wrong})


def _says_something(value: object) -> bool:
    """False for an empty field, and for text that was decoded wrongly."""
    return not isinstance(value, str) or bool(value.strip() and "\ufffd" not in value)


def _decoded(head: bytes) -> str:
    """Enough of the text to read front matter."""
    for encoding in _ENCODINGS:
        if head.startswith(("---".encode(encoding), "\ufeff---".encode(encoding))):
            return head.decode(encoding, errors="replace")
    return head.decode("utf-8", errors="replace")


def _sidecar_facts(name: str, data: bytes) -> OwnFacts:
    if len(data) > MAX_SIDECAR_BYTES:
        raise DocumentError(
            FailureCategory.BAD_METADATA, f"{name}: is larger than {MAX_SIDECAR_BYTES} bytes; shorten it"
        )
    try:
        value = load_text(data.decode("utf-8-sig"), unique_keys=True)
    except UnicodeDecodeError:
        raise DocumentError(
            FailureCategory.BAD_METADATA, f"{name}: is not UTF-8 text; save it as UTF-8"
        ) from None
    except StrictYamlError as error:
        raise DocumentError(FailureCategory.BAD_METADATA, f"{name}: {error}") from None
    if not isinstance(value, Mapping):
        raise DocumentError(FailureCategory.BAD_METADATA, f"{name}: must hold a mapping of fields (title: …)")
    try:
        return OwnFacts.model_validate(value)
    except ValidationError as error:
        raise _first_problem(name, error) from None


def _first_problem(name: str, error: ValidationError, among: set[str] | None = None) -> DocumentError:
    for details in error.errors(include_url=False, include_input=False):
        field = str(details["loc"][0]) if details["loc"] else ""
        if among is None or field in among:
            break
    match details["type"]:
        case "extra_forbidden":
            reason = f"is not a known field; use {', '.join(OwnFacts.model_fields)}"
        case "value_error":
            reason = str(details["ctx"]["error"])
        case "tuple_type":
            reason = "must be a list of group names; [] means nobody"
        case _:
            reason = details["msg"].replace("Input should be", "must be").replace("String should", "must")
    return _bad_metadata(name, field, reason)


def _bad_metadata(name: str, field: str, reason: str) -> DocumentError:
    return DocumentError(FailureCategory.BAD_METADATA, f"{name}: {field}: {reason}")


def _refuse_widening(place: str, groups: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    extra = sorted(set(groups) - set(allowed))
    if not extra:
        return
    if allowed == (PUBLIC_GROUP,):
        remedy = "the source is public, so move the document to a source that restricts access"
    else:
        remedy = f"the source allows {', '.join(allowed) or 'nobody'}; remove them or extend the manifest"
    raise DocumentError(
        FailureCategory.ACCESS_WIDENED,
        f"{place}: {_ACCESS}: {', '.join(extra)} may not see this source; {remedy}",
    )
