"""Statistics and decisions as plain values, so that the planner continues after a restart as if uninterrupted."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dromos.plan import Decision, Path, Row, Stats

__all__ = ["plain_row", "plain_stats", "row_of"]

_KEPT = ("superstep", "frontier", "out_degree", "in_degree", "messages", "bytes", "seconds", "finished")


def plain_stats(stats: Stats) -> dict[str, Any]:
    """The statistics that outlive a process; the rest is known again when the run continues."""
    return {name: getattr(stats, name) for name in _KEPT}


def plain_row(row: Row) -> dict[str, Any]:
    """A step of a run as JSON values.

    >>> row = Row(Stats(0, 1, 2, 2), Decision(Path(), "few edges", untouched=7.0), Stats(1, 2, 4, 4))
    >>> row_of(plain_row(row)) == row
    True
    """
    decision = {**asdict(row.decision), "path": str(row.decision.path)}
    return {"before": plain_stats(row.before), "decision": decision, "after": plain_stats(row.after)}


def row_of(told: dict[str, Any]) -> Row:
    """The inverse of :func:`plain_row`."""
    decision = Decision(**{**told["decision"], "path": Path.parse(told["decision"]["path"])})
    return Row(Stats(**told["before"]), decision, Stats(**told["after"]))
