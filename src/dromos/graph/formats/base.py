"""What a file format is to Dromos, and how the edges of a file come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dromos.dtypes import Array
from dromos.errors import FormatError, UnknownVertexError
from dromos.graph.labels import Labels

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["EdgeBlock", "EdgeSource", "Format", "Progress", "no_progress"]

Progress = Callable[[int, int], None]
"""Called now and then with the bytes done and the bytes in all (0 when not known)."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


class EdgeBlock(NamedTuple):
    """Some edges of a file: ids (integers, or objects that are ``str``) and weights.

    Each block of a file has the narrowest types that hold it: ids ``int32``, or ``int64``; weights, unless a type was
    asked for, ``int32`` or ``float64``.
    """

    src: Array
    dst: Array
    weight: Array | None


@dataclass
class EdgeSource:
    """The edges of a file, block by block, in bounded memory.

    What the file tells of the whole graph stands beside. A reader may still correct it while the blocks are drawn (a
    line of counts is sometimes only known as such at the end), so look at it again after the last block.
    """

    blocks: Iterator[EdgeBlock]
    directed: bool = True
    """Whether an edge leads one way only; an undirected edge comes once, unless ``both_directions``."""
    both_directions: bool = False
    """Whether an undirected file lists every edge in both directions."""
    listing_unsure: bool = False
    """Whether an undirected file may list edges once or in both directions, as SNAP's do."""
    num_vertices: int | None = None
    """How many vertices the file says there are."""
    num_edges: int | None = None
    """How many edges the file says there are; whoever draws the blocks checks it."""
    sparse_ids: bool = False
    """Whether integer ids are names: where some of 0..largest are missing, the ids become labels."""
    labels: Labels | None = None
    """The names of all vertices, where the file lists them; the blocks then hold these names."""
    find_line: Callable[[Any], int | None] | None = None
    """Finds the first line on which a name stands, for the message about an edge whose end is not among ``labels``."""
    edge_file: Path | None = None
    """The file that the edges are in, where a graph has several."""

    def vertices_named(self, labels: Labels, names: Array) -> Array:
        """The vertices that edges name; a name that is not listed is an error, with its line where that is known."""
        try:
            return labels.ids_of(names)
        except UnknownVertexError as error:
            known = set(labels.to_numpy().tolist())
            name = next(name for name in names.tolist() if name not in known)
            line = None if self.find_line is None else self.find_line(name)
            raise FormatError(
                f"an edge names the vertex {name!r}, which is not listed", path=self.edge_file, line=line
            ) from error


@dataclass(frozen=True)
class Format:
    """A file format: its names, and the functions that read and write it.

    A format of edges gives ``stream``; one that holds a whole graph (CSR on disk) gives ``load``. Both take the path, a
    progress function and the format's own options as keywords, as ``write`` does after the graph.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    stream: Callable[..., EdgeSource] | None = None
    load: Callable[..., Graph] | None = None
    write: Callable[..., None] | None = None
    compressed: bool = True
    """Whether the format may be read and written through .gz, .zst, .bz2 and .xz."""
    requires: str | None = None
    """The package that reads and writes it, where that is not NumPy."""
