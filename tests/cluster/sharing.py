"""Run on every rank of one machine: memory that the ranks share, and the programs that use it, on compiled kernels."""

from __future__ import annotations

import numpy as np

import dromos as dr
from dromos.places.cluster import world
from dromos.places.cluster.host_memory import host_memory


def memory() -> None:
    """What one rank writes all read; memory that a rank still holds is not used again, what all let go is."""
    comm = world()
    rank, size = comm.Get_rank(), comm.Get_size()
    host = host_memory(comm)
    assert host is not None
    assert host is host_memory(comm)
    whole, words = host.arrays([(3 * size, np.float64), (size, np.int8)])
    whole[3 * rank : 3 * rank + 3], words[rank] = rank, -rank
    comm.Barrier()
    assert whole.tolist() == [float(other) for other in range(size) for _ in range(3)]
    assert words.tolist() == [-other for other in range(size)]
    held, place = whole if rank == 0 else None, whole.ctypes.data
    del whole, words
    (other,) = host.arrays([(3 * size, np.float64)])
    other[rank] = 100
    comm.Barrier()
    if held is not None:
        assert held[0] == 0
        held = None
    again, empty = host.arrays([(3 * size, np.float64), (0, np.int64)])
    assert again.ctypes.data == place
    assert empty.size == 0


def programs() -> None:
    """Messages on a board, and values in order; twice, since the second run finds used memory."""
    draw = np.random.default_rng(8)
    edges = dr.generators.rmat(9, 6, seed=2).edges()
    graph = dr.Graph.from_edges(edges.src, edges.dst, draw.random(len(edges.src)), num_vertices=512)
    for source in (int(edges.src[0]), int(edges.src[1])):
        ranks = dr.pagerank(graph, device="mpi", weight=None)
        assert np.allclose(ranks.rank, dr.pagerank(graph, device="numpy", weight=None).rank, rtol=1e-9)
        found = dr.sssp(graph, source, device="mpi")
        assert np.array_equal(found.distance, dr.sssp(graph, source, device="numpy").distance)
        assert set(found.trace.paths) == {"async-push-dd"}
        assert all(row.parts.startswith("compute ") and ", exchange " in row.parts for row in found.trace)


def main() -> None:
    memory()
    programs()
    if world().Get_rank() == 0:
        print("shared")


if __name__ == "__main__":
    main()
