"""Shares of shortest paths on the CPU's threads."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.parallel import num_threads, run_team
from dromos.places.operators.shares import AddShares, Values

__all__ = ["add"]


def add(threads: int | None = None) -> AddShares:
    """See :mod:`dromos.places.operators.shares`."""
    most = num_threads(threads)

    def add_to(piece: GraphSlice, values: Values, through: Array, by_arc: bool) -> int:
        from dromos.places.operators.shares import cpu_kernels as kernels

        chunks = -(-piece.num_arcs // kernels.CHUNK)
        team, stop = min(most, max(chunks, 1)), np.zeros(1, np.int64)
        rows = np.zeros(chunks + 1, np.int64)
        if by_arc:
            rows[:] = np.minimum(np.arange(chunks + 1) * kernels.CHUNK, piece.num_arcs)
        else:
            run_team(
                kernels.count_edges, piece.offsets, piece.targets, piece.start, rows, np.zeros(1, np.int64), stop,
                threads=team, stop=stop,
            )  # fmt: skip
            np.cumsum(rows, out=rows)
        level, paths, gain = (array.reshape(-1) for array in values)
        run_team(
            kernels.add_shares, piece.offsets, piece.targets, piece.start, rows, level, paths, gain,
            values.level.shape[1], int(by_arc), through, np.zeros(1, np.int64), stop,
            threads=team, stop=stop,
        )  # fmt: skip
        return int(rows[-1])

    return add_to
