"""Random models that are defined edge by edge: preferential attachment, and small worlds.

Each edge depends on the previous ones, so edges are drawn on one thread; the rows are then built on all threads.
"""

from __future__ import annotations

import numpy as np

from dromos.dtypes import id_dtype
from dromos.errors import InvalidArgumentError
from dromos.graph.generators.arguments import probability, require_memory, whole_number
from dromos.graph.generators.classic import complete
from dromos.graph.generators.rng import Stream, key_of
from dromos.graph.graph import Graph
from dromos.graph.records import Flags
from dromos.parallel import run_team

__all__ = ["barabasi_albert", "watts_strogatz"]

_MAX_EDGES = 2**40


def barabasi_albert(n: int, m: int, seed: int = 0, *, threads: int | None = None) -> Graph:
    """A graph that grows to ``n`` vertices, each new one joined to ``m`` others in proportion to their degrees.

    It begins, as NetworkX's does, with a star of ``m + 1`` vertices, and ends with ``m * (n - m)`` edges (Barabási and
    Albert, "Emergence of scaling in random networks", Science 1999).

    >>> barabasi_albert(100, 3)
    <Graph: 100 vertices, 291 edges, undirected>
    """
    n = whole_number("n", n, 1)
    m = whole_number("m", m, 1)
    if m >= n:
        raise InvalidArgumentError(f"m={m} is not below n={n}; a vertex is joined to m others")
    edges = m * (n - m)
    dtype = id_dtype(n)
    _require_edges(edges, n, dtype.itemsize, "a Barabási-Albert graph")
    key = key_of(seed, Stream.ATTACHMENT)
    from dromos.graph.generators import models_kernels as kernels

    ends = np.empty(2 * edges, dtype=dtype)
    stop = np.zeros(1, np.int64)
    run_team(kernels.attach, *key, n, m, ends, np.full(n, -1, dtype=dtype), stop, threads=1, stop=stop)
    return _simple_graph(Graph.from_edges(ends[0::2], ends[1::2], num_vertices=n, directed=False, threads=threads))


def watts_strogatz(n: int, k: int, p: float, seed: int = 0, *, threads: int | None = None) -> Graph:
    """A ring, each vertex joined to its ``k`` nearest (``k - 1`` if odd), each edge moved with probability ``p``.

    A moved edge keeps one end and gets another that is not its neighbor yet, so that the number of edges stays
    ``n * (k // 2)`` (Watts and Strogatz, "Collective dynamics of 'small-world' networks", Nature 1998).

    >>> watts_strogatz(100, 4, 0.1)
    <Graph: 100 vertices, 200 edges, undirected>
    """
    n = whole_number("n", n, 0)
    k = whole_number("k", k, 0)
    if k > n:
        raise InvalidArgumentError(f"k={k} exceeds n={n}; a vertex has n - 1 others to be joined to")
    p = probability("p", p)
    if k == n:
        return complete(n)
    half = k // 2
    dtype = id_dtype(n)
    _require_edges(n * half, n, dtype.itemsize + 8, "a Watts-Strogatz graph")
    choice, target = key_of(seed, Stream.REWIRING_CHOICE), key_of(seed, Stream.REWIRING_TARGET)
    from dromos.graph.generators import models_kernels as kernels

    rewired = np.empty(n * half, dtype=np.bool_)
    run_team(kernels.choose_rewired, *choice, p, rewired, threads=1)
    table = np.full(2 << int(np.count_nonzero(rewired)).bit_length(), -1, dtype=np.int64)
    src, dst = np.empty(n * half, dtype=dtype), np.empty(n * half, dtype=dtype)
    degrees = np.full(n, 2 * half, dtype=np.int64)
    stop = np.zeros(1, np.int64)
    moved = np.zeros(n * half, dtype=np.bool_)
    run_team(kernels.rewire, *target, n, half, rewired, moved, table, degrees, src, dst, stop, threads=1, stop=stop)
    return _simple_graph(Graph.from_edges(src, dst, num_vertices=n, directed=False, threads=threads))


def _require_edges(edges: int, vertices: int, id_bytes: int, what: str) -> None:
    if edges > _MAX_EDGES:
        raise InvalidArgumentError(f"{what} with {edges:,} edges is beyond 2^40; take fewer")
    require_memory(6 * id_bytes * edges + 24 * vertices, f"{what} with {edges:,} edges", "take fewer")


def _simple_graph(graph: Graph) -> Graph:
    """The same graph, known to have neither self-loops nor parallel edges."""
    flags = Flags(directed=False, symmetric=True, sorted=True, parallel_edges=False, self_loops=False)
    return Graph._make(graph.offsets, graph.targets, flags=flags)
