"""Metrics over cases: means with 95 % bootstrap intervals, and quantiles of latency.

The intervals are percentile bootstraps over cases (Efron and Tibshirani, An Introduction to the Bootstrap,
1993, chapter 13), with a fixed seed: the same results give the same interval.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.evaluation.case import Category
from rag_pipeline.evaluation.result import CaseResult, Dimension, Metric, Slice
from rag_pipeline.evaluation.scoring import REFUSED

_RESAMPLES: Final = 1_000
_BATCH: Final = 100
_SEED: Final = 20261130
_LATENCIES: Final[Mapping[str, float]] = {"latency_p50_ms": 50.0, "latency_p95_ms": 95.0}

_ALL: Final = (Dimension.ALL, "all")

Floats = NDArray[np.float64]


def slices_of(cases: Sequence[CaseResult]) -> tuple[Slice, ...]:
    """The metrics of all cases, and of those of each category, language and source."""
    groups: dict[tuple[Dimension, str], list[CaseResult]] = {_ALL: []}
    for case in cases:
        for key in groups_of(case):
            groups.setdefault(key, []).append(case)
    order = list(Dimension)
    return tuple(
        _slice(dimension, name, groups[dimension, name])
        for dimension, name in sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    )


def groups_of(case: CaseResult) -> list[tuple[Dimension, str]]:
    """The slices that a case belongs to, by dimension and name."""
    return [
        _ALL,
        (Dimension.CATEGORY, str(case.category)),
        (Dimension.LANGUAGE, case.language),
        *((Dimension.SOURCE, source) for source in case.sources),
    ]


def scores_by_name(cases: Iterable[CaseResult]) -> dict[str, dict[str, float]]:
    """For each metric the score of every case that it applies to, by the case's key."""
    found: dict[str, dict[str, float]] = {}
    for case in cases:
        for name, score in case.scores.items():
            found.setdefault(name, {})[case.key] = score
    return found


def _slice(dimension: Dimension, name: str, cases: Sequence[CaseResult]) -> Slice:
    metrics = [
        _metric(metric, np.array(list(scores.values())), np.mean)
        for metric, scores in scores_by_name(cases).items()
    ]
    # How long it took to fail, by itself or as the case wanted it, tells nothing of how fast answers are.
    times = np.array(
        [one.milliseconds for one in cases if one.error is None and one.category is not Category.OUTAGE]
    )
    if len(times):
        metrics += [
            _metric(metric, times, partial(np.percentile, q=quantile))
            for metric, quantile in _LATENCIES.items()
        ]
    return Slice(
        dimension=dimension,
        name=name,
        n=len(cases),
        passed=sum(one.passed for one in cases),
        errored=sum(one.error is not None for one in cases),
        refused=sum(one.outcome in REFUSED for one in cases),
        metrics=tuple(metrics),
    )


def _metric(name: str, values: Floats, statistic: Any) -> Metric:
    value = float(statistic(values))
    low, high = _interval(values, statistic)
    return Metric(name=name, n=len(values), value=value, low=low, high=high)


def _interval(values: Floats, statistic: Any) -> tuple[float, float]:
    """The 95 % interval of a statistic; the value itself where the cases do not differ."""
    if len(values) < 2 or (values == values[0]).all():
        value = float(statistic(values))
        return value, value
    # Takes longer to import than the commands that need no statistics should.
    from scipy.stats import bootstrap

    with warnings.catch_warnings():
        # Quantiles of few values may be the same in every resample, which it warns of.
        warnings.simplefilter("ignore", category=RuntimeWarning)
        found = bootstrap(
            (values,),
            statistic,
            n_resamples=_RESAMPLES,
            batch=_BATCH,
            method="percentile",
            rng=np.random.default_rng(_SEED),
        ).confidence_interval
    return float(found.low), float(found.high)
