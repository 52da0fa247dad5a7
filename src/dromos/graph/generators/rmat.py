"""R-MAT (Kronecker) graphs, to the rules of the Graph 500 benchmark.

An edge is placed by choosing, ``scale`` times over, a quadrant of the adjacency matrix with the probabilities a, b, c
and d = 1 - a - b - c (Chakrabarti, Zhan and Faloutsos, "R-MAT", SDM 2004). Graph 500 takes a, b, c = .57, .19, .19
with 16 edges per vertex, permutes the vertex ids, and reads each edge as undirected. (It also shuffles the order of the
edges; here every edge is drawn independently of its number, so that there is no order to hide.)

The quadrants of up to six levels are drawn at once from an alias table: half a random word chooses one of ``4^levels``
outcomes, each of whose probabilities is kept to 2^-32. No number of edges below 10^12 can tell that from exact.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dromos.dtypes import Array, id_dtype
from dromos.errors import InvalidArgumentError
from dromos.graph.build import EDGES_A_CALL, team_size
from dromos.graph.generators.arguments import MAX_SCALE, probability, require_memory, whole_number
from dromos.graph.generators.rng import Stream, key_of, permutation_constants
from dromos.graph.generators.weights import weighted
from dromos.graph.graph import Graph
from dromos.graph.records import Edges
from dromos.parallel import run_team

__all__ = ["kronecker", "rmat", "rmat_edges"]

_LEVELS_A_WORD = 12  # two tables of at most 4^6 entries: 32 KiB, which stay in a core's first cache


def rmat(
    scale: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    *,
    seed: int = 0,
    permute: bool = True,
    symmetrize: bool = True,
    dedupe: bool = False,
    drop_self_loops: bool = False,
    weights: tuple[float, float] | None = None,
    threads: int | None = None,
) -> Graph:
    """An R-MAT graph with ``2**scale`` vertices and ``edge_factor * 2**scale`` edges.

    Args:
        scale: the logarithm of the number of vertices.
        edge_factor: edges per vertex.
        a, b, c: probabilities of the upper left, upper right and lower left quadrant; the rest is the lower right.
        seed: the same seed gives the same graph, with any number of threads.
        permute: give the vertices ids in a pseudo-random order; without it, low ids have the high degrees.
        symmetrize: make an undirected graph; ``False`` keeps the edges directed.
        dedupe: keep one of several edges with the same ends.
        drop_self_loops: leave out edges from a vertex to itself.
        weights: ``(low, high)`` for random weights; see :func:`with_random_weights`.
        threads: threads to work with; all cores unless given.

    >>> import dromos as dr
    >>> dr.generators.rmat(10)
    <Graph: 1,024 vertices, 16,384 edges, undirected>
    >>> dr.generators.rmat(10, 8, symmetrize=False, weights=(1, 255))
    <Graph: 1,024 vertices, 8,192 edges, directed, int32 weights>
    """
    scale = whole_number("scale", scale, 0, MAX_SCALE)
    edge_factor = whole_number("edge_factor", edge_factor, 0)
    edge_bytes = 2 * id_dtype(1 << scale).itemsize * (edge_factor << scale)
    require_memory(
        3 * edge_bytes + (8 << scale),
        f"an R-MAT graph of scale {scale} with {edge_factor << scale:,} edges",
        "take a smaller scale, or write rmat_edges to a file by ranges and convert that to a store",
    )
    src, dst, _ = rmat_edges(scale, edge_factor, a, b, c, seed=seed, permute=permute, threads=threads)
    graph = Graph.from_edges(
        src, dst, num_vertices=1 << scale, symmetrize=symmetrize, dedupe=dedupe, drop_self_loops=drop_self_loops,
        threads=threads,
    )  # fmt: skip
    return weighted(graph, weights, seed, threads)


def kronecker(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    dedupe: bool = False,
    drop_self_loops: bool = False,
    weights: tuple[float, float] | None = None,
    threads: int | None = None,
) -> Graph:
    """The graph of Graph 500: :func:`rmat` with a, b, c = .57, .19, .19, permuted ids and undirected edges.

    The benchmark's weights, uniform in ``[0, 1)``, are ``weights=(0.0, 1.0)``.

    >>> import dromos as dr
    >>> dr.generators.kronecker(8, dedupe=True, drop_self_loops=True, weights=(0.0, 1.0)).has_parallel_edges
    False
    """
    return rmat(
        scale, edge_factor, seed=seed, dedupe=dedupe, drop_self_loops=drop_self_loops, weights=weights, threads=threads
    )


def rmat_edges(
    scale: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    *,
    seed: int = 0,
    permute: bool = True,
    first: int = 0,
    last: int | None = None,
    threads: int | None = None,
) -> Edges:
    """The edges of an R-MAT graph as columns, each once; those numbered ``first..last`` where a range is given.

    An edge depends on its number and the seed alone, so that ranges can be made one after another for a file, or each
    on a machine of its own, and add up to the whole.

    >>> whole = rmat_edges(6, seed=3)
    >>> part = rmat_edges(6, seed=3, first=100, last=200)
    >>> bool((whole.src[100:200] == part.src).all())
    True
    """
    scale = whole_number("scale", scale, 0, MAX_SCALE)
    total = whole_number("edge_factor", edge_factor, 0) << scale
    if total >= 2**62:
        raise InvalidArgumentError(
            f"edge_factor={edge_factor} at scale {scale} makes {total} edges; give fewer than 2^62"
        )
    last = total if last is None else whole_number("last", last, 0, total)
    first = whole_number("first", first, 0, last)
    words = max(1, -(-scale // _LEVELS_A_WORD))
    depth = max(1, -(-scale // (2 * words)))
    table = _alias_table(_quadrants(a, b, c), depth)
    key = key_of(seed, Stream.RMAT_EDGES)
    dtype = id_dtype(1 << scale)
    require_memory(
        2 * dtype.itemsize * (last - first), f"a column pair of {last - first:,} edges", "take a smaller range"
    )
    src, dst = np.empty(last - first, dtype=dtype), np.empty(last - first, dtype=dtype)
    from dromos.graph.generators import rmat_kernels as kernels

    unsigned = np.dtype(f"u{dtype.itemsize}")
    constants = permutation_constants(seed, unsigned)[: None if permute else 0]
    team, ends = team_size(last - first, threads), (src.view(unsigned), dst.view(unsigned))
    for begin in range(0, last - first, EDGES_A_CALL):
        some = slice(begin, begin + EDGES_A_CALL)
        run_team(
            kernels.rmat_edges, *key, table, depth, words, scale, first + begin, constants, ends[0][some],
            ends[1][some], threads=team,
        )  # fmt: skip
    return Edges(src, dst, None)


def _quadrants(a: float, b: float, c: float) -> tuple[float, float, float, float]:
    given = probability("a", a), probability("b", b), probability("c", c)
    rest = 1.0 - sum(given)
    if rest < -1e-9:
        raise InvalidArgumentError(f"a + b + c = {sum(given):g} exceeds 1; the three leave the rest to d")
    return (*given, max(rest, 0.0))


@lru_cache(maxsize=8)
def _alias_table(quadrants: tuple[float, float, float, float], depth: int) -> Array:
    """Entry ``i``: where cell ``i`` ends in the lower 32 bits, and above them the outcome that has the rest of it.

    Walker's method in whole numbers: all outcomes together have exactly 2^32 draws, every cell an equal share of them.
    """
    outcomes = np.ones((1, 1))
    for _ in range(depth):
        outcomes = np.kron(outcomes, np.reshape(quadrants, (2, 2)))
    share = 2**32 // outcomes.size
    draws = _apportion(outcomes.ravel(), 2**32)
    ends, others = [share] * len(draws), list(range(len(draws)))
    poor = [i for i, count in enumerate(draws) if count < share]
    rich = [i for i, count in enumerate(draws) if count > share]
    while poor:
        i = poor.pop()
        ends[i], others[i] = draws[i], rich[-1]
        draws[rich[-1]] -= share - draws[i]
        if draws[rich[-1]] < share:
            poor.append(rich.pop())
        elif draws[rich[-1]] == share:
            rich.pop()
    return np.array(ends, dtype=np.uint64) | (np.array(others, dtype=np.uint64) << np.uint64(32))


def _apportion(probabilities: Array, total: int) -> list[int]:
    """Whole numbers in proportion to ``probabilities`` that add up to ``total``, each rounded down or up."""
    exact = probabilities / probabilities.sum() * total
    counts = np.floor(exact).astype(np.int64)
    missing = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return [int(count) for count in counts]
