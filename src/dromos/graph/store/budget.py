"""How a conversion's memory is shared out."""

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
    """A number of bytes, and what each step may take of it.

    It counts the arrays that the conversion holds; the interpreter, its libraries and the compiled code come on top.
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
        """Edges that are worked on at once while they stream by."""
        return self.memory // _BYTES_A_FRAME_EDGE

    @property
    def waiting_bytes(self) -> int:
        """Edges that wait in memory until a good number can be written to their part together."""
        return self.memory // 4

    @property
    def rows_at_once(self) -> int:
        """Rows that are built at once."""
        return self.memory // _BYTES_A_ROW

    @property
    def table_bytes(self) -> int:
        """A table over the vertices: the dictionary of string ids, the marks of the ids seen."""
        return self.memory // 4

    def arcs_at_once(self, arc_bytes: int) -> int:
        """Arcs that are sorted in memory at once."""
        return self.memory * 6 // 10 // (_BUILD_FACTOR * arc_bytes)

    def check_block(self, nbytes: int) -> None:
        """Refuse a reader whose blocks alone would take too much."""
        if 4 * nbytes > self.memory:
            raise ResourceError(
                f"the file is read in blocks of {human_bytes(nbytes)}, too much for memory={human_bytes(self.memory)}; "
                f"give at least {enough_bytes(4 * nbytes)}"
            )
