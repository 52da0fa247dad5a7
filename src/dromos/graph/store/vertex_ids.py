"""Map the ids of a file to vertices 0..n-1, without holding all ids in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError
from dromos.graph.formats.base import EdgeSource
from dromos.graph.labels import Labels
from dromos.graph.store.budget import Budget
from dromos.graph.store.ingest import Ingested, load_labels
from dromos.graph.store.mapped import MappedFile
from dromos.graph.store.spill import SpillFile
from dromos.graph.store.workspace import Workspace

__all__ = ["Vertices", "number_vertices"]


@dataclass(frozen=True)
class Vertices:
    """The number of vertices, their labels, and the mapping from ids to vertices."""

    count: int
    labels: Labels | None
    of_ids: Callable[[Array], Array]


def number_vertices(
    source: EdgeSource, facts: Ingested, raw: SpillFile, workspace: Workspace, budget: Budget
) -> Vertices:
    """Decide what the ids of the input mean, by the same rules as :func:`dromos.read`."""
    if facts.has_labels:
        labels = load_labels(workspace)
        if facts.num_vertices is not None:
            labels.require_one_per_vertex(facts.num_vertices)
        if facts.text:
            table = np.load(workspace.path("text_ids.npy"), mmap_mode="r" if facts.count else None)
            return Vertices(len(labels), labels, lambda ids: np.asarray(table[ids]))
        return Vertices(len(labels), labels, lambda ids: source.vertices_named(labels, ids))
    if facts.sparse_ids and facts.num_vertices is None:
        return _named_by_integers(facts, raw, workspace, budget)
    return Vertices(_checked_count(facts), None, lambda ids: ids)


def _named_by_integers(facts: Ingested, raw: SpillFile, workspace: Workspace, budget: Budget) -> Vertices:
    path = workspace.path("distinct.ids")
    if facts.count == 0:
        return Vertices(0, None, lambda ids: ids)
    count = _write_distinct(facts, raw, path, budget)
    if facts.low == 0 and facts.high == count - 1:
        path.unlink()
        return Vertices(count, None, lambda ids: ids)
    names = MappedFile(path, np.dtype(np.int64))
    if names.array.nbytes <= budget.table_bytes:
        return Vertices(count, Labels(names.array), lambda ids: np.searchsorted(names.array, ids))
    return Vertices(count, Labels(names.array), lambda ids: _positions(names, ids))


def _positions(names: MappedFile, ids: Array) -> Array:
    """The positions of ``ids`` in the ascending ``names``; looked up in ascending order, for one pass over the map."""
    order = np.argsort(ids)
    found = np.empty(len(ids), dtype=np.int64)
    found[order] = np.searchsorted(names.array, ids[order])
    names.let_go()
    return found


def _write_distinct(facts: Ingested, raw: SpillFile, path: Path, budget: Budget) -> int:
    """Write the distinct ids of all edges, ascending; return their number."""
    span = facts.high - facts.low + 1
    with open(path, "wb") as out:
        if span <= budget.table_bytes:
            seen = np.zeros(span, dtype=bool)
            for src, dst, _ in raw.frames():
                for column in (src, dst):
                    seen[column.astype(np.int64) - facts.low] = True
            step = budget.frame_edges
            for begin in range(0, span, step):
                (np.flatnonzero(seen[begin : begin + step]) + (begin + facts.low)).tofile(out)
        else:
            for ids in _merged(_sorted_runs(raw, path, budget), budget.frame_edges):
                ids.tofile(out)
        return out.tell() // 8


def _sorted_runs(raw: SpillFile, path: Path, budget: Budget) -> list[Path]:
    """Write files of distinct ids, each ascending."""
    runs: list[Path] = []
    held: list[Array] = []

    def write_run() -> None:
        run = path.with_name(f"run-{len(runs)}.ids")
        _distinct(held).tofile(run)
        runs.append(run)
        held.clear()

    for src, dst, _ in raw.frames():
        held.append(_distinct([src.astype(np.int64), dst.astype(np.int64)]))
        if sum(ids.nbytes for ids in held) > budget.memory // 8:
            write_run()
    if held:
        write_run()
    return runs


def _merged(paths: list[Path], window: int) -> Iterator[Array]:
    """All values of ascending runs in ascending order, each once, in batches; the runs are removed.

    A window is kept over each run. Values up to the smallest of the windows' last values can only be in the windows, so
    they are merged and yielded.
    """
    step = max(64, window // max(1, len(paths)))
    at = [0] * len(paths)
    while True:
        windows = [np.fromfile(path, np.int64, step, offset=8 * begin) for path, begin in zip(paths, at, strict=True)]
        if not any(len(values) for values in windows):
            break
        bound = min(int(values[-1]) for values in windows if len(values))
        ready = [int(np.searchsorted(values, bound, side="right")) for values in windows]
        yield _distinct([values[:count] for values, count in zip(windows, ready, strict=True)])
        at = [begin + count for begin, count in zip(at, ready, strict=True)]
    for path in paths:
        path.unlink()


def _distinct(parts: list[Array]) -> Array:
    """The distinct values of some arrays, ascending. (np.unique uses hashes, and slows down on regular gaps.)"""
    values = np.concatenate(parts)
    values.sort()
    first = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]


def _checked_count(facts: Ingested) -> int:
    given = facts.num_vertices
    if facts.count == 0:
        return given or 0
    if facts.low < 0:
        raise GraphDataError(f"the id {facts.low} is negative; ids are 0..n-1; ids='names' takes any integers as names")
    if given is None:
        if facts.high + 1 > 64 * facts.count + 2**20:
            raise GraphDataError(
                f"the largest id is {facts.high:,} with only {facts.count:,} edges; if the ids are sparse names, "
                "give ids='names' (and format='edges' if it is a .el or .wel file); if they are not ids, choose "
                "another column"
            )
        return facts.high + 1
    if facts.high >= given:
        raise GraphDataError(f"the id {facts.high} is outside 0..{given - 1} (there are {given:,} vertices)")
    return given
