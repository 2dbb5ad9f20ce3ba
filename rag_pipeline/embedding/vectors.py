"""The checks that every model's output passes before it counts as a vector."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.embedding.embedder import Vector


class BadVector(ValueError):
    """A model's output is no direction in space; the message says why."""


def unit_vector(values: NDArray[Any], dimensions: int) -> Vector:
    """The values scaled to length 1, as float32.

    Raises BadVector where they are not `dimensions` finite numbers, or all zero.
    """
    if values.shape != (dimensions,):
        raise BadVector(f"a vector has {values.size} numbers, {dimensions} expected")
    exact = values.astype(np.float64)
    largest = float(np.abs(exact).max())
    if not np.isfinite(largest):
        raise BadVector("a vector holds numbers that are not finite")
    if largest == 0.0:
        raise BadVector("a vector is all zeros")
    exact /= largest  # so that squaring neither overflows nor vanishes
    return (exact / np.linalg.norm(exact)).astype(np.float32)
