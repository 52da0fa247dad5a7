"""Rows that kernels read over the link, stored again in packs: less than half of the bytes (``kernels/packs.cuh``).

A kernel that reads all rows in every superstep reads them in packs; others read few rows, in place, as they are. Packs
are in pinned memory of the host. Only the positions where they begin are on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.compiler import load
from dromos.engines.cuda.rows import Rows, types_of
from dromos.engines.cuda.spanning import spanning_array

__all__ = ["LEAST_CLASS", "PACKING", "PACK_ARCS", "PackedRows", "pack_rows", "pack_table_bytes"]

PACKING: Final = '#include "packing.cuh"'
PACK_ARCS: Final = 512
"""Arcs of a pack of the longest rows; a warp takes one at a time."""
LEAST_CLASS = 2
"""The last class of rows to be packed, those of 32, 16 or 8 arcs and more: 2, 3 or 4."""
LEAST_ROW: Final = 8
"""The fewest arcs of a row that may be packed."""
_THREADS: Final = 256
_MOST_BLOCKS: Final = 1 << 14


@dataclass(frozen=True)
class PackedRows:
    """Packs of the rows ``begin..end``: earlier ones are on the device, later ones have few arcs."""

    begin: int
    end: int
    words: Any
    """The packs, on the host."""
    starts: Any
    """Where each pack begins, and where the last one ends."""
    row_packs: Any
    """For the rows that a block gathers: the first pack of each, and where the packs of the last one end."""
    packs_of_blocks: int

    @property
    def nbytes(self) -> int:
        """Their size in device memory."""
        return int(self.starts.nbytes + self.row_packs.nbytes)

    def fill(self, record: Any) -> None:
        """Write their addresses into the structure ``Graph`` of a kernel's arguments."""
        for name, array in (("packed", self.words), ("pack_starts", self.starts), ("row_packs", self.row_packs)):
            record[name] = int(array.data.ptr) if array.size else 0
        record["packed_begin"], record["packed_end"] = self.begin, self.end
        record["packs_of_blocks"] = self.packs_of_blocks


def pack_table_bytes(num_vertices: int, num_arcs: int) -> int:
    """The most that :attr:`PackedRows.nbytes` can be.

    >>> pack_table_bytes(1000, 3200)
    2400
    """
    return 4 * (min(num_vertices, num_arcs // LEAST_ROW) + num_arcs // PACK_ARCS) + 776


def pack_rows(rows: Rows, classes: Sequence[int]) -> PackedRows | None:
    """Packs of the rows that are not on the device; None if none is long enough.

    ``classes``: where the rows of each class end, as :attr:`DeviceGraph.classes`; targets ascend in a row.
    """
    import cupy

    resident = (rows.targets.nbytes - rows.targets_on_host) // rows.targets.itemsize
    wanted = cupy.asarray([resident], rows.offsets.dtype)
    begin = int(cupy.searchsorted(rows.offsets[1:], wanted, side="right")[0])
    end, split = classes[LEAST_CLASS], max(classes[0] - begin, 0)
    if begin >= end:
        return None
    bounds = rows.offsets[begin : end + 1].astype(cupy.int64)
    begins, ends, row_packs = bounds[split:-1], bounds[split + 1 :], cupy.zeros(split + 1, cupy.int64)
    of_blocks = 0
    if split:
        cupy.cumsum(-(-cupy.diff(bounds[: split + 1]) // PACK_ARCS), out=row_packs[1:], dtype=cupy.int64)
        of_blocks = int(row_packs[-1])
        number = cupy.arange(of_blocks, dtype=cupy.int64)
        row = cupy.searchsorted(row_packs, number, side="right") - 1
        cuts = bounds[row] + PACK_ARCS * (number - row_packs[row])
        begins = cupy.concatenate([cuts, begins])
        ends = cupy.concatenate([cupy.minimum(cuts + PACK_ARCS, bounds[row + 1]), ends])
    counts = (ends - begins).astype(cupy.uint32)
    packs = len(begins)
    module = load(PACKING, "packing", defines=types_of(rows.offsets, rows.targets))
    grid = min(_MOST_BLOCKS, -(-32 * packs // _THREADS))
    sizes = cupy.empty(packs, cupy.uint32)
    module.launch("measure_packs", grid, _THREADS, begins, counts, np.int64(packs), rows.targets, sizes)
    starts = cupy.zeros(packs + 1, cupy.int64)
    cupy.cumsum(sizes, out=starts[1:], dtype=cupy.int64)
    total = int(starts[-1])
    if total >= 2**32:
        return None
    starts = starts.astype(cupy.uint32)
    words = spanning_array(total, np.uint32, 0)
    module.launch("write_packs", grid, _THREADS, begins, counts, np.int64(packs), rows.targets, starts, words)
    return PackedRows(begin, end, words, starts, row_packs.astype(cupy.uint32), of_blocks)
