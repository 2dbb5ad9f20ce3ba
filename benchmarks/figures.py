"""What a benchmark measures, beside what was promised."""

from dataclasses import dataclass


class Skipped(Exception):
    """A benchmark cannot run here; says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure as text. `holds` is None where nothing is promised of it."""

    name: str
    value: str
    target: str = ""
    holds: bool | None = None

    def __str__(self) -> str:
        verdict = {True: "PASS", False: "MISS", None: "    "}[self.holds]
        target = f"  (target {self.target})" if self.target else ""
        return f"  {verdict}  {self.name}: {self.value}{target}"


def noted(name: str, value: str) -> Figure:
    """A figure that tells how another came about."""
    return Figure(name, value)


def none_of(name: str, count: int) -> Figure:
    """A count that must be 0."""
    return Figure(name, f"{count:,}", "0", count == 0)


def at_most(name: str, value: float, limit: float, unit: str = "") -> Figure:
    """A figure that must not exceed `limit`, both in `unit`."""
    return Figure(name, f"{value:.2f}{unit}", f"at most {limit:g}{unit}", value <= limit)


def at_least(name: str, value: float, limit: float) -> Figure:
    """A figure that must reach `limit`."""
    return Figure(name, f"{value:.3f}", f"at least {limit:g}", value >= limit)
