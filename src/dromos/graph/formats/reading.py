"""From a file to a graph, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FileError, FormatError, InvalidArgumentError, ResourceError
from dromos.file_names import file_name
from dromos.graph.build import MergeRule
from dromos.graph.factorizing import factorize
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Progress, no_progress
from dromos.graph.formats.both_directions import Reverses, one_direction, tell_merged
from dromos.graph.formats.files import data_errors, file_errors
from dromos.graph.formats.registry import format_of, known_options
from dromos.graph.graph import Graph

__all__ = ["open_edges", "read"]


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    symmetrize: bool | None = None,
    dedupe: bool = False,
    drop_self_loops: bool = False,
    merge_weights: MergeRule = "first",
    weighted: bool | None = None,
    keep_parallel: bool = False,
    threads: int | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> Graph:
    """Read a graph from a file.

    Args:
        path: the file; ``.gz``, ``.zst``, ``.bz2`` and ``.xz`` files are decompressed on the fly.
        format: the name of the format (``dromos formats`` lists them); by default the extension decides.
        directed: whether the edges are directed; by default as the file says, or True if it does not say.
        symmetrize, dedupe, drop_self_loops, merge_weights: as in :meth:`dromos.Graph.from_edges`.
        keep_parallel: if a file of an undirected graph lists every edge in both directions, each pair of lines becomes
            one edge (and a log record says so); ``True`` keeps one edge for each line.
        weighted: ``False`` ignores the weights of the file; ``True`` refuses a file without weights.
        threads: threads to read and build with.
        progress: a function called with the bytes done and the total bytes.
        options: options of the format. Tables: ``src``, ``dst`` and ``weight`` (names of columns), ``ids``,
            ``num_vertices``, ``metadata``. Edge lists: ``ids``, ``header``, ``extra_columns``, ``weight_dtype``. Graph
            500 files: ``num_vertices``, ``scale``, ``layout``.

    >>> import dromos as dr, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.txt"
    >>> _ = file.write_text("# people\\n3 8\\n8 5\\n")
    >>> dr.read(file)
    <Graph: 3 vertices, 2 edges, directed, int labels>
    """
    path = file_name(path, "graph.txt")
    if path.is_dir():
        raise FileError("is a directory; give the file in it", path=path)
    chosen = format_of(path, format)
    build: dict[str, Any] = {
        "symmetrize": symmetrize,
        "dedupe": dedupe,
        "drop_self_loops": drop_self_loops,
        "merge_weights": merge_weights,
        "threads": threads,
    }
    merged = False
    with file_errors(path), data_errors(path), known_options(chosen, options):
        try:
            if chosen.load is not None:
                loaded = chosen.load(path, progress=progress, **options)
                graph, merged = _rebuilt(loaded, directed, weighted, keep_parallel, build)
            else:
                assert chosen.stream is not None
                source = chosen.stream(path, progress=progress, threads=threads, **options)
                graph, merged = _collected(source, directed, weighted, keep_parallel, build)
        except MemoryError:
            raise ResourceError(f"{path}: the graph does not fit into memory") from None
    if weighted and graph.weights is None:
        raise FormatError("the file has no weights, and weighted=True asks for them", path=path)
    if merged:
        tell_merged(path)
    graph.source_file = os.fspath(path)
    return graph


def open_edges(path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> EdgeSource:
    """The edges of a file, block by block, in bounded memory."""
    path = file_name(path, "graph.txt")
    chosen = format_of(path, format)
    if chosen.stream is None:
        raise InvalidArgumentError(
            f"{chosen.title} files hold a whole graph, not a list of edges to stream; leave memory out, or take the "
            "list of edges that this one was made of"
        )
    with known_options(chosen, options):
        return chosen.stream(path, **options)


def _collected(
    source: EdgeSource, directed: bool | None, weighted: bool | None, keep_parallel: bool, build: dict[str, Any]
) -> tuple[Graph, bool]:
    """The graph, and whether both directions of its edges were listed and merged."""
    src, dst, weight = joined(source.blocks)
    if source.num_edges is not None and source.num_edges != len(src):
        raise FormatError(f"the header promises {source.num_edges:,} edges, and the file has {len(src):,}")
    if weighted is False:
        weight = None
    sure = not source.directed and not source.listing_unsure
    if directed is None:
        directed = source.directed
    if build["symmetrize"] is None and not directed and source.both_directions:
        build = {**build, "symmetrize": False}
    labels = source.labels
    if labels is not None:
        src, dst = source.vertices_named(labels, src), source.vertices_named(labels, dst)
    elif src.dtype == object or (source.sparse_ids and source.num_vertices is None):
        src, dst, labels = factorize(src, dst, threads=build["threads"])
        if labels.integers is not None and _is_counting(labels.integers):
            labels = None
    merged = False
    if not sure and not keep_parallel and (build["symmetrize"] or (build["symmetrize"] is None and not directed)):
        reverses = Reverses()
        reverses.take(src, dst, weight)
        if merged := reverses.all_there:
            src, dst, weight = one_direction(src, dst, weight)
    count = source.num_vertices
    if labels is not None:
        if count is not None:
            labels.require_one_per_vertex(count)
        count = len(labels)
    graph = Graph.from_edges(src, dst, weight, num_vertices=count, directed=directed, **build)
    graph._labels = labels
    return graph, merged


def joined(blocks: Iterable[EdgeBlock]) -> EdgeBlock:
    """Blocks end to end; a column's blocks are given back before the next column is copied."""
    src: list[Array] = []
    dst: list[Array] = []
    weight: list[Array] = []
    for block in blocks:
        src.append(block.src)
        dst.append(block.dst)
        if block.weight is not None:
            weight.append(block.weight)
    if not src:
        return EdgeBlock(np.empty(0, np.int64), np.empty(0, np.int64), None)
    weighted = bool(weight)
    return EdgeBlock(_end_to_end(src), _end_to_end(dst), _end_to_end(weight) if weighted else None)


def _end_to_end(parts: list[Array]) -> Array:
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
    parts.clear()
    return whole


def _is_counting(ids: Array) -> bool:
    return len(ids) == 0 or (ids[0] == 0 and int(ids[-1]) == len(ids) - 1)


def _rebuilt(
    graph: Graph, directed: bool | None, weighted: bool | None, keep_parallel: bool, build: dict[str, Any]
) -> tuple[Graph, bool]:
    """Apply what was asked for to a graph that came whole from its file; and whether two directions were merged."""
    if weighted is False:
        graph = graph.with_weights(None)
    changed = directed is not None and directed != graph.directed
    if not changed and not (build["symmetrize"] or build["dedupe"] or build["drop_self_loops"]):
        return graph, False
    edges: tuple[Any, ...] = graph.edges(arcs=bool(directed))
    mirror = build["symmetrize"] or (build["symmetrize"] is None and directed is False)
    both = graph.directed or directed  # whether `edges` has the arcs of both directions, if every edge has its reverse
    merged = bool(both and mirror and not keep_parallel and graph.num_arcs and graph.symmetric)
    if merged:
        edges = one_direction(*edges)
    result = Graph.from_edges(
        *edges, num_vertices=graph.num_vertices, directed=graph.directed if directed is None else directed, **build
    )
    result._labels = graph.labels
    return result, merged
