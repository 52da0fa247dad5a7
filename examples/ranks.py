"""A search and PageRank over the ranks of an MPI job; every rank makes the same calls and gets the whole answer.

    mpirun -n 2 python -m mpi4py examples/ranks.py

A device for each rank is chosen on the command line: ``... examples/ranks.py mpi:numpy``.
"""

from __future__ import annotations

import sys

import numpy as np

import dromos as dr
from dromos.places.cluster import world


def main(device: str = "mpi") -> None:
    rank, size = world().Get_rank(), world().Get_size()
    graph = dr.generators.rmat(
        10, 8, seed=1
    )  # the same on every rank; dr.open(path) reads a rank's own part of a store
    levels = dr.bfs(graph, int(np.argmax(graph.out_degree)), device=device)
    ranks = dr.pagerank(graph, device=device)
    levels.verify()
    ranks.verify()
    if rank == 0:  # one of them talks
        print(f"{size} ranks: {(levels.level >= 0).sum():,} vertices reached in {len(levels.trace)} supersteps")
        print(f"bytes sent: {sum(row.sent for row in levels.trace):,} and {sum(row.sent for row in ranks.trace):,}")
        print(f"first by PageRank: {np.argsort(-ranks.rank)[:3].tolist()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
