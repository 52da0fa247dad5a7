"""The rows of a result on one rank, where results stay with the ranks (``gather=False``)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.slices import equal_edge_bounds

__all__ = ["OwnRows", "cut_columns"]


class OwnRows:
    """The rows ``first..last`` of a result on one rank of ``comm``; the ranks have consecutive ranges.

    >>> from dromos.runner.together import OneProcess
    >>> OwnRows(OneProcess(), 2, 5).cut(np.arange(10)).tolist()
    [2, 3, 4]
    """

    def __init__(self, comm: Any, first: int, last: int) -> None:
        self.comm, self.first, self.last = comm, first, last

    @classmethod
    def of_vertices(cls, comm: Any, graph: Graph) -> OwnRows:
        """A range with about the same number of edges for each rank."""
        bounds = equal_edge_bounds(graph.offsets, comm.Get_size()).tolist()
        rank = comm.Get_rank()
        return cls(comm, bounds[rank], bounds[rank + 1])

    @classmethod
    def of_rows(cls, comm: Any, count: int) -> OwnRows:
        """A range with about the same number of rows for each rank.

        >>> from dromos.runner.together import OneProcess
        >>> OwnRows.of_rows(OneProcess(), 7).ids.tolist()
        [0, 1, 2, 3, 4, 5, 6]
        """
        rank, size = comm.Get_rank(), comm.Get_size()
        return cls(comm, count * rank // size, count * (rank + 1) // size)

    @property
    def ids(self) -> Array:
        """The numbers of the rows."""
        return np.arange(self.first, self.last)

    def cut(self, whole: Array) -> Array:
        """The own rows of a column that all ranks have in full; a copy, so that the rest can be freed."""
        return whole[self.first : self.last].copy()

    def gathered(self, own: Array) -> Array:
        """The whole column; a collective call of all ranks."""
        own = np.ascontiguousarray(own)
        counts = self.comm.allgather(len(own))
        width = own.dtype.itemsize * int(np.prod(own.shape[1:], dtype=np.int64))
        whole = np.empty((sum(counts), *own.shape[1:]), own.dtype)
        sizes = [count * width for count in counts]
        self.comm.Allgatherv(own.reshape(-1).view(np.uint8), [whole.reshape(-1).view(np.uint8), sizes])
        return whole

    def place_of(self, row: int, shown: Any) -> int:
        """The position of a row among the own rows."""
        if not self.first <= row < self.last:
            raise InvalidArgumentError(
                f"the vertex {shown!r} belongs to another rank, and with gather=False a result has only the rows "
                "of its own rank; call result.gather() on all ranks, and ask its result"
            )
        return row - self.first

    def refuse(self, asked: str) -> InvalidArgumentError:
        """The error for an operation that needs all rows."""
        return InvalidArgumentError(
            f"{asked} needs all rows, and with gather=False a result has those of its own rank; "
            f"use result.gather().{asked}, and have all ranks call gather()"
        )


def cut_columns(
    comm: Any, graph: Graph, columns: Mapping[str, Any], edge_fields: Set[str], index: str | None
) -> tuple[dict[str, Array], OwnRows]:
    """This rank's rows of columns that all ranks have in full; ``index``: rows are not vertices.

    >>> import dromos as dr
    >>> from dromos.runner.together import OneProcess
    >>> cut_columns(OneProcess(), dr.generators.path(3), {"level": np.arange(3)}, set(), None)[0]["level"].tolist()
    [0, 1, 2]
    """
    if index is not None:
        own = OwnRows.of_rows(comm, len(next(iter(columns.values()), ())))
    else:
        own = OwnRows.of_vertices(comm, graph)
    arcs = OwnRows(comm, int(graph.offsets[own.first]), int(graph.offsets[own.last])) if edge_fields else own
    return {name: (arcs if name in edge_fields else own).cut(column) for name, column in columns.items()}, own
