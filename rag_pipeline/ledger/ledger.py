"""The ledger as one thing to hand around."""

from functools import cached_property

from sqlalchemy import Engine

from rag_pipeline.ledger.calibrations import Calibrations
from rag_pipeline.ledger.dead_letters import DeadLetters
from rag_pipeline.ledger.documents import Documents
from rag_pipeline.ledger.evaluations import Evaluations
from rag_pipeline.ledger.feedback import Feedback
from rag_pipeline.ledger.generations import Generations
from rag_pipeline.ledger.leases import Leases
from rag_pipeline.ledger.opening import open_database
from rag_pipeline.ledger.reconciliations import Reconciliations
from rag_pipeline.ledger.source_states import SourceStates
from rag_pipeline.ledger.traces import Traces
from rag_pipeline.ledger.uses import Uses
from rag_pipeline.ledger.vectors import StoredVectors
from rag_pipeline.ledger.waivers import Waivers
from rag_pipeline.ledger.withheld import WithheldDeletions


class Ledger:
    """The SQL record of what is indexed, what failed and which generation is live.

    `max_attempts` bounds how often a transient failure is tried.
    """

    def __init__(self, url: str, *, max_attempts: int) -> None:
        self._max_attempts = max_attempts
        self._engine: Engine = open_database(url)

    @cached_property
    def documents(self) -> Documents:
        """What is indexed."""
        return Documents(self._engine)

    @cached_property
    def dead_letters(self) -> DeadLetters:
        """What failed."""
        return DeadLetters(self._engine, self._max_attempts)

    @cached_property
    def vectors(self) -> StoredVectors:
        """Vectors by model and text."""
        return StoredVectors(self._engine)

    @cached_property
    def generations(self) -> Generations:
        """Which collections exist."""
        return Generations(self._engine)

    @cached_property
    def reconciliations(self) -> Reconciliations:
        """What the last run of each source found."""
        return Reconciliations(self._engine)

    @cached_property
    def source_states(self) -> SourceStates:
        """What is known of each source."""
        return SourceStates(self._engine)

    @cached_property
    def withheld(self) -> WithheldDeletions:
        """Deletions that wait for an approval."""
        return WithheldDeletions(self._engine)

    @cached_property
    def waivers(self) -> Waivers:
        """Sources that may lack documents in a generation."""
        return Waivers(self._engine)

    @cached_property
    def uses(self) -> Uses:
        """Which documents use which artifacts and vectors."""
        return Uses(self._engine)

    @cached_property
    def leases(self) -> Leases:
        """Who works on what."""
        return Leases(self._engine)

    @cached_property
    def traces(self) -> Traces:
        """How each answer came about."""
        return Traces(self._engine)

    @cached_property
    def feedback(self) -> Feedback:
        """What people thought of answers."""
        return Feedback(self._engine)

    @cached_property
    def evaluations(self) -> Evaluations:
        """What question sets found of generations."""
        return Evaluations(self._engine)

    @cached_property
    def calibrations(self) -> Calibrations:
        """How relevance is told, where that was fitted to questions."""
        return Calibrations(self._engine)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()
