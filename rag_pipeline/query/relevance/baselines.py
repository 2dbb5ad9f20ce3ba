"""What signals are measured against, kept from one request to the next."""

from dataclasses import dataclass, field

from rag_pipeline.query.relevance.fitted import FittedCalibrations
from rag_pipeline.query.relevance.references import References
from rag_pipeline.query.relevance.term_weights import TermWeights


@dataclass(frozen=True, slots=True)
class Baselines:
    """How rare terms are, how near queries are to any text at all, and the fitted calibrations.

    Safe between threads.
    """

    term_weights: TermWeights = field(default_factory=TermWeights)
    references: References = field(default_factory=References)
    calibrations: FittedCalibrations = field(default_factory=FittedCalibrations)
