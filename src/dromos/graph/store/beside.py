"""The in-edges of a directed store that holds none, in a second store beside it.

A store has in-edges if it was written with ``transpose=True``. For one without, the first call that needs them sorts
the reversed arcs within its memory and writes a second store, with both directions, to the same folder. Its name has
the identity of the first store's contents, so later calls find it, and a store that was replaced gets a new one.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dromos.dtypes import OFFSET, Array
from dromos.errors import DromosError, FileError, InvalidArgumentError
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.formats.files import atomic_output
from dromos.graph.store.budget import LEAST_MEMORY, Budget
from dromos.graph.store.label_sections import label_arrays
from dromos.graph.store.partition import Partitioner
from dromos.graph.store.row_files import RowFiles
from dromos.graph.store.workspace import open_workspace
from dromos.graph.store.writer import SectionWriter, pieces_of
from dromos.graph.summary import human_bytes
from dromos.notices import tell

if TYPE_CHECKING:
    from dromos.graph.store.stored import StoredGraph

__all__ = ["store_with_transpose"]

_log = logging.getLogger(__name__)
_OFFSETS_AT_ONCE = 1 << 20
_turn = threading.Lock()  # another thread waits for the store; another process is told who makes it


def store_with_transpose(graph: StoredGraph, memory: int) -> Path:
    """The store beside ``graph`` that also holds its in-edges; made within ``memory`` bytes if there is none.

    >>> import dromos as dr, tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> dr.write(dr.Graph.from_edges([0, 1], [1, 2]), folder / "tiny.drm")
    >>> file = store_with_transpose(dr.open(folder / "tiny.drm"), 32 << 20)
    >>> dr.open(file).in_degree.tolist()
    [0, 1, 1]
    """
    graph = graph.view(prefix="", weighted=True)  # whatever the call leaves out, the next one may need
    given = Path(graph.origin.path)
    beside = given.with_name(f"{given.stem}.transpose-{graph.header.identity.hex()[:12]}{given.suffix}")
    with _turn:
        if not beside.exists():
            _make_beside(graph, given, beside, memory)
    return beside


def _make_beside(graph: StoredGraph, given: Path, beside: Path, memory: int) -> None:
    graph.check_unchanged()
    needed, free = _disk_bytes(graph), shutil.disk_usage(given.parent).free
    if needed > free:
        raise _refused(graph, f"the disk has {human_bytes(free)} free, and {human_bytes(needed)} are needed")
    tell(f"{given} has no in-edges; they are written to {beside.name} beside it, once", _log)
    try:
        _make(graph, beside, Budget(max(memory, LEAST_MEMORY)))
    except (OSError, FileError) as error:
        raise _refused(graph, str(error)) from error
    for old in given.parent.glob(f"{given.stem}.transpose-{'[0-9a-f]' * 12}{given.suffix}"):
        if old != beside:  # of a store that was replaced
            old.unlink(missing_ok=True)


def _refused(graph: StoredGraph, reason: str) -> DromosError:
    return InvalidArgumentError(
        f"this needs the in-edges, and {graph.why_no_transpose} (they could not be written beside it: {reason})"
    )


def _disk_bytes(graph: StoredGraph) -> int:
    """At most: the new store, and before that the reversed arcs in parts and as rows."""
    rows = graph.num_arcs * (graph.targets.itemsize + (0 if graph.weights is None else graph.weights.itemsize))
    arcs = rows + graph.num_arcs * graph.targets.itemsize
    return graph.header.file_bytes + 2 * rows + arcs + 2 * OFFSET.itemsize * (graph.num_vertices + 1)


def _make(graph: StoredGraph, path: Path, budget: Budget) -> None:
    n, m, header = graph.num_vertices, graph.num_arcs, graph.header
    weight_type = None if graph.weights is None else graph.weights.dtype
    arc_bytes = 4 + graph.targets.itemsize + (8 if weight_type is not None else 0)
    with open_workspace(path, None) as workspace:
        rows = RowFiles(
            workspace, budget, "transpose_", n, weight_type, dedupe=False, merge_weights="first", threads=None
        )
        with rows.open():
            for part in Partitioner(workspace, budget, n, arc_bytes).sorted_parts(_reversed(graph, budget), m):
                rows.add(part)
        with atomic_output(path) as out:
            writer = SectionWriter(out, n, chunk_bytes=header.chunk_bytes, pack_arcs=header.pack_arcs)
            writer.add("offsets", OFFSET, _offsets(graph))
            writer.add("targets", graph.targets.dtype, (piece.targets for piece in graph.arc_slices()))
            if weight_type is not None:
                found = (piece.weights for piece in graph.arc_slices())
                writer.add("weights", weight_type, (weights for weights in found if weights is not None))
            for name, file in rows.sections():
                writer.add(name, file.array.dtype, file.pieces(budget.waiting_bytes))
            for name, array in label_arrays(graph.labels):
                writer.add(name, array.dtype, pieces_of(array))
            writer.finish(num_arcs=m, num_edges=graph.num_edges, flags=header.flags)


def _reversed(graph: StoredGraph, budget: Budget) -> Iterator[EdgeBlock]:
    """Every arc reversed, in the order of the rows."""
    for sources, targets, weights in graph.arc_blocks(budget.frame_edges, budget.memory):
        yield EdgeBlock(targets, sources, weights)


def _offsets(graph: StoredGraph) -> Iterator[Array]:
    offsets = graph.row_offsets("")
    for begin in range(0, len(offsets), _OFFSETS_AT_ONCE):
        yield offsets[begin : begin + _OFFSETS_AT_ONCE].astype(OFFSET)
