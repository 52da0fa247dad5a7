"""Matrix Market: the nonzero entries of a matrix, ``A[i, j]`` for the edge from i to j, counted from 1.

Coordinate matrices of patterns, integers and reals are graphs: ``general`` ones directed, ``symmetric`` ones
undirected, with each edge once. Labels and the exact type of weights are kept in a comment
(:mod:`dromos.graph.formats.text_notes`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.errors import FormatError, UnsupportedFormatError
from dromos.graph.formats.base import EdgeSource, Format, Progress, no_progress
from dromos.graph.formats.files import atomic_output
from dromos.graph.formats.text_file import TextFile
from dromos.graph.formats.text_notes import describe, named_blocks, read_front
from dromos.graph.formats.text_rows import RowShape, edge_blocks, shown, weight_dtype_option
from dromos.graph.formats.text_writer import LineStyle, write_arcs

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]

_BANNER = b"%%matrixmarket"
_FIELDS = ("pattern", "integer", "real", "double")
_SYMMETRIES = ("general", "symmetric")


def _stream(
    path: Path, *, weight_dtype: Any = None, threads: int | None = None, progress: Progress = no_progress
) -> EdgeSource:
    """The entries of a matrix; ``weight_dtype`` chooses the type of the weights."""
    text = TextFile(path, progress=progress)
    field, symmetry = _banner(text)
    note = read_front(text, (b"%",)).note
    num_vertices, num_edges = _size(text)
    line = text.lines_read
    labels = note.labels if note is not None and len(note.labels or ()) == num_vertices else None
    dtype = weight_dtype_option(weight_dtype) or (note.weight_dtype if note is not None else None)
    if field in ("real", "double") and dtype is None:
        dtype = np.dtype(np.float64)
    shape = RowShape(
        2 if field == "pattern" else 3, comments=b"%", base=1, low=1, high=num_vertices,
        whole_weights=field == "integer", weight_dtype=dtype,
        expects="a row, a column" + ("" if field == "pattern" else " and a value"),
    )  # fmt: skip
    return EdgeSource(
        named_blocks(edge_blocks(text, shape, threads, num_edges, line), labels),
        directed=symmetry == "general",
        num_vertices=num_vertices,
        num_edges=num_edges,
        labels=labels,
    )


def _banner(text: TextFile) -> tuple[str, str]:
    """The field and the symmetry that the first line tells."""
    line = text.next_line() or b""
    words = line.decode("utf-8", "replace").lower().split()
    if not line.lower().startswith(_BANNER) or len(words) != 5:
        raise FormatError(
            "the first line must be '%%MatrixMarket matrix coordinate FIELD SYMMETRY', not " + repr(shown(line)),
            path=text.path,
            line=1,
        )
    _, kind, layout, field, symmetry = words
    if kind != "matrix" or layout != "coordinate":
        raise UnsupportedFormatError(
            f"a Matrix Market file of kind '{kind} {layout}' is not a list of edges; only 'matrix coordinate' is read",
            path=text.path,
        )
    if field not in _FIELDS or symmetry not in _SYMMETRIES:
        raise UnsupportedFormatError(
            f"Matrix Market entries '{field} {symmetry}' are not read; fields may be {', '.join(_FIELDS)}, and "
            f"symmetries {' or '.join(_SYMMETRIES)}",
            path=text.path,
        )
    return field, symmetry


def _size(text: TextFile) -> tuple[int, int]:
    line = text.next_line() or b""
    words = line.split()
    if len(words) != 3 or not all(word.isdigit() and len(word) < 19 for word in words):
        raise FormatError(
            f"expected the numbers of rows, columns and entries, not {shown(line)!r}",
            path=text.path,
            line=max(text.lines_read, 2),
        )
    rows, columns, entries = (int(word) for word in words)
    if rows != columns:
        raise FormatError(
            f"the matrix has {rows:,} rows and {columns:,} columns; a graph needs a square one",
            path=text.path,
            line=text.lines_read,
        )
    return rows, entries


def _write(graph: Graph, path: Path, *, threads: int | None = None, progress: Progress = no_progress) -> None:
    """Write the entries of the adjacency matrix; of an undirected graph the lower triangle."""
    field = "pattern" if graph.weights is None else ("integer" if graph.weights.dtype.kind == "i" else "real")
    symmetry = "general" if graph.directed else "symmetric"
    with atomic_output(path) as out:
        out.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n".encode())
        for piece in describe(graph, b"%", rows_hold_labels=False):
            out.write(piece)
        out.write(b"%d %d %d\n" % (graph.num_vertices, graph.num_vertices, graph.num_edges))
        style = LineStyle(base=1, once=not graph.directed, swapped=not graph.directed)
        write_arcs(out, graph, style, threads=threads, progress=progress)


FORMATS = (Format("mtx", "Matrix Market", (".mtx", ".mm"), stream=_stream, write=_write),)
