"""DIMACS shortest-path graphs (``.gr``): ``p sp n m``, then ``a u v w`` for every arc, ids from 1; ``c`` comments.

The format knows directed arcs with whole weights. What else a graph has is kept in a comment
(:mod:`dromos.graph.formats.text_notes`): an undirected graph is written with both arcs of every edge, and one without
weights with ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.errors import FormatError, UnsupportedFormatError
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Format, Progress, no_progress
from dromos.graph.formats.files import atomic_output
from dromos.graph.formats.text_file import TextFile
from dromos.graph.formats.text_notes import describe, named_blocks, read_front
from dromos.graph.formats.text_rows import RowShape, edge_blocks, shown, weight_dtype_option
from dromos.graph.formats.text_writer import LineStyle, write_arcs

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]


def _stream(
    path: Path, *, weight_dtype: Any = None, threads: int | None = None, progress: Progress = no_progress
) -> EdgeSource:
    """The arcs of a file; ``weight_dtype`` chooses the type of the weights."""
    text = TextFile(path, progress=progress)
    note = read_front(text, (b"c",)).note
    num_vertices, num_arcs = _problem(text)
    shape = RowShape(
        3, comments=b"c", lead=b"a", base=1, low=1, high=num_vertices, whole_weights=True,
        weight_dtype=weight_dtype_option(weight_dtype), expects="'a', two ids and a weight",
    )  # fmt: skip
    blocks = edge_blocks(text, shape, threads, num_arcs, text.lines_read)
    source = EdgeSource(blocks, num_vertices=num_vertices, num_edges=num_arcs)
    if note is not None:
        source.directed, source.both_directions = note.directed, not note.directed
        source.labels = note.labels if len(note.labels or ()) == num_vertices else None
        source.blocks = named_blocks(blocks if note.weight_dtype is not None else _unweighted(blocks), source.labels)
    return source


def _unweighted(blocks: Iterator[EdgeBlock]) -> Iterator[EdgeBlock]:
    for block in blocks:
        yield EdgeBlock(block.src, block.dst, None)


def _problem(text: TextFile) -> tuple[int, int]:
    line = text.next_line() or b""
    words = line.split()
    if len(words) != 4 or words[:2] != [b"p", b"sp"] or not all(w.isdigit() and len(w) < 19 for w in words[2:]):
        raise FormatError(
            f"expected 'p sp VERTICES ARCS' before the arcs, not {shown(line)!r}", path=text.path, line=text.lines_read
        )
    return int(words[2]), int(words[3])


def _write(graph: Graph, path: Path, *, threads: int | None = None, progress: Progress = no_progress) -> None:
    """Write every arc with its weight, or with 1 where the graph has none."""
    if graph.weights is not None and graph.weights.dtype != np.int32:
        raise UnsupportedFormatError(
            f"DIMACS .gr files hold whole weights, and the graph has {graph.weights.dtype} ones; scale them to "
            "integers, or write another format, such as .mtx or .txt",
            path=path,
        )
    with atomic_output(path) as out:
        for piece in describe(graph, b"c", rows_hold_labels=False):
            out.write(piece)
        out.write(b"p sp %d %d\n" % (graph.num_vertices, graph.num_arcs))
        weighted = graph
        if graph.weights is None:
            weighted = graph.with_weights(np.ones(graph.num_arcs, dtype=np.int32))
        write_arcs(out, weighted, LineStyle(lead=b"a", base=1), threads=threads, progress=progress)


FORMATS = (Format("dimacs", "DIMACS shortest paths", (".gr",), stream=_stream, write=_write),)
