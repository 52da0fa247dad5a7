"""Uniform random graphs by the number of edges (Erdős-Rényi; GAP's "urand")."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import id_dtype
from dromos.errors import InvalidArgumentError
from dromos.graph.build import EDGES_A_CALL, team_size
from dromos.graph.generators.arguments import MAX_SCALE, require_memory, whole_number
from dromos.graph.generators.rng import Stream, key_of
from dromos.graph.generators.weights import weighted
from dromos.graph.graph import Graph
from dromos.graph.records import Edges
from dromos.parallel import run_team

__all__ = ["uniform", "uniform_edges"]


def uniform(
    num_vertices: int | None = None,
    num_edges: int | None = None,
    *,
    scale: int | None = None,
    edge_factor: int = 16,
    directed: bool = False,
    seed: int = 0,
    dedupe: bool = False,
    drop_self_loops: bool = False,
    weights: tuple[float, float] | None = None,
    threads: int | None = None,
) -> Graph:
    """A graph whose edges each have two ends chosen uniformly.

    The size is ``num_vertices`` and ``num_edges``, or ``2**scale`` vertices with ``edge_factor`` edges each. Edges are
    drawn with replacement, so self-loops and parallel edges occur (rarely, in a sparse graph). ``drop_self_loops`` and
    ``dedupe`` remove them, which leaves fewer than ``num_edges``.

    >>> import dromos as dr
    >>> dr.generators.uniform(100, 250)
    <Graph: 100 vertices, 250 edges, undirected>
    >>> dr.generators.uniform(scale=8, directed=True)
    <Graph: 256 vertices, 4,096 edges, directed>
    """
    if scale is not None:
        if num_vertices is not None or num_edges is not None:
            raise InvalidArgumentError("give either num_vertices and num_edges, or scale (with edge_factor), not both")
        num_vertices = 1 << whole_number("scale", scale, 0, MAX_SCALE)
        num_edges = whole_number("edge_factor", edge_factor, 0) * num_vertices
    elif num_vertices is None or num_edges is None:
        raise InvalidArgumentError("uniform needs num_vertices and num_edges, or scale")
    num_vertices = whole_number("num_vertices", num_vertices, 0, 1 << MAX_SCALE)
    num_edges = whole_number("num_edges", num_edges, 0, 2**62)
    require_memory(
        6 * id_dtype(num_vertices).itemsize * num_edges + 8 * num_vertices,
        f"a uniform graph with {num_vertices:,} vertices and {num_edges:,} edges",
        "take fewer, or write uniform_edges to a file by ranges and convert that to a store",
    )
    src, dst, _ = uniform_edges(num_vertices, num_edges, seed=seed, threads=threads)
    graph = Graph.from_edges(
        src, dst, num_vertices=num_vertices, directed=directed, dedupe=dedupe, drop_self_loops=drop_self_loops,
        threads=threads,
    )  # fmt: skip
    return weighted(graph, weights, seed, threads)


def uniform_edges(
    num_vertices: int,
    num_edges: int,
    *,
    seed: int = 0,
    first: int = 0,
    last: int | None = None,
    threads: int | None = None,
) -> Edges:
    """The edges of a uniform graph as columns; those numbered ``first..last`` where a range is given.

    >>> len(uniform_edges(10, 1000, first=990).src)
    10
    """
    num_vertices = whole_number("num_vertices", num_vertices, 0, 1 << MAX_SCALE)
    num_edges = whole_number("num_edges", num_edges, 0, 2**62)
    if num_edges and not num_vertices:
        raise InvalidArgumentError(f"num_edges={num_edges} needs at least one vertex")
    last = num_edges if last is None else whole_number("last", last, 0, num_edges)
    first = whole_number("first", first, 0, last)
    dtype = id_dtype(num_vertices)
    require_memory(2 * dtype.itemsize * (last - first), f"columns of {last - first:,} edges", "take a smaller range")
    src, dst = np.empty(last - first, dtype=dtype), np.empty(last - first, dtype=dtype)
    key = key_of(seed, Stream.UNIFORM_EDGES)
    from dromos.graph.generators import uniform_kernels as kernels

    team = team_size(last - first, threads)
    for begin in range(0, last - first, EDGES_A_CALL):
        some = slice(begin, begin + EDGES_A_CALL)
        run_team(kernels.uniform_edges, *key, num_vertices, first + begin, src[some], dst[some], threads=team)
    return Edges(src, dst, None)
