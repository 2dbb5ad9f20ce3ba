"""What a document refers to elsewhere: parts that a viewer would fetch, and this pipeline never does."""

import io
import re
import zipfile
from typing import Final

from rag_pipeline.normalize import mime_types as types

_RELATION: Final = re.compile(rb"<Relationship\b[^<>]*>")
_LINKS_ONLY: Final = re.compile(rb"""Type\s*=\s*["'][^"']*/hyperlink["']""")
_EXTERNAL: Final = re.compile(rb"""TargetMode\s*=\s*["']External["']""")
_FETCHED: Final = re.compile(
    rb"""<(?:img|script|iframe|frame|embed|source|video|audio|link|object|input)\b[^<>]{0,2000}?"""
    rb"""\b(?:src|href|data)\s*=\s*["']?\s*(?:https?:)?//""",
    re.IGNORECASE,
)
_SYSTEM: Final = re.compile(rb"""<!DOCTYPE\s[^<>\[]{0,500}\bSYSTEM\b|<\?xml-stylesheet\b""", re.IGNORECASE)
_MARKUP: Final = frozenset({types.HTML, types.MARKDOWN, types.EML})
_MAX_RELATIONS: Final = 4 * 1024 * 1024


def remote_parts(data: bytes, mime_type: str) -> int:
    """How many images, scripts, style sheets, templates and the like a document would have fetched.

    Links that a reader may follow are not counted. `data` must have passed the limits on archives.
    """
    if mime_type in types.OFFICE_OPEN_XML:
        return _external_relations(data)
    if mime_type in _MARKUP:
        return len(_FETCHED.findall(data))
    if mime_type in (types.XML, types.JATS, types.USPTO):
        return len(_SYSTEM.findall(data[:_MAX_RELATIONS]))
    return 0


def _external_relations(data: bytes) -> int:
    count = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.filename.endswith(".rels"):
                with archive.open(member) as part:
                    relations = _RELATION.findall(part.read(_MAX_RELATIONS))
                count += sum(bool(_EXTERNAL.search(one)) and not _LINKS_ONLY.search(one) for one in relations)
    return count
