"""How the memory of a conversion is divided."""

from __future__ import annotations

from dataclasses import dataclass

from dromos.errors import ResourceError
from dromos.graph.summary import enough_bytes, human_bytes

__all__ = ["LEAST_MEMORY", "Budget"]

LEAST_MEMORY = 4 << 20
_BYTES_A_FRAME_EDGE = 512  # an edge, its reverse, and the columns that sort both to their parts, with some to spare
_BYTES_A_ROW = 64  # its offset is an eighth of that
_BUILD_FACTOR = 5  # the builder holds its input, its keys, the result and a spare bucket


@dataclass(frozen=True)
class Budget:
    """A number of bytes, and how much of it each step may use.

    It counts the arrays of the conversion; the interpreter, its libraries and the compiled code are not included.
    """

    memory: int

    def __post_init__(self) -> None:
        if self.memory < LEAST_MEMORY:
            raise ResourceError(
                f"memory={human_bytes(self.memory)} is too little to convert with; "
                f"give at least {human_bytes(LEAST_MEMORY)}"
            )

    @property
    def frame_edges(self) -> int:
        """Edges processed at once while they are streamed."""
        return self.memory // _BYTES_A_FRAME_EDGE

    @property
    def waiting_bytes(self) -> int:
        """Bytes of edges that are collected in memory before they are written to their parts."""
        return self.memory // 4

    @property
    def rows_at_once(self) -> int:
        """Rows built at once."""
        return self.memory // _BYTES_A_ROW

    @property
    def table_bytes(self) -> int:
        """Bytes of a table over the vertices: the dictionary of string ids, or the marks of the ids seen."""
        return self.memory // 4

    def arcs_at_once(self, arc_bytes: int) -> int:
        """Arcs sorted in memory at once."""
        return self.memory * 6 // 10 // (_BUILD_FACTOR * arc_bytes)

    def check_block(self, nbytes: int) -> None:
        """Raise an error if the blocks of a reader alone would take too much."""
        if 4 * nbytes > self.memory:
            raise ResourceError(
                f"the file is read in blocks of {human_bytes(nbytes)}, too much for memory={human_bytes(self.memory)}; "
                f"give at least {enough_bytes(4 * nbytes)}"
            )
