"""Check that a peer's answer equals ours: a fast wrong answer is not worth a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases import Case

__all__ = ["Disagreement", "compare"]


class Disagreement(Exception):
    """Two libraries give different answers."""


def compare(row: str, case: Case, ours: Any, theirs: dict[str, Any], peer: str) -> None:
    """Raise :class:`Disagreement` unless every part of a peer's answer agrees with ours."""
    for part, value in theirs.items():
        if not _CHECKS[part](row, case, ours, value):
            raise Disagreement(f"{row} on {case.name}: {part} differs from that of {peer}")


def _tree(row: str, case: Case, ours: Any, parent: Any) -> bool:
    """Whether each of the peer's tree edges joins one of our levels to the next, and both reach the same vertices."""
    level = ours.level
    child = np.flatnonzero(parent >= 0)
    child = child[level[child] > 0]
    return len(child) == np.count_nonzero(level > 0) and bool(np.all(level[parent[child]] + 1 == level[child]))


def _reached(row: str, case: Case, ours: Any, count: int) -> bool:
    reached = ours.level >= 0 if row == "bfs" else np.isfinite(ours.distance)
    return bool(np.count_nonzero(reached) == count)


def _rank(row: str, case: Case, ours: Any, value: Any) -> bool:
    """To a hundred-thousandth in sum, on the same scale: NetworKit omits the initial mass of dead ends."""
    return bool(np.abs(ours.rank - value / value.sum()).sum() < 1e-5)


def _transitivity(row: str, case: Case, ours: Any, value: float) -> bool:
    degree = case.graph.out_degree.astype(np.float64)
    triples = (degree * (degree - 1) / 2).sum()
    return bool(np.isclose(3 * ours.total, value * triples, rtol=1e-9))


def _centrality(row: str, case: Case, ours: Any, value: Any) -> bool:
    """Proportional: libraries scale by their own rules, and treat a source's own share differently."""
    others = np.ones(len(value), dtype=bool)
    others[list(case.sources)] = False
    mine, theirs = ours.centrality[others], value[others]
    if mine.sum() == 0:
        return bool(theirs.sum() == 0)
    return bool(np.allclose(mine / mine.sum(), theirs / theirs.sum(), rtol=1e-6, atol=1e-15))


_CHECKS: dict[str, Any] = {
    "level": lambda row, case, ours, value: np.array_equal(ours.level, value),
    "parent": _tree,
    "reached": _reached,
    "distance": lambda row, case, ours, value: np.array_equal(ours.distance, value),
    "rank": _rank,
    "iterations": lambda row, case, ours, value: ours.iterations == value,
    "count": lambda row, case, ours, value: ours.count == value,
    "total": lambda row, case, ours, value: ours.total == value,
    "transitivity": _transitivity,
    "centrality": _centrality,
    "core": lambda row, case, ours, value: np.array_equal(ours.core, value),
}
