"""Spans of OpenTelemetry for the steps of a request, where the packages are there and somebody exports them.

They hold ids and counts, never texts: whoever collects spans need not be somebody who may read documents.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from rag_pipeline.errors import ConfigurationError

Attribute = str | int | float | bool
"""An id, a count, a name out of a fixed set: never words of a question, a document or an answer."""


@contextmanager
def step_span(name: str, **attributes: Attribute) -> Iterator[Callable[..., None]]:
    """A span for the block. Yields what adds attributes that are known only later: `note(found=12)`.

    Nothing happens without opentelemetry-api or without an exporter. Of an error the span keeps its type.
    """
    tracer = _tracer()
    if tracer is None:
        yield lambda **_: None
        return
    from opentelemetry.trace import Status, StatusCode

    # The SDK's own record of an exception holds its message, which may quote anything.
    with tracer.start_as_current_span(
        f"rag.{name}", record_exception=False, set_status_on_exception=False
    ) as span:

        def note(**later: Attribute) -> None:
            span.set_attributes({f"rag.{key}": value for key, value in later.items()})

        note(**attributes)
        try:
            yield note
        except BaseException as error:
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def export_spans(endpoint: str) -> None:
    """Send the spans of this process to an OTLP collector, such as http://localhost:4318.

    A provider that is set already, as `opentelemetry-instrument` does it, stays. Raises ConfigurationError
    where the packages are missing.
    """
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages that export spans are missing. Install the "
            "extra `otel` (pip install 'rag-pipeline[otel]'), or unset it."
        ) from None
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: "rag-pipeline"}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces"))
    )
    trace.set_tracer_provider(provider)


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("rag_pipeline")
