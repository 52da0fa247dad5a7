"""METIS graphs (``.graph``): a header ``n m [fmt [ncon]]``, then the neighbors of each vertex on a line, from 1.

Undirected, without self-loops; every edge stands on the lines of both its ends. ``fmt`` tells whether a line begins
with a size and ``ncon`` weights of the vertex, and whether each neighbor is followed by the weight of the edge. Sizes
and weights of vertices are read over: a graph of Dromos holds none. ``%`` begins a comment, in which labels are kept
(:mod:`dromos.graph.formats.text_notes`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FormatError, GraphDataError, UnsupportedFormatError
from dromos.graph.formats.base import Format, Progress, no_progress
from dromos.graph.formats.files import atomic_output
from dromos.graph.formats.text_file import TextFile
from dromos.graph.formats.text_lists import AdjacencyShape, parse_adjacency, write_adjacency
from dromos.graph.formats.text_notes import describe, read_front
from dromos.graph.formats.text_rows import shown

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]


class _Header(NamedTuple):
    num_vertices: int
    num_edges: int
    vertex_numbers: int
    edge_weights: bool
    line: int


def _load(path: Path, *, progress: Progress = no_progress) -> Graph:
    """Read a graph; the counts and both directions of every edge are checked."""
    from dromos.graph.graph import Graph

    text = TextFile(path, progress=progress, longest_line=None)
    note = read_front(text, (b"%",)).note
    header = _header(text)
    shape = AdjacencyShape(header.vertex_numbers, header.edge_weights, header.num_vertices)
    parts = list(parse_adjacency(text, shape))
    degrees = np.concatenate([part.degrees for part in parts]) if parts else np.empty(0, np.int64)
    targets = np.concatenate([part.targets for part in parts]) if parts else np.empty(0, np.int32)
    weights = None
    if header.edge_weights:
        weights = np.concatenate(
            [part.weights for part in parts if part.weights is not None] or [np.empty(0, np.int64)]
        )
    del parts
    _check_counts(path, header, degrees, len(targets))
    src = np.repeat(np.arange(header.num_vertices, dtype=targets.dtype), degrees[: header.num_vertices])
    loops = np.flatnonzero(src == targets)
    if loops.size:
        row = int(src[loops[0]])
        raise FormatError(f"vertex {row + 1} is listed as its own neighbor", path=path, line=_line_of_row(path, row))
    try:
        graph = Graph.from_edges(
            src, targets, weights, num_vertices=header.num_vertices, directed=False, symmetrize=False
        )
    except GraphDataError as error:
        raise _asymmetry(path, src, targets, weights) or error from None
    if note is not None and note.labels is not None and len(note.labels) == header.num_vertices:
        graph._labels = note.labels
    return graph


def _header(text: TextFile) -> _Header:
    line = text.next_line() or b""
    words = line.split()
    fmt = words[2] if len(words) > 2 else b"0"
    if not 2 <= len(words) <= 4 or not all(w.isdigit() and len(w) < 19 for w in words) or not _is_fmt(fmt):
        raise FormatError(
            "expected the header 'VERTICES EDGES [FMT [NCON]]', FMT of three digits that are 0 or 1, "
            f"not {shown(line)!r}",
            path=text.path,
            line=max(1, text.lines_read),
        )
    sizes, vertex_weights, edge_weights = (digit == "1" for digit in fmt.decode().zfill(3))
    constraints = int(words[3]) if len(words) == 4 else 1
    if constraints > 1000:
        raise FormatError(f"{constraints} weights per vertex are not plausible", path=text.path, line=text.lines_read)
    return _Header(
        int(words[0]), int(words[1]), sizes + (constraints if vertex_weights else 0), edge_weights, text.lines_read
    )


def _is_fmt(fmt: bytes) -> bool:
    return len(fmt) <= 3 and set(fmt) <= set(b"01")


def _check_counts(path: Path, header: _Header, degrees: Array, arcs: int) -> None:
    count = header.num_vertices
    if len(degrees) < count:
        raise FormatError(
            f"the header promises {count:,} vertices, and the file has {len(degrees):,} rows",
            path=path,
            line=header.line,
        )
    if np.any(degrees[count:]):
        row = count + int(np.argmax(degrees[count:] > 0))
        raise FormatError(
            f"row {row + 1} of neighbors, where the header promises {count:,}", path=path, line=_line_of_row(path, row)
        )
    if arcs != 2 * header.num_edges:
        hint = "; some programs count every edge twice there" if arcs == header.num_edges else ""
        raise FormatError(
            f"the header promises {header.num_edges:,} edges, so {2 * header.num_edges:,} neighbors, and the rows "
            f"list {arcs:,}{hint}",
            path=path,
            line=header.line,
        )


def _asymmetry(path: Path, src: Array, dst: Array, weights: Array | None) -> FormatError | None:
    """The error for the first edge that its two ends list differently."""
    values = np.zeros(len(src), np.int64) if weights is None else weights
    there = np.stack([column[np.lexsort((values, dst, src))] for column in (src, dst, values)])
    back = np.stack([column[np.lexsort((values, src, dst))] for column in (dst, src, values)])
    differs = np.flatnonzero((there != back).any(axis=0))
    if not differs.size:
        return None
    listed, mirrored = tuple(there[:, differs[0]].tolist()), tuple(back[:, differs[0]].tolist())
    u, v, weight = listed if listed < mirrored else (mirrored[1], mirrored[0], mirrored[2])
    with_weight = "" if weights is None else f" with the weight {weight}"
    return FormatError(
        f"vertex {u + 1} lists {v + 1}{with_weight} as a neighbor, and {v + 1} does not list {u + 1} so",
        path=path,
        line=_line_of_row(path, u),
    )


def _line_of_row(path: Path, row: int) -> int:
    """The line of a row of neighbors, for messages; the file is read again for it."""
    with TextFile(path, longest_line=None) as text:
        read_front(text, (b"%",))
        left = row + 2  # the header is a row here
        while left and (line := text.next_line()) is not None:
            left -= not line.lstrip().startswith(b"%")
        return text.lines_read


def _write(graph: Graph, path: Path, *, progress: Progress = no_progress) -> None:
    """Write an undirected graph without self-loops, with whole weights or none."""
    if graph.directed:
        raise UnsupportedFormatError(
            "METIS files hold undirected graphs, and this one is directed; write graph.symmetrized() or another format",
            path=path,
        )
    if graph.has_self_loops:
        raise UnsupportedFormatError(
            "METIS files hold no self-loops, and this graph has some; drop them, or write another format", path=path
        )
    if graph.weights is not None and graph.weights.dtype != np.int32:
        raise UnsupportedFormatError(
            f"METIS files hold whole weights, and the graph has {graph.weights.dtype} ones; scale them to integers, or "
            "write another format, such as .mtx or .txt",
            path=path,
        )
    with atomic_output(path) as out:
        for piece in describe(graph, b"%", rows_hold_labels=False):
            out.write(piece)
        out.write(b"%d %d%s\n" % (graph.num_vertices, graph.num_edges, b"" if graph.weights is None else b" 001"))
        write_adjacency(out, graph.offsets, graph.targets, graph.weights)
        progress(graph.num_arcs, graph.num_arcs)


FORMATS = (Format("metis", "METIS", (".graph", ".metis"), load=_load, write=_write),)
