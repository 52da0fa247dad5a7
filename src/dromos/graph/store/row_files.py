"""Sorted rows, written to files that become the sections of a store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from dromos.dtypes import OFFSET, Array, id_dtype
from dromos.graph.build import MergeRule, narrow_sums
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.store.budget import Budget
from dromos.graph.store.mapped import MappedFile
from dromos.graph.store.partition import Part
from dromos.graph.store.ranges import sorted_rows
from dromos.graph.store.rows import RowFacts, scan
from dromos.graph.store.spill import SpillFile
from dromos.graph.store.workspace import Workspace

__all__ = ["RowFiles"]


class RowFiles:
    """The files of offsets, targets and weights of a graph, filled part by part in ascending order."""

    def __init__(
        self,
        workspace: Workspace,
        budget: Budget,
        prefix: str,
        num_vertices: int,
        weight_type: np.dtype[Any] | None,
        *,
        dedupe: bool,
        merge_weights: MergeRule,
        threads: int | None,
    ) -> None:
        self.prefix, self.num_arcs, self.facts = prefix, 0, RowFacts()
        self._num_vertices, self._weight_type = num_vertices, weight_type
        self._dedupe, self._merge, self._threads = dedupe, merge_weights, threads
        self._step = budget.frame_edges
        self._next_row = 0
        dtypes: dict[str, np.dtype[Any]] = {"offsets": OFFSET, "targets": id_dtype(num_vertices)}
        if weight_type is not None:
            dtypes["weights"] = weight_type
        self._paths = {name: (workspace.path(f"{prefix}{name}.bin"), dtype) for name, dtype in dtypes.items()}
        self._files: dict[str, IO[bytes]] = {}

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Keep the files open while parts are added; write the last offset at the end."""
        with contextlib.ExitStack() as stack:
            for name, (path, _) in self._paths.items():
                self._files[name] = stack.enter_context(open(path, "wb"))
            yield
            self._begin_rows_up_to(self._num_vertices + 1)

    def add(self, part: Part) -> None:
        """Sort the arcs of a part and write its rows; parts come in ascending order."""
        if part.arcs is None:
            return  # its rows begin where the next arc is; they are written when that arc comes
        if part.is_one_arc:
            self._add_one_arc(part.first, part.low, part.arcs)
            return
        src, dst, weight = self._loaded(part)
        offsets, targets, weights = sorted_rows(
            src, dst, weight, part.last - part.first,
            dedupe=self._dedupe, merge_weights=self._merge, threads=self._threads,
        )  # fmt: skip
        del src, dst, weight
        self._begin_rows_up_to(part.first + 1)
        if part.last - part.first > 1:
            (offsets[1:-1] + self.num_arcs).tofile(self._files["offsets"])
            self._next_row = part.last
        self._write(part.first, offsets, targets, weights)

    def sections(self) -> Iterator[tuple[str, MappedFile]]:
        """Each file with the name of the section that it becomes."""
        for name, (path, dtype) in self._paths.items():
            yield f"{self.prefix}{name}", MappedFile(path, dtype)

    def remove(self) -> None:
        """Delete the files."""
        for path, _ in self._paths.values():
            path.unlink()

    def degrees(self) -> Array:
        """The number of arcs of each row."""
        offsets, degrees = MappedFile(*self._paths["offsets"]), np.empty(self._num_vertices, OFFSET)
        for begin in range(0, self._num_vertices, self._step):
            end = min(begin + self._step, self._num_vertices)
            np.subtract(offsets.array[begin + 1 : end + 1], offsets.array[begin:end], out=degrees[begin:end])
            offsets.let_go()
        return degrees

    def reversed_arcs(self) -> Iterator[EdgeBlock]:
        """Every arc reversed, in the order of the rows."""
        for rows, targets, weights in self.arcs():
            yield EdgeBlock(targets, rows, weights)

    def arcs(self) -> Iterator[EdgeBlock]:
        """Every arc, in the order of the rows."""
        files = {name: MappedFile(path, dtype) for name, (path, dtype) in self._paths.items()}
        for begin in range(0, self.num_arcs, self._step):
            rows = _rows_of(files["offsets"].array, begin, min(begin + self._step, self.num_arcs))
            part = slice(begin, begin + self._step)
            targets = files["targets"].array[part].copy()
            weights = files["weights"].array[part].copy() if "weights" in files else None
            for file in files.values():
                file.let_go()
            yield EdgeBlock(rows.astype(targets.dtype), targets, weights)

    def _loaded(self, part: Part) -> EdgeBlock:
        """The arcs of a part in memory, the sources as rows of the part."""
        assert part.arcs is not None
        src = np.empty(part.count, dtype=id_dtype(part.last - part.first))
        dst = np.empty(part.count, dtype=id_dtype(self._num_vertices))
        weight = None if self._weight_type is None else np.empty(part.count, dtype=self._weight_type)
        at = 0
        for frame in part.arcs.frames():
            place = slice(at, at + len(frame.src))
            src[place] = frame.src - part.first
            dst[place] = frame.dst
            if weight is not None:
                weight[place] = frame.weight
            at += len(frame.src)
        return EdgeBlock(src, dst, weight)

    def _add_one_arc(self, row: int, target: int, arcs: SpillFile) -> None:
        """Add many arcs with the same two ends: they need no sorting, and merge while they are streamed."""
        self._begin_rows_up_to(row + 1)
        merged: Array | None = None
        for frame in arcs.frames():
            if not self._dedupe:
                self._write(row, np.array([0, len(frame.dst)]), frame.dst, frame.weight)
                if arcs.count > 1:  # perhaps in different frames
                    self.facts = self.facts._replace(parallel_at=0)
            elif frame.weight is None:
                merged = np.empty(0)
            else:
                merged = self._merged_weight(merged, frame.weight)
        if merged is not None:
            weight = None if self._weight_type is None else narrow_sums(merged, self._weight_type)
            self._write(row, np.array([0, 1]), np.array([target], dtype=id_dtype(self._num_vertices)), weight)

    def _merged_weight(self, before: Array | None, weights: Array) -> Array:
        """Merge the weight so far with ``weights``, adding from left to right as the builder does."""
        if weights.dtype == np.int32 and self._merge == "sum":
            weights = weights.astype(np.int64)
        values = weights if before is None else np.concatenate((before, weights))
        if self._merge == "sum":
            return np.cumsum(values, dtype=values.dtype)[-1:]
        if self._merge == "first":
            return values[:1]
        return np.array([values.min() if self._merge == "min" else values.max()], dtype=values.dtype)

    def _begin_rows_up_to(self, row: int) -> None:
        """Start all rows below ``row`` that have not started yet at the current position."""
        while self._next_row < row:
            count = min(self._step, row - self._next_row)
            np.full(count, self.num_arcs, dtype=OFFSET).tofile(self._files["offsets"])
            self._next_row += count

    def _write(self, first: int, offsets: Array, targets: Array, weights: Array | None) -> None:
        self.facts = self.facts.joined(scan(first, self._num_vertices, offsets, targets, weights, self._threads))
        targets.tofile(self._files["targets"])
        if weights is not None:
            weights.tofile(self._files["weights"])
        self.num_arcs += len(targets)


def _rows_of(offsets: Array, begin: int, end: int) -> Array:
    """The rows of the arcs ``begin..end``."""
    first, last = (int(row) for row in np.searchsorted(offsets, (begin, end - 1), side="right"))
    if last - first >= end - begin:  # most of these rows are empty
        return np.searchsorted(offsets, np.arange(begin, end), side="right") - 1
    return np.repeat(np.arange(first - 1, last), np.diff(np.clip(offsets[first - 1 : last + 1], begin, end)))
