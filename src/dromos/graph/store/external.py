"""Convert a list of edges of any size to a store within a given amount of memory.

1. *Ingest*: the input is read once, block by block, and written to disk as raw binary edges (the slow part; a run that
   is killed later need not repeat it).
2. *Number*: if the ids are names, an external sort finds the distinct ones, which become labels.
3. *Sort*: the arcs are sorted on disk by ranges of rows until a range fits in memory, where it becomes rows of CSR.
4. *Order*, on request: vertices are renumbered by degree, and the arcs between the new ids are sorted in the same way.
   So are the reversed arcs, if the transpose is requested.
5. *Assemble*: the sections are copied into a store under a temporary name, which is renamed when complete.

The store is identical, byte for byte, to what :func:`dromos.read` and :func:`dromos.write` make, given enough memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from dromos.dtypes import id_dtype
from dromos.errors import FileError, GraphDataError, InvalidArgumentError
from dromos.graph import build_small
from dromos.graph.build import MERGE_RULES, MergeRule
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Progress, no_progress
from dromos.graph.formats.both_directions import one_direction
from dromos.graph.formats.files import file_errors
from dromos.graph.graph import Flags
from dromos.graph.store.budget import Budget
from dromos.graph.store.by_degree import DegreeOrder, check_memory
from dromos.graph.store.ingest import KEPT_FILES, RAW_FILE, Ingested, ingest
from dromos.graph.store.label_sections import label_arrays
from dromos.graph.store.layout import Header
from dromos.graph.store.mapped import MappedFile
from dromos.graph.store.packs import PACK_ARCS
from dromos.graph.store.partition import Partitioner
from dromos.graph.store.row_files import RowFiles
from dromos.graph.store.spill import SpillFile
from dromos.graph.store.vertex_ids import Vertices, number_vertices
from dromos.graph.store.workspace import Workspace, open_workspace
from dromos.graph.store.writer import SectionWriter, pieces_of

__all__ = ["ORDERS", "Conversion", "convert_external"]

ORDERS: Final = ("input", "degree")
"""The orders of vertices that a conversion can make."""


@dataclass(frozen=True)
class Conversion:
    """What a conversion made."""

    header: Header
    resumed: bool
    """Whether a previous, killed run had already ingested the input."""
    merged: bool = False
    """Whether the input listed every undirected edge in both directions, so that the pairs were merged."""


def convert_external(
    source: EdgeSource,
    out_path: str | os.PathLike[str],
    *,
    memory: int,
    directed: bool | None = None,
    symmetrize: bool | None = None,
    dedupe: bool = False,
    drop_self_loops: bool = False,
    merge_weights: MergeRule = "first",
    weighted: bool | None = None,
    keep_parallel: bool = False,
    transpose: bool = False,
    compress: bool = False,
    order: str = "input",
    threads: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    task: dict[str, Any] | None = None,
    progress: Progress = no_progress,
) -> Conversion:
    """Convert a source of edges to a store within ``memory`` bytes.

    Args:
        source: the edges; see :func:`dromos.graph.formats.open_edges`.
        out_path: the store to make.
        memory: bytes for the arrays of the conversion. String ids need a dictionary that takes a quarter of it.
        directed, symmetrize, dedupe, drop_self_loops, merge_weights, weighted, keep_parallel: as in
            :func:`dromos.read`.
        transpose: store the in-edges too.
        compress: store the targets compressed.
        order: of the vertices: ``"input"``, or ``"degree"``: those of most edges first, with the ids that they had (or
            their labels) as labels.
        threads: threads to sort with.
        tmp_dir: where to keep temporary files (about twice the binary edges, three times with ``order="degree"``);
            beside ``out_path`` unless given.
        task: what identifies this conversion (the input's name, size and time). If an earlier run of the same task was
            killed, the conversion continues from there; without a task, each run starts from the beginning.
        progress: called with the work done and the total work of sorting.

    >>> import tempfile, pathlib
    >>> from dromos.graph.store import load
    >>> edges = EdgeSource(iter([EdgeBlock(np.array([0, 1]), np.array([1, 2]), None)]))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
    >>> _ = convert_external(edges, file, memory=4 << 20)
    >>> load(file)
    <Graph: 3 vertices, 2 edges, directed>
    """
    if merge_weights not in MERGE_RULES:
        raise InvalidArgumentError(f"merge_weights={merge_weights!r} is not one of {', '.join(MERGE_RULES)}")
    if order not in ORDERS:
        raise InvalidArgumentError(f"order={order!r} is neither {' nor '.join(ORDERS)}")
    if order == "degree" and source.num_vertices is not None:  # before less is asked for
        check_memory(source.num_vertices, memory)
    out_path, budget = Path(out_path), Budget(memory)
    with file_errors(out_path, "write"):
        if out_path.is_dir():
            raise FileError("is a directory; give a file name", path=out_path)
        with open_workspace(out_path, None if tmp_dir is None else Path(tmp_dir)) as workspace:
            task = {"pid": os.getpid()} if task is None else task
            earlier = workspace.finished(task)
            if earlier is None:
                undirected = bool(symmetrize) or directed is False or source.listing_unsure
                find = undirected and symmetrize is not False and not keep_parallel
                facts = ingest(source, workspace, budget, weighted=weighted, find_reverses=find)
                workspace.note(task, facts.plain())
            else:
                facts = Ingested(**earlier)
            workspace.remove_unless(KEPT_FILES)
            job = _Job(source, workspace, budget, facts, threads, progress, 1 + transpose + (order == "degree"))
            job.choose_direction(directed, symmetrize)
            if order == "degree":
                check_memory(job.vertices.count, memory)
                rows = job.by_degree(job.sort(drop_self_loops, dedupe, merge_weights, prefix="unordered_"))
            else:
                rows = job.sort(drop_self_loops, dedupe, merge_weights)
            sections = list(rows.sections())
            if transpose and not rows.facts.symmetric:
                sections += job.transpose(rows).sections()
            header = _assemble(out_path, sections, job, rows, PACK_ARCS if compress else 0)
            progress(header.num_arcs, header.num_arcs)
    return Conversion(header, resumed=earlier is not None, merged=job.merged)


class _Job:
    """The steps after the input has been ingested."""

    def __init__(
        self,
        source: EdgeSource,
        workspace: Workspace,
        budget: Budget,
        facts: Ingested,
        threads: int | None,
        progress: Progress,
        steps: int,
    ) -> None:
        self._workspace, self.budget, self._facts, self._threads = workspace, budget, facts, threads
        self._raw = SpillFile(workspace.path(RAW_FILE), facts.count)
        self.vertices: Vertices = number_vertices(source, facts, self._raw, workspace, budget)
        self._weight_type = None if facts.weight_type is None else np.dtype(facts.weight_type)
        self._id_type = id_dtype(self.vertices.count)
        self.undirected = self._mirror = self.merged = False
        self._progress, self._steps, self._steps_done = progress, steps, 0

    def choose_direction(self, directed: bool | None, symmetrize: bool | None) -> None:
        """Decide whether edges go both ways, by the same rules as in memory."""
        directed = self._facts.directed if directed is None else directed
        if symmetrize is None:
            symmetrize = not directed and not self._facts.both_directions
        self._mirror, self.undirected = symmetrize, symmetrize or not directed
        sure = not self._facts.directed and not self._facts.listing_unsure
        self.merged = self._mirror and self._facts.reverses_there and not sure

    def sort(self, drop_self_loops: bool, dedupe: bool, merge_weights: MergeRule, *, prefix: str = "") -> RowFiles:
        """The rows of the graph, in files whose names begin with ``prefix``."""
        rows = self._row_files(prefix, dedupe, merge_weights)
        most = self._facts.count * (2 if self._mirror and not self.merged else 1)
        self._fill(rows, self._arcs(drop_self_loops), most)
        if self.undirected and not rows.facts.symmetric:
            raise GraphDataError(
                "directed=False with symmetrize=False says that every edge is given in both directions with one "
                "weight, and some are not; leave symmetrize out to have the reverse edges added"
            )
        return rows

    def by_degree(self, rows: RowFiles) -> RowFiles:
        """The rows of the graph with its vertices in the order of their degrees; their labels follow."""
        order = DegreeOrder(rows, self.vertices.count, self._workspace, self.budget)
        self.budget = order.left
        result = self._row_files("", False, "first")
        self._fill(result, order.arcs(), rows.num_arcs)
        self.vertices = replace(self.vertices, labels=order.labels(self.vertices.labels))
        return result

    def transpose(self, rows: RowFiles) -> RowFiles:
        """The rows of the transposed graph."""
        result = self._row_files("transpose_", False, "first")
        self._fill(result, rows.reversed_arcs(), rows.num_arcs)
        return result

    def _row_files(self, prefix: str, dedupe: bool, merge_weights: MergeRule) -> RowFiles:
        return RowFiles(
            self._workspace, self.budget, prefix, self.vertices.count, self._weight_type,
            dedupe=dedupe, merge_weights=merge_weights, threads=self._threads,
        )  # fmt: skip

    def _fill(self, rows: RowFiles, arcs: Iterator[EdgeBlock], count: int) -> None:
        arc_bytes = 4 + self._id_type.itemsize + (8 if self._weight_type is not None else 0)
        partitioner = Partitioner(self._workspace, self.budget, self.vertices.count, arc_bytes)
        done = 0
        with rows.open():
            for part in partitioner.sorted_parts(self._counted(arcs, count), count):
                rows.add(part)
                done += part.count
                self._tell(count + done, 2 * count)
        self._steps_done += 1

    def _tell(self, done: int, total: int) -> None:
        """Report the progress of this sort as progress of the whole conversion."""
        self._progress(self._steps_done * total + done, self._steps * total)

    def _counted(self, arcs: Iterator[EdgeBlock], count: int) -> Iterator[EdgeBlock]:
        done = 0
        for block in arcs:
            yield block
            done += len(block.src)
            self._tell(done, 2 * count)

    def _arcs(self, drop_self_loops: bool) -> Iterator[EdgeBlock]:
        """The raw edges as arcs between vertices, in the order of the input."""
        for raw in self._raw.frames():
            src, dst = (self.vertices.of_ids(ids).astype(self._id_type, copy=False) for ids in (raw.src, raw.dst))
            weight = None if self._weight_type is None else np.asarray(raw.weight).astype(self._weight_type, copy=False)
            if self.merged:
                src, dst, weight = one_direction(src, dst, weight)
            if drop_self_loops:
                kept = src != dst
                src, dst, weight = src[kept], dst[kept], None if weight is None else weight[kept]
            yield EdgeBlock(*(build_small.mirrored(src, dst, weight) if self._mirror else (src, dst, weight)))


def _assemble(
    out_path: Path, sections: list[tuple[str, MappedFile]], job: _Job, rows: RowFiles, pack_arcs: int
) -> Header:
    """Copy the sections into a store. Every run uses the same temporary name, so it replaces what a killed run left."""
    beside = out_path.with_name(f".{out_path.name}.converting.part")
    facts, arcs = rows.facts, rows.num_arcs
    flags = Flags(
        directed=not job.undirected,
        symmetric=facts.symmetric,
        sorted=True,
        parallel_edges=facts.parallel_at is not None,
        self_loops=facts.loops > 0,
    )
    try:
        with open(beside, "wb") as out:
            writer = SectionWriter(out, job.vertices.count, pack_arcs=pack_arcs)
            for name, file in sections:
                writer.add(name, file.array.dtype, file.pieces(job.budget.waiting_bytes))
            for name, array in label_arrays(job.vertices.labels):
                writer.add(name, array.dtype, pieces_of(array))
            edges = (arcs + facts.loops) // 2 if job.undirected else arcs
            header = writer.finish(num_arcs=arcs, num_edges=edges, flags=flags)
        beside.replace(out_path)
    finally:
        beside.unlink(missing_ok=True)
    return header
