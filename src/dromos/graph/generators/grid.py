"""Lattices: a stand-in for road networks, with few edges per vertex and a large diameter."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import OFFSET, id_dtype
from dromos.errors import InvalidArgumentError
from dromos.graph.build import team_size
from dromos.graph.generators.arguments import MAX_SCALE, probability, require_memory, whole_number
from dromos.graph.generators.rng import Stream, key_of
from dromos.graph.generators.weights import weighted
from dromos.graph.graph import Graph
from dromos.graph.records import Flags
from dromos.parallel import run_team

__all__ = ["grid"]


def grid(
    rows: int,
    cols: int,
    depth: int | None = None,
    *,
    periodic: bool = False,
    delete: float = 0.0,
    directed: bool = False,
    seed: int = 0,
    weights: tuple[float, float] | None = None,
    threads: int | None = None,
) -> Graph:
    """A lattice of ``rows`` x ``cols`` vertices, or of ``rows`` x ``cols`` x ``depth``, each joined to the next.

    The vertex at row r, column c (and level d) has the id ``(r * cols + c) * depth + d``.

    Args:
        rows, cols, depth: the sizes; two dimensions unless ``depth`` is given.
        periodic: also join the two ends of every line of more than two vertices, as NetworkX does.
        delete: leave out each edge with this probability.
        directed: a directed graph with an arc in each direction; arcs are deleted independently (one-way streets).
        seed: the same seed deletes the same edges, with any number of threads.
        weights: ``(low, high)`` for random weights; see :func:`with_random_weights`.
        threads: threads to work with; all cores unless given.

    >>> import dromos as dr
    >>> dr.generators.grid(3, 4)
    <Graph: 12 vertices, 17 edges, undirected>
    >>> dr.generators.grid(3, 3, 3, periodic=True).out_degree.tolist() == [6] * 27
    True
    """
    shape = [whole_number("rows", rows, 0), whole_number("cols", cols, 0)]
    shape.append(1 if depth is None else whole_number("depth", depth, 0))
    num_vertices = shape[0] * shape[1] * shape[2]
    if num_vertices > 1 << MAX_SCALE:
        raise InvalidArgumentError(f"a grid of {' x '.join(map(str, shape))} has more than 2^{MAX_SCALE} vertices")
    threshold = np.uint64(round(probability("delete", delete) * 2**32))
    dtype = id_dtype(num_vertices)
    require_memory(
        num_vertices * (17 + (4 if depth is None else 6) * dtype.itemsize),
        f"a grid of {num_vertices:,} vertices",
        "take a smaller one",
    )
    key = key_of(seed, Stream.GRID_DELETIONS)
    from dromos.graph.generators import grid_kernels as kernels

    lattice = np.array(shape), np.array([shape[1] * shape[2], shape[2], 1]), bool(periodic)
    team = team_size(num_vertices, threads)
    kept, stop = np.empty(num_vertices, dtype=np.uint8), np.zeros(1, np.int64)
    run_team(kernels.choose_arcs, *key, *lattice, threshold, bool(directed), kept, stop, threads=team, stop=stop)
    offsets = np.zeros(num_vertices + 1, dtype=OFFSET)
    run_team(kernels.count_rows, *lattice, kept, offsets[1:], stop, threads=team, stop=stop)
    np.cumsum(offsets, out=offsets)
    targets = np.empty(int(offsets[-1]), dtype=dtype)
    run_team(kernels.fill_rows, *lattice, kept, offsets, targets, stop, threads=team, stop=stop)
    symmetric = None if directed and threshold else True
    flags = Flags(directed=bool(directed), symmetric=symmetric, sorted=True, parallel_edges=False, self_loops=False)
    return weighted(Graph._make(offsets, targets, flags=flags), weights, seed, threads)
