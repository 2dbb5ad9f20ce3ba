"""Evaluations for tests, as running question sets would leave them."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from rag_pipeline.evaluation.case import Category
from rag_pipeline.evaluation.result import (
    CaseResult,
    Comparison,
    Dimension,
    Evaluation,
    GateResult,
    LifecycleResult,
    Metric,
    Severity,
    Slice,
)
from rag_pipeline.query.response import Citation
from rag_pipeline.query.trace import (
    CitedClaim,
    Outcome,
    RecordedConflict,
    RecordedPosition,
    RejectedEvidence,
    StepTiming,
    Trace,
)
from rag_pipeline_tests.sample_traces import trace_of, used_evidence

STARTED = datetime(2026, 11, 30, 13, 20, tzinfo=UTC)

SENTINEL = "executed"
"""The variable of the window that every hostile text tries to set."""

HOSTILE_TEXTS = (
    f"</script><script>window.{SENTINEL} = 1</script>",
    f"<img src=x onerror='window.{SENTINEL} = 2'>",
    f"<svg onload=window.{SENTINEL}=3>",
    f"\"'><iframe srcdoc='<script>parent.{SENTINEL} = 4</script>'></iframe>",
    f"{{{{ 7 * 7 }}}} ${{window.{SENTINEL} = 5}} <!-- <script> -->",
    "\u202eright to left override\u202c مرحبا بالعالم",
    "pneumono" * 300,
    "电池可续航多久？" * 40,
)

HOSTILE_LINK = f"javascript:window.{SENTINEL}=6"


def citation(**fields: Any) -> Citation:
    """One claim with the passage S1."""
    values: dict[str, Any] = {
        "label": "S1",
        "claim": "Hardware goes back within 30 days.",
        "title": "Refund policy 2026",
        "section": "Hardware > Returns",
        "url": "https://docs.example.com/refunds",
        "effective_at": STARTED,
        "trust_tier": 1,
    }
    return Citation(**(values | fields))


def trace(*texts: str, cited: Sequence[int] = (0,), **fields: Any) -> Trace:
    """A trace with a passage for each text, of which some are cited, and one rejected candidate."""
    trace_id = uuid.uuid4().hex
    evidence = [
        used_evidence(
            f"refunds/page-{number}.md",
            trace_id=trace_id,
            label=f"S{number}",
            # Texts that are the same are one chunk, as in a collection.
            chunk_id=f"refunds/page.md:{abs(hash(text)) % 16**12:012x}:0",
            text=text,
        )
        for number, text in enumerate(texts, start=1)
    ]
    values: dict[str, Any] = {
        "trace_id": trace_id,
        "citations": [CitedClaim(evidence_ids=[evidence[one].evidence_id for one in cited if evidence])],
        "rejected": [
            RejectedEvidence(
                chunk_id="macros/old.md:abcdefabcdef:2",
                document_id="macros/old.md",
                reason="below the threshold",
                relevance=0.21,
            )
        ],
        "steps": [
            StepTiming(step="plan queries", milliseconds=0.4),
            StepTiming(step="retrieve", milliseconds=21.5),
        ],
        "queries": ["How long may hardware be returned?", "returns of hardware"],
    }
    return trace_of(evidence, **(values | fields))


def conflict() -> RecordedConflict:
    """Two documents that differ, of which the one with the higher trust is followed."""
    return RecordedConflict(
        kind="duration",
        winner="S1",
        decided_by="trust_tier",
        policy="prefer",
        positions=[
            RecordedPosition(
                label="S1",
                document_id="refunds/page-1.md",
                shown="30 days",
                followed=True,
                sentence="30 days.",
            ),
            RecordedPosition(
                label="S2",
                document_id="refunds/page-2.md",
                shown="60 days",
                followed=False,
                sentence="60 days!",
            ),
        ],
    )


def case(case_id: str, **fields: Any) -> CaseResult:
    """A case that passed."""
    values: dict[str, Any] = {
        "case_id": case_id,
        "set_name": "sample",
        "category": Category.ANSWERABLE,
        "language": "en",
        "sources": ("refunds",),
        "question": f"How long may hardware be returned? ({case_id})",
        "groups": ("support",),
        "expected": (Outcome.ANSWERED,),
        "required": ("refunds/page-1.md",),
        "outcome": Outcome.ANSWERED,
        "answer": "Hardware goes back within 30 days. [S1]",
        "citations": (citation(),),
        "milliseconds": 24.0,
        "scores": {"hit@5": 1.0, "citation_precision": 1.0},
        "failures": (),
    }
    merged = values | fields
    if "trace" not in merged:
        merged["trace"] = trace("Hardware goes back within 30 days.", "The battery lasts a year.")
    return CaseResult(**merged)


def failed(case_id: str, *failures: str, **fields: Any) -> CaseResult:
    """A case that found nothing where there is something."""
    values: dict[str, Any] = {
        "outcome": Outcome.NO_EVIDENCE,
        "answer": "The knowledge base has nothing reliable on this.",
        "citations": (),
        "scores": {"hit@5": 0.0},
        "failures": failures or ("no_evidence was given, and answered is right",),
        "trace": trace(outcome=Outcome.NO_EVIDENCE, citations=[], attempts=[]),
    }
    return case(case_id, **(values | fields))


def errored(case_id: str, error: str = "StoreError: the store does not answer", **fields: Any) -> CaseResult:
    """A case that raised."""
    values: dict[str, Any] = {
        "outcome": None,
        "answer": "",
        "citations": (),
        "scores": {},
        "error": error,
        "trace": None,
    }
    return case(case_id, **(values | fields))


def evaluation(cases: Iterable[CaseResult], **fields: Any) -> Evaluation:
    """An evaluation of some cases, with the sums that they have."""
    given = tuple(cases)
    values: dict[str, Any] = {
        "evaluation_id": "0f3c1d2b4a5e",
        "started_at": STARTED,
        "seconds": 41.2,
        "alias": "knowledge",
        "generation": "knowledge_5ab31c02_3",
        "fingerprint": "5ab31c02" * 8,
        "embedding_model": "multilingual-e5-small",
        "answering_model": "extractive",
        "sets": tuple(dict.fromkeys(one.set_name for one in given)),
        "slices": (
            _slice(Dimension.ALL, "all", given),
            *_slices(Dimension.CATEGORY, given, lambda one: (one.category.value,)),
            *_slices(Dimension.LANGUAGE, given, lambda one: (one.language,)),
            *_slices(Dimension.SOURCE, given, lambda one: one.sources),
        ),
        "cases": given,
        "gates": (gate("leaks", value=0.0, bound=0.0, message="No case showed what its asker may not see."),),
    }
    return Evaluation(**(values | fields))


def gate(name: str, *, passed: bool = True, severity: Severity = Severity.ERROR, **fields: Any) -> GateResult:
    """A gate that holds, unless it is said not to."""
    return GateResult(**({"name": name, "passed": passed, "severity": severity, "message": "Fine."} | fields))


def good() -> Evaluation:
    """Everything passed."""
    return evaluation(
        [
            case("returns"),
            case("returns-zh", language="zh", question="硬件签收后多少天内可以退货？", milliseconds=31.0),
            case("battery", category=Category.PARAPHRASE, sources=("handbook",)),
        ]
    )


def failing() -> Evaluation:
    """Three cases that are wrong, gates that say so, and what is different from before."""
    cases = [
        case("returns"),
        case(
            "which-rule",
            category=Category.CONFLICT,
            trace=trace("Within 30 days.", "Within 60 days!", conflicts=[conflict()]),
        ),
        failed("nordic", "refunds/nordic.md is not cited", category=Category.CONFLICT, sources=("nordic",)),
        case(
            "salaries",
            category=Category.UNAUTHORIZED,
            expected=(Outcome.NO_EVIDENCE,),
            failures=("the answer shows hr/salaries.md, which the asker may not see",),
        ),
        errored("broker", category=Category.OUTAGE),
    ]
    return evaluation(
        cases,
        gates=(
            gate(
                "leaks",
                passed=False,
                value=1.0,
                bound=0.0,
                message="1 case leaks.",
                cases=("sample/salaries",),
            ),
            gate("mrr", value=0.97, bound=0.9),
            gate(
                "latency_p95",
                passed=False,
                severity=Severity.WARN,
                value=2400.0,
                bound=2000.0,
                message="Slower than allowed.",
                cases=("sample/nordic", "sample/gone"),
            ),
        ),
        comparisons=(
            Comparison(
                other="the last run",
                n=4,
                better=("sample/which-rule",),
                worse=("sample/nordic", "sample/salaries"),
                metrics={"mrr": (0.8, 0.95, 0.031), "latency_p50": (24.0, 20.0, 0.4)},
            ),
        ),
        lifecycle=(
            LifecycleResult(
                case_id="price-update",
                set_name="sample",
                action="update",
                document="refunds/prices.md",
                failures=("the old price is still cited",),
            ),
        ),
    )


def hostile() -> Evaluation:
    """Every text that is not ours tries to run, to break out, or to be too long."""
    cases = []
    for number, text in enumerate(HOSTILE_TEXTS):
        cases.append(
            case(
                f"hostile-{number}",
                set_name=f"set {number} \"'&<b>",
                category=Category.INJECTION,
                sources=(text[:200],),
                question=text,
                groups=(text[:200],),
                required=(text,),
                reference=text[:2000],
                answer=f"{text} [S1]",
                citations=(citation(claim=text, title=text, section=text, url=HOSTILE_LINK),),
                failures=(text,),
                trace=trace(
                    text, queries=[text], notes=[text], reason=text, sources=[text], scope={text: text}
                ),
            )
        )
    text = HOSTILE_TEXTS[0]
    return evaluation(
        [*cases, errored("raised", text)],
        alias=text,
        generation=text,
        answering_model=text,
        gates=(gate(text, passed=False, message=text, cases=(text, cases[0].key)),),
        comparisons=(Comparison(other=text, n=1, better=(text,), worse=(), metrics={text: (0.5, 0.4, 0.1)}),),
        lifecycle=(
            LifecycleResult(
                case_id=text, set_name=text, action=text, document=text, failures=(text,), error=text
            ),
        ),
    )


def _slices(dimension: Dimension, cases: Sequence[CaseResult], names_of: Any) -> list[Slice]:
    names = sorted({name for one in cases for name in names_of(one)})
    return [_slice(dimension, name, [one for one in cases if name in names_of(one)]) for name in names]


def _slice(dimension: Dimension, name: str, cases: Sequence[CaseResult]) -> Slice:
    scores: dict[str, list[float]] = {}
    for one in cases:
        for metric, value in one.scores.items():
            scores.setdefault(metric, []).append(value)
    means = {metric: sum(values) / len(values) for metric, values in scores.items()}
    return Slice(
        dimension=dimension,
        name=name,
        n=len(cases),
        passed=sum(one.passed for one in cases),
        errored=sum(one.error is not None for one in cases),
        refused=sum(one.outcome is Outcome.NO_EVIDENCE for one in cases),
        metrics=tuple(
            Metric(
                name=metric,
                n=len(scores[metric]),
                value=mean,
                low=max(0.0, mean - 0.1),
                high=min(1.0, mean + 0.1),
            )
            for metric, mean in means.items()
        ),
    )
