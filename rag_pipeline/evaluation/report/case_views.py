"""A case as the page shows it: where links find it, labels that lead to citations, safe addresses."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from rag_pipeline.evaluation.report.phrases import case_state
from rag_pipeline.evaluation.result import CaseResult, LifecycleResult
from rag_pipeline.query.response import Citation

_LABEL = re.compile(r"\[(S\d+)\]")
_SAFE_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that an answer cites: the claims that rest on it, and what is known of it."""

    label: str
    title: str
    section: str
    url: str | None
    link: str | None
    effective_at: datetime | None
    trust_tier: int
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case with what its record does not say of itself.

    `answer` is the answer in parts: text, and labels of passages where they are cited below.
    """

    result: CaseResult
    anchor: str
    state: str
    answer: tuple[tuple[str, bool], ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A case that a gate or a comparison names; without an anchor where the evaluation has no such case."""

    name: str
    anchor: str | None


def view(case: CaseResult) -> CaseView:
    """What the page shows of a case."""
    sources = _by_label(case.citations)
    return CaseView(
        result=case,
        anchor=anchor(case.set_name, case.case_id),
        state=case_state(case),
        answer=tuple(_parts(case.answer, {one.label for one in sources})),
        sources=sources,
    )


def anchor(set_name: str, case_id: str) -> str:
    """The fragment that leads to a case: the id of its element, which the page's script knows too."""
    return f"case={quote(f'{set_name}/{case_id}', safe='/')}"


def anchors(cases: Iterable[CaseResult | LifecycleResult]) -> dict[str, str]:
    """Where each case is, by set and id."""
    return {f"{one.set_name}/{one.case_id}": anchor(one.set_name, one.case_id) for one in cases}


def safe_link(url: str | None) -> str | None:
    """An address that may become a link: of the web, nothing that a browser would run or open from disk."""
    return url if url and _SAFE_ADDRESS.fullmatch(url) else None


def _by_label(citations: Sequence[Citation]) -> tuple[Source, ...]:
    found: dict[str, list[Citation]] = {}
    for one in citations:
        found.setdefault(one.label, []).append(one)
    return tuple(
        Source(
            label=label,
            title=first.title,
            section=first.section,
            url=first.url,
            link=safe_link(first.url),
            effective_at=first.effective_at,
            trust_tier=first.trust_tier,
            claims=tuple(dict.fromkeys(one.claim for one in (first, *others))),
        )
        for label, (first, *others) in found.items()
    )


def _parts(answer: str, labels: set[str]) -> Iterable[tuple[str, bool]]:
    for number, part in enumerate(_LABEL.split(answer)):
        if number % 2 and part in labels:
            yield part, True
        elif part:
            yield (f"[{part}]" if number % 2 else part), False
