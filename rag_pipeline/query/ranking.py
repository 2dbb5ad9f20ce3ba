"""How evidence is ordered: relevance, with weights for trust and freshness that a file may set."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.query.conflicts.policy import ConflictPolicies
from rag_pipeline.sources.strict_yaml import MAX_YAML_BYTES, StrictYamlError, load_typed

Weight = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Days = Annotated[int, Field(gt=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class FreshnessRules(_Strict):
    """What the days since a document was last updated or reviewed add to its score."""

    fresh_days: Days = 30
    """At most this old: fresh."""
    fresh: Weight = 0.1
    recent_days: Days = 180
    """At most this old: recent."""
    recent: Weight = 0.03
    old_days: Days = 720
    """Older than this: old."""
    old: Weight = -0.15

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if not self.fresh_days < self.recent_days < self.old_days:
            raise ValueError("fresh_days, recent_days and old_days must ascend")
        return self


class RankingRules(_Strict):
    """`ranking.yaml`: all that decides which evidence comes first, and what becomes of conflicts."""

    trust: Annotated[Mapping[int, Weight], Field(min_length=5, max_length=5)] = Field(
        default={1: 0.25, 2: 0.15, 3: 0.05, 4: 0.0, 5: -0.1}
    )
    """What a source's trust tier, 1 to 5, adds."""
    freshness: FreshnessRules = FreshnessRules()
    rerank: Weight = 0.3
    """What the passage gets that a reranker puts first; the second gets half of it, the third a third."""
    conflicts: ConflictPolicies = ConflictPolicies()

    @model_validator(mode="after")
    def _every_tier(self) -> Self:
        if set(self.trust) != {1, 2, 3, 4, 5}:
            raise ValueError("trust must name the tiers 1 to 5")
        return self


def load_ranking(file: Path) -> RankingRules:
    """The rules of a file, those of the model where there is no file; raises ConfigurationError."""
    if not file.exists():
        return RankingRules()
    try:
        if file.stat().st_size > MAX_YAML_BYTES:
            raise ConfigurationError(f"{file} is larger than {MAX_YAML_BYTES} bytes")
        return RankingRules.model_validate(load_typed(file.read_text(encoding="utf-8")) or {})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        raise ConfigurationError(f"{file}: {problems}") from None
    except (OSError, UnicodeDecodeError, StrictYamlError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from None


def score_parts(
    rules: RankingRules,
    *,
    relevance: float,
    trust_tier: int,
    touched_at: datetime | None,
    sla_days: int | None,
    now: datetime,
    reranked: int | None = None,
) -> dict[str, float]:
    """What a passage's score is the sum of, by name.

    `touched_at` is when the document was last updated or reviewed; unknown, its freshness counts for nothing.
    A document that is older than its source's freshness SLA allows gets no bonus. `reranked` is the place
    that a reranker gave it, if there is one.
    """
    parts = {
        "relevance": relevance,
        "trust": rules.trust[trust_tier],
        "freshness": _freshness(rules.freshness, touched_at, sla_days, now),
    }
    return parts if reranked is None else parts | {"rerank": rules.rerank / reranked}


def _freshness(
    rules: FreshnessRules, touched_at: datetime | None, sla_days: int | None, now: datetime
) -> float:
    if touched_at is None:
        return 0.0
    age = now - touched_at
    if age > timedelta(days=rules.old_days):
        return rules.old
    bonus = 0.0
    if age <= timedelta(days=rules.fresh_days):
        bonus = rules.fresh
    elif age <= timedelta(days=rules.recent_days):
        bonus = rules.recent
    stale = sla_days is not None and age > timedelta(days=sla_days)
    return min(bonus, 0.0) if stale else bonus
