"""Statistics and decisions as plain values, so that the planner goes on as if nothing had happened."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dromos.plan import Decision, Path, Row, Stats

__all__ = ["plain_row", "plain_stats", "row_of"]

_KEPT = ("superstep", "frontier", "out_degree", "in_degree", "messages", "bytes", "seconds", "finished")


def plain_stats(stats: Stats) -> dict[str, Any]:
    """What of statistics outlives a process; the rest is known again when the run goes on."""
    return {name: getattr(stats, name) for name in _KEPT}


def plain_row(row: Row) -> dict[str, Any]:
    """A step of a run as values that JSON has.

    >>> row = Row(Stats(0, 1, 2, 2), Decision(Path(), "few edges", untouched=7.0), Stats(1, 2, 4, 4))
    >>> row_of(plain_row(row)) == row
    True
    """
    decision = {**asdict(row.decision), "path": str(row.decision.path)}
    return {"before": plain_stats(row.before), "decision": decision, "after": plain_stats(row.after)}


def row_of(told: dict[str, Any]) -> Row:
    """The step that :func:`plain_row` was given."""
    decision = Decision(**{**told["decision"], "path": Path.parse(told["decision"]["path"])})
    return Row(Stats(**told["before"]), decision, Stats(**told["after"]))
