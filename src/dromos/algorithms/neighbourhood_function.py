"""The neighborhood function, and the effective diameter.

Returns one row per distance: ``pairs``, the number of pairs of vertices within it (including each vertex with itself).
These are estimates, for graphs that are too large for a search from every vertex. ``effective_diameter`` is the
distance within which nine tenths of all connected pairs lie, interpolated linearly between two distances.
``average_distance`` is the mean distance of two different vertices with a path.

Each vertex counts the vertices within reach with registers instead of a set: every vertex is hashed once, and the union
of two sets is the maximum of each pair of registers. A superstep passes registers back along the edges, so after ``t``
supersteps a vertex has the registers of all vertices that it reaches in ``t`` steps. Boldi, Rosa and Vigna, "HyperANF:
approximating the neighborhood function of very large graphs on a budget", WWW 2011; Flajolet and others,
"HyperLogLog", 2007. With ``m`` registers the relative error of a count is about 1.06 / sqrt(m): 13 % for 64 of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["NeighbourhoodFunctionResult", "Registers", "neighbourhood_function", "verify"]

_SIZES = (16, 32, 64)
_BLOCK = 1 << 12  # vertices
_BESIDE = 9  # bytes per vertex: who has changed, and estimates
_PART = 16  # registers that a program passes on at once
_BIAS = {16: 0.673, 32: 0.697, 64: 0.709}  # HyperLogLog's constants for these numbers of registers
_SHARE = 0.9


class Registers(dr.Program):
    """Sixteen registers per vertex; it starts from any state."""

    before = dr.vertex_param(np.int8, size=_PART)
    changed = dr.vertex_param(np.bool_)
    registers = dr.field(np.int8, size=_PART)
    combine = dr.MAX
    kind = "traversal"

    def init(self, v: Any) -> Any:
        return v.before

    def start(self, v: Any) -> Any:
        return v.changed

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.registers

    def update(self, v: Any, message: Any) -> Any:
        # one step per run: a path that lets messages overtake supersteps would count further than it should
        return dr.where(self.superstep == 0, dr.maximum(v.registers, message), v.registers)


class NeighbourhoodFunctionResult(Result):
    """What :func:`neighbourhood_function` returns."""

    distance: Array
    pairs: Array
    effective_diameter: float
    average_distance: float


def neighbourhood_function(
    graph: Graph, registers: int = 64, max_distance: int | None = None, seed: int = 0, **how: Unpack[Options]
) -> NeighbourhoodFunctionResult:
    """How many pairs of vertices are within each distance, estimated.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights are ignored.
        registers: 16, 32 or 64; more registers are more exact and slower.
        max_distance: the greatest distance to count.
        seed: the random seed for the hash; the same seed gives the same estimate.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.neighbourhood_function(dr.generators.complete(50), registers=16)
    >>> result.distance.tolist(), bool(abs(result.pairs[1] / 2500 - 1) < 0.5)
    ([0, 1], True)
    """
    session = Session("neighbourhood_function", graph, **how)
    if registers not in _SIZES:
        raise InvalidArgumentError(f"registers={registers!r} is not one of {', '.join(map(str, _SIZES))}")
    most = None if max_distance is None else count_of(max_distance, "max_distance")
    n, back = graph.num_vertices, graph if graph.symmetric else graph.transpose
    state, changed = _hashed(n, registers, count_of(seed, "seed")), np.ones(n, dtype=bool)
    pairs = [float(n)]
    session.hold_beside_programs(2 * registers + _PART + _BESIDE)
    while changed.any() and (most is None or len(pairs) <= most):
        after = np.empty_like(state)
        for begin in range(0, registers, _PART):
            part = np.ascontiguousarray(state[:, begin : begin + _PART])
            program = Registers(before=part, changed=changed)
            after[:, begin : begin + _PART] = session.run(program, back, max_iter=1).fields["registers"]
        for some in _blocks(n):
            changed[some] = (after[some] != state[some]).any(axis=1)
        state = after
        if changed.any():
            pairs.append(max(_estimate(state), pairs[-1]))
    counts = np.array(pairs)
    return session.result(
        NeighbourhoodFunctionResult,
        {"distance": np.arange(len(counts)), "pairs": counts},
        values={"effective_diameter": _quantile(counts), "average_distance": _average(counts)},
        index="distance",
        verifier=lambda result: verify(graph, result["pairs"]),
    )


def _hashed(n: int, size: int, seed: int) -> Array:
    """The registers of each vertex alone: one of them has the place of the first set bit of its hash."""
    random = np.random.default_rng(seed)
    state = np.zeros((n, size), np.int8)
    first = random.geometric(0.5, n).clip(max=60).astype(np.int8)
    state[np.arange(n), random.integers(0, size, n)] = first
    return state


def _estimate(state: Array) -> float:
    """The sum of the sizes of all vertices' sets, by their registers; small sets by the registers still empty."""
    size = state.shape[1]
    raw = np.empty(len(state))
    for some in _blocks(len(state)):
        own, part = state[some], raw[some]
        part[:] = _BIAS[size] * size * size / np.ldexp(1.0, -own.astype(np.int32)).sum(axis=1)
        empty = np.count_nonzero(own == 0, axis=1)
        few = (part <= 2.5 * size) & (empty > 0)
        part[few] = size * np.log(size / empty[few])
    return float(raw.sum())


def _blocks(n: int) -> Iterator[slice]:
    """The vertices in blocks: what NumPy makes of registers on the way is many times their size."""
    return (slice(begin, begin + _BLOCK) for begin in range(0, n, _BLOCK))


def _quantile(counts: Array) -> float:
    """The distance at which the counts reach their share, along straight lines between whole ones."""
    wanted = _SHARE * counts[-1]
    at = int(np.argmax(counts >= wanted))
    if at == 0:
        return 0.0
    return float(at - 1 + (wanted - counts[at - 1]) / (counts[at] - counts[at - 1]))


def _average(counts: Array) -> float:
    steps = np.diff(counts)
    return float((steps * np.arange(1, len(counts))).sum() / steps.sum()) if steps.sum() > 0 else 0.0


def verify(graph: Graph, pairs: Array) -> None:
    """The counts begin with every vertex alone, never fall, and are no more than there are pairs, but for the error."""
    n = graph.num_vertices
    require(len(pairs) > 0 and pairs[0] == n, f"within no step there are {pairs[0]:g} pairs, not {n}")
    nowhere(np.diff(pairs) < 0, "the pairs within a distance are fewer after distance {}")
    require(pairs[-1] <= 2.0 * max(n, 1) ** 2, "there are far more pairs within reach than the graph has")
