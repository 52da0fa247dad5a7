"""What is measured: one row per algorithm, as a user calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dromos as dr
from benchmarks.cases import Case
from dromos.algorithms.pagerank import pagerank_program

__all__ = ["ITERATIONS", "ROWS", "Row"]

ITERATIONS = 20
_BC_SOURCES = 4


class Row(NamedTuple):
    """One algorithm: the calls to make, our function, and the divisor of its time."""

    name: str
    peer_row: str
    """The method of a peer; see :mod:`benchmarks.peers`."""
    items: Callable[[Case], list[tuple[Any, ...]]]
    ours: Callable[..., Any]
    per: int = 1
    only: frozenset[str] = frozenset()
    """The peers to compare with; all by default."""


def _by_source(case: Case) -> list[tuple[Any, ...]]:
    return [(source,) for source in case.sources]


def _once(case: Case) -> list[tuple[Any, ...]]:
    return [()]


def _iterations(case: Case) -> list[tuple[Any, ...]]:
    return [(ITERATIONS,)]


def _few_sources(case: Case) -> list[tuple[Any, ...]]:
    return [(list(case.sources[:_BC_SOURCES]),)]


def _sssp(case: Case, source: int) -> Any:
    result = dr.sssp(case.weighted, source)
    _ = result.distance  # computed on first access
    return result


def _pagerank(dtype: Any) -> Callable[[Case, int], Any]:
    """A fixed number of iterations: the program of dr.pagerank with an unreachable tolerance."""
    program = pagerank_program(dtype=np.dtype(dtype))(alpha=0.85, tolerance=0.0)
    return lambda case, iterations: dr.run(program, case.graph, max_iter=iterations)


_ROWS = (
    Row("bfs", "bfs", _by_source, lambda case, source: dr.bfs(case.graph, source)),
    Row("sssp", "sssp", _by_source, _sssp),
    Row("pagerank, an iteration", "pagerank", _iterations, _pagerank(np.float64), per=ITERATIONS),
    Row("pagerank in float32, an iteration", "pagerank", _iterations, _pagerank(np.float32), per=ITERATIONS,
        only=frozenset({"GAP"})),
    Row("connected_components", "connected_components", _once, lambda case: dr.connected_components(case.graph)),
    Row("betweenness, 4 sources", "betweenness", _few_sources,
        lambda case, sources: dr.betweenness(case.graph, sources=sources)),
    Row("triangles", "triangles", _once, lambda case: dr.triangles(case.graph)),
    Row("core_numbers", "core_numbers", _once, lambda case: dr.core_numbers(case.graph)),
)  # fmt: skip
ROWS = {row.name: row for row in _ROWS}
