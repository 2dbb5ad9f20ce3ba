"""The generations that were made, what state each is in, and which one is live."""

from collections.abc import Iterable, Set
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, Engine, Select, bindparam, delete, insert, select, update

from rag_pipeline.errors import GenerationConflict
from rag_pipeline.ledger.database import Lock, take_turns
from rag_pipeline.ledger.tables import documents, generations, reconciliations, tombstones, waivers
from rag_pipeline.ledger.uses import unsettle_uses


class GenerationState(StrEnum):
    """How far a generation has come. Stored, so the values are a contract."""

    BUILDING = "building"
    READY = "ready"
    LIVE = "live"
    PREVIOUS = "previous"
    FAILED = "failed"


FED: Final = (GenerationState.LIVE, GenerationState.BUILDING, GenerationState.READY)
"""The states in which a generation receives whatever changes, so that readers could have it at any moment."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One physical Qdrant collection and what its vectors were made with.

    `reason` says why it failed, or what keeps one that is building from being ready.
    """

    name: str
    alias: str
    fingerprint: str
    settings: dict[str, Any]
    state: GenerationState = GenerationState.BUILDING
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ready_at: datetime | None = None
    promoted_at: datetime | None = None
    reason: str | None = None

    @property
    def live(self) -> bool:
        """Whether readers see it."""
        return self.state is GenerationState.LIVE


# Made once: every request asks for the live one.
_OF_ALIAS = (
    select(generations)
    .where(generations.c.alias == bindparam("alias"))
    .order_by(generations.c.created_at, generations.c.name)
)
_LIVE = _OF_ALIAS.where(generations.c.state == GenerationState.LIVE)


class Generations:
    """Which collections exist for an alias. Every change is refused unless the state is as it expects."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_alias(self, alias: str) -> list[Generation]:
        """All generations made for an alias, oldest first."""
        with self._engine.connect() as connection:
            return _read(connection, _OF_ALIAS, alias)

    def models(self) -> dict[str, dict[str, Any]]:
        """The model of every generation by the generation's name, whatever its alias."""
        query = select(generations.c.name, generations.c.settings)
        with self._engine.connect() as connection:
            return {row.name: row.settings["model"] for row in connection.execute(query)}

    def live(self, alias: str) -> Generation | None:
        """The generation that the alias should point at."""
        with self._engine.connect() as connection:
            return _only(_read(connection, _LIVE, alias))

    def building(self, alias: str) -> Generation | None:
        """The newest generation that is being built."""
        found = [one for one in self.of_alias(alias) if one.state is GenerationState.BUILDING]
        return found[-1] if found else None

    def add(self, generation: Generation) -> None:
        """Record a new generation.

        Raises GenerationConflict where its name is taken, or where it is live and the alias has a live one.
        """
        with self._engine.begin() as connection:
            take_turns(connection, Lock.GENERATIONS)
            live = _only(_read(connection, _LIVE, generation.alias))
            if _state(connection, generation.name) or (generation.live and live):
                raise GenerationConflict(
                    f"The generation {generation.name} is not added: there is one of that name, or the alias "
                    f"{generation.alias} has a live one. See `rag-pipeline generations`."
                )
            connection.execute(insert(generations), [asdict(generation)])

    def blocked(self, name: str, reason: str) -> None:
        """Note what keeps a generation that is building from being ready."""
        self._change(name, GenerationState.BUILDING, {GenerationState.BUILDING}, reason=reason)

    def ready(self, name: str) -> None:
        """A generation that was building has passed its gates."""
        self._change(
            name,
            GenerationState.READY,
            {GenerationState.BUILDING},
            ready_at=datetime.now(UTC),
            reason=None,
        )

    def fail(self, name: str, reason: str) -> None:
        """A generation that was not live yet must not become it."""
        self._change(
            name, GenerationState.FAILED, {GenerationState.BUILDING, GenerationState.READY}, reason=reason
        )

    def resume(self, name: str) -> None:
        """Go on building a generation that failed, or one that was ready and fell behind."""
        self._change(
            name,
            GenerationState.BUILDING,
            {GenerationState.FAILED, GenerationState.READY},
            ready_at=None,
            reason=None,
        )

    def promote(self, alias: str, name: str, expected_live: str | None) -> None:
        """Make a ready or previous generation live, and the live one previous; nothing if it just became so.

        Raises GenerationConflict, and changes nothing, where another one than expected is live by now or
        the target is missing or in another state: of two promotions at once, one wins.
        """
        with self._engine.begin() as connection:
            take_turns(connection, Lock.GENERATIONS)
            known = _read(connection, _OF_ALIAS, alias)
            live = _only(one for one in known if one.live)
            if live and live.name == name != expected_live:
                return  # whoever saw that the alias had moved has recorded it already
            if (live.name if live else None) != expected_live:
                raise GenerationConflict(
                    f"{name} is not promoted: the live generation of {alias} is "
                    f"{live.name if live else 'none'} and not {expected_live or 'none'}, so someone else "
                    "changed it meanwhile. Look at `rag-pipeline generations`, then promote again."
                )
            if name not in {one.name for one in known}:
                raise GenerationConflict(f"{name} is not promoted: {alias} has no generation of that name.")
            promotable = {GenerationState.READY, GenerationState.PREVIOUS}
            _require(connection, name, promotable, GenerationState.LIVE)
            # One after the other: the database refuses a second live one even for a moment.
            if live:
                _set(connection, live.name, state=GenerationState.PREVIOUS)
            _set(connection, name, state=GenerationState.LIVE, promoted_at=_later_than(known))

    def drop(self, name: str) -> None:
        """Forget a generation and all that was recorded for it; nothing happens where there is none.

        Raises GenerationConflict where it is live.
        """
        with self._engine.begin() as connection:
            take_turns(connection, Lock.GENERATIONS)
            if _state(connection, name) is GenerationState.LIVE:
                raise GenerationConflict(f"{name} is live, so it stays. Promote another generation first.")
            held = select(documents.c.document_id).where(documents.c.generation == name)
            unsettle_uses(connection, connection.execute(held).scalars().all())
            connection.execute(delete(generations).where(generations.c.name == name))
            for table in (documents, tombstones, reconciliations, waivers):
                connection.execute(delete(table).where(table.c.generation == name))

    def _change(
        self, name: str, state: GenerationState, allowed: Set[GenerationState], **values: object
    ) -> None:
        with self._engine.begin() as connection:
            take_turns(connection, Lock.GENERATIONS)
            _require(connection, name, allowed, state)
            _set(connection, name, state=state, **values)


def _only(live: Iterable[Generation]) -> Generation | None:
    # The database takes no second one of an alias.
    return next(iter(live), None)


def _later_than(known: Iterable[Generation]) -> datetime:
    """Now, or just after the last promotion where the clock was set back: their order is the way back."""
    latest = max((one.promoted_at for one in known if one.promoted_at), default=None)
    now = datetime.now(UTC)
    return max(now, latest + timedelta(microseconds=1)) if latest else now


def _read(connection: Connection, query: Select[Any], alias: str) -> list[Generation]:
    return [
        Generation(**{**row, "state": GenerationState(row["state"])})
        for row in connection.execute(query, {"alias": alias}).mappings()
    ]


def _state(connection: Connection, name: str) -> GenerationState | None:
    state = connection.execute(select(generations.c.state).where(generations.c.name == name)).scalar()
    return None if state is None else GenerationState(state)


def _require(
    connection: Connection, name: str, allowed: Set[GenerationState], state: GenerationState
) -> None:
    found = _state(connection, name)
    if found not in allowed:
        raise GenerationConflict(
            f"The generation {name} cannot become {state}: "
            f"{f'it is {found}' if found else 'there is none of that name'}. Only one that is "
            f"{' or '.join(sorted(allowed))} can; see `rag-pipeline generations`."
        )


def _set(connection: Connection, name: str, **values: object) -> None:
    connection.execute(update(generations).where(generations.c.name == name).values(**values))
