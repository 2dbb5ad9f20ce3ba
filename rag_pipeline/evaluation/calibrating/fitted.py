"""What a calibration is, how it came about and what it is worth: all that its file holds."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator

from rag_pipeline.evaluation.calibrating.proportions import Bin, Rate, Scores
from rag_pipeline.query.relevance.calibration import Calibration
from rag_pipeline.query.relevance.signals import ScriptPair

_VERSION = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Origin(StrEnum):
    """Where a pair's weights come from."""

    FITTED = "fitted"
    DEFAULT = "default"


class Refusals(_Record):
    """What a threshold refuses. None where there is no such case."""

    false: Rate | None
    """Of the answerable cases that find a right chunk at all: none of these passes."""
    due: Rate | None
    """Of the cases without an answer: nothing passes."""


class PairFigures(_Record):
    """The cases of one pair of scripts, held against a threshold that was chosen without them."""

    scripts: ScriptPair
    weights: Origin
    right_chunks: int
    wrong_chunks: int
    answerable: int
    unanswerable: int
    refusals: Refusals


class CurvePoint(_Record):
    """What another threshold would do to the same cases. None where there is nothing to take a share of."""

    threshold: float
    recall: float | None
    """Of the answerable cases: a right chunk passes."""
    precision: float | None
    """Of the cases for which anything passes: a right chunk does."""
    refused: float | None
    """Of the cases without an answer: nothing passes."""


class Fitted(_Record):
    """A calibration for one fingerprint, and the evidence for it. It holds no text of documents or cases.

    Everything that is measured is measured on cases that were not fitted, each in its turn.
    """

    format: Literal[1] = 1
    calibration: Calibration
    generation: str
    embedding_model: str
    fitted_at: datetime
    sets: tuple[str, ...]
    answerable: int
    unanswerable: int
    not_found: tuple[str, ...]
    """The answerable cases that find none of their right chunks, whatever the threshold."""
    by_document: bool
    """Whether all cases of a document were measured together."""
    wanted_false_refusals: float
    refusals: Refusals
    """Of answerable questions in the script of their documents, and of all without an answer."""
    default_refusals: Refusals
    """The same cases by the default of the model."""
    scores: Scores
    moved: float
    """What was added to the logit of fitted pairs, so that the threshold is a relevance of one half."""
    pairs: tuple[PairFigures, ...]
    warnings: tuple[str, ...]
    curve: tuple[CurvePoint, ...]
    reliability: tuple[Bin, ...]
    """Of fitted chunks, before the logit was moved."""

    @field_validator("calibration")
    @classmethod
    def _known(cls, calibration: Calibration) -> Calibration:
        if calibration.version != _VERSION:
            raise ValueError(f"its version is {calibration.version}, and only {_VERSION} is known here")
        return calibration

    @property
    def fingerprint(self) -> str:
        """The generations for which this is."""
        return self.calibration.fitted_for

    @property
    def origins(self) -> Mapping[ScriptPair, Origin]:
        """Where the weights of each pair come from."""
        return {one.scripts: one.weights for one in self.pairs}
