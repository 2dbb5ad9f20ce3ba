"""Errors on their way to Dagster."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from rag_pipeline.errors import RagPipelineError


@contextmanager
def said_to_people() -> Iterator[None]:
    """Our own errors fail the step with their sentence; retrying it at once would not help."""
    try:
        yield
    except RagPipelineError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
