"""Spans of a request's steps: none without the packages, and never with texts."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.query.asking import ask
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.spans import step_span
from rag_pipeline_tests.knowledge_base import KnowledgeBase

WITHOUT_PACKAGES = """
import sys
sys.modules["opentelemetry"] = None
from rag_pipeline.errors import ConfigurationError
from rag_pipeline.query.spans import export_spans, step_span
with step_span("retrieve", queries=2) as note:
    note(found=3)
try:
    export_spans("http://localhost:4318")
except ConfigurationError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def exporter() -> Any:
    """An exporter that keeps spans in memory, for the rest of this process."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk (extra otel) is missing")
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    made = InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    trace.set_tracer_provider(provider)
    return made


@pytest.fixture
def spans(exporter: Any) -> Any:
    exporter.clear()
    return exporter.get_finished_spans


def test_without_the_packages_steps_run_and_exporting_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PACKAGES], stdout=subprocess.PIPE, text=True, check=True
    )
    assert "pip install 'rag-pipeline[otel]'" in done.stdout


def test_an_error_of_a_step_gets_through() -> None:
    with pytest.raises(KeyError), step_span("think"):
        raise KeyError("x")


def test_steps_are_spans_within_each_other(spans: Any) -> None:
    with step_span("ask", trace_id="t1"), step_span("retrieve", queries=2) as note:
        note(found=3)
    inner, outer = spans()
    assert (outer.name, dict(outer.attributes)) == ("rag.ask", {"rag.trace_id": "t1"})
    assert (inner.name, dict(inner.attributes)) == ("rag.retrieve", {"rag.queries": 2, "rag.found": 3})
    assert inner.parent.span_id == outer.context.span_id


def test_the_steps_of_a_request_are_within_its_span(spans: Any, tmp_path: Path) -> None:
    services = KnowledgeBase(tmp_path).services
    response = ask({"question": ""}, Identity(), services)
    services.ledger.close()
    step, whole = spans()
    assert (whole.name, dict(whole.attributes)) == ("rag.ask", {"rag.trace_id": response.trace_id})
    assert step.parent.span_id == whole.context.span_id
    assert step.name.startswith("rag.validate")


def test_an_error_leaves_its_type_and_not_its_words(spans: Any) -> None:
    with pytest.raises(ValueError, match="4711"), step_span("answer"):
        raise ValueError("The combination is 4711.")
    (span,) = spans()
    assert span.status.description == "ValueError"
    assert "4711" not in span.to_json()
