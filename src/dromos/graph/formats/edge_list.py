"""Lists of edges as text: what SNAP and most others publish, and GAP's ``.el`` and ``.wel``.

A line is an edge: two ids and perhaps a weight, apart by blanks, a comma or a semicolon; ``#``, ``%`` and ``//`` begin
comments. Ids are whole numbers, or names. The first line may be the counts of vertices and edges, which only the rest
of the file can tell from an edge (:mod:`dromos.graph.formats.edge_header`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.errors import DromosWarning, FormatError, InvalidArgumentError, UnsupportedFormatError
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Format, Progress, no_progress
from dromos.graph.formats.edge_header import CountsLine, SnapHeader
from dromos.graph.formats.files import atomic_output, strip_compression
from dromos.graph.formats.loss import refuse_loss
from dromos.graph.formats.text_file import TextFile
from dromos.graph.formats.text_names import find_separator, parse_names, split_fields, write_names
from dromos.graph.formats.text_notes import Front, GraphNote, describe, read_front
from dromos.graph.formats.text_rows import (
    EXTRA_HINT,
    RowError,
    RowShape,
    check_count,
    edge_blocks,
    parse_rows,
    shown,
    weight_dtype_option,
)
from dromos.graph.formats.text_writer import LineStyle, write_arcs

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]

_MARKS = (b"#", b"%", b"//")
_INTEGER = re.compile(rb"[+-]?[0-9]+\Z")
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_OPTIONS = {
    "header": ("auto", "counts", "names", "none"),
    "ids": ("auto", "dense", "names"),
    "extra_columns": ("error", "ignore"),
}


def stream_edges(
    path: Path,
    *,
    header: str = "auto",
    ids: str = "auto",
    extra_columns: str = "error",
    weight_dtype: Any = None,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> EdgeSource:
    """The edges of a text file.

    Args:
        header: ``"counts"`` says that the first line holds the numbers of vertices and edges, ``"names"`` that it holds
            the names of columns, ``"none"`` that it is an edge; ``"auto"`` finds out.
        ids: ``"dense"`` takes the ids as 0..n-1, ``"names"`` as texts; ``"auto"`` makes labels of integers that leave
            some of 0..largest out, and of texts.
        extra_columns: ``"ignore"`` passes over columns behind the weight instead of refusing them.
        weight_dtype: ``"float32"``, ``"float64"`` or ``"int32"``; unless given, ``int32`` where all weights are whole
            numbers that fit, and else ``float64``.
    """
    for name, value in (("header", header), ("ids", ids), ("extra_columns", extra_columns)):
        if value not in _OPTIONS[name]:
            raise InvalidArgumentError(f"{name}={value!r} is not one of {', '.join(_OPTIONS[name])}")
    reader = _EdgeReader(
        path, header, ids, extra_columns == "ignore", weight_dtype_option(weight_dtype), threads, progress
    )
    return reader.open()


class _EdgeReader:
    def __init__(
        self, path: Path, header: str, ids: str, ignore_extra: bool, weight_dtype: np.dtype[Any] | None,
        threads: int | None, progress: Progress,
    ) -> None:  # fmt: skip
        self.path, self.header, self.ids, self.ignore_extra = path, header, ids, ignore_extra
        self.weight_dtype, self.threads, self.progress = weight_dtype, threads, progress
        self.counts: CountsLine | None = None
        self.snap: SnapHeader | None = None

    def open(self) -> EdgeSource:
        text = TextFile(self.path, progress=self.progress)
        try:
            return self._open(text)
        except BaseException:
            text.close()
            raise

    def _open(self, text: TextFile) -> EdgeSource:
        front = read_front(text, _MARKS)
        source = EdgeSource(iter(()), sparse_ids=self.ids == "auto")
        if front.note is not None:
            _apply(front.note, source, rows_hold_names=self._are_texts(front.note))
        else:
            self.snap = SnapHeader.find(front.comments, text.lines_read)
            source.directed = not (self.snap is not None and self.snap.undirected)
            source.listing_unsure = not source.directed
            self._take_first_line(text)
        line = next(iter(_data_lines(text, 1)), None)
        if self._are_names(line, front):
            shape, separator = self._names_shape(line, front)
            blocks = parse_names(text, shape, separator, _MARKS)
        else:
            blocks = self._integers(text, self._integer_shape(line, front), source)
        source.blocks = blocks if front.note is None else _kept(blocks, front.note, self.path)
        return source

    def _take_first_line(self, text: TextFile) -> None:
        """Take away a first line that is no edge, or may be none."""
        lines = _data_lines(text, 2)
        if not lines or self.header == "none":
            return
        first = _fields(lines[0])
        if self.header == "names" or (self.header == "auto" and self.ids == "auto" and _is_title(lines)):
            if self.header == "auto":
                warnings.warn(
                    f"{self.path}: line {text.lines_read + 1} ({shown(lines[0])!r}) is taken for the names of columns; "
                    "pass header='names' to say so, or header='none' if it is an edge",
                    DromosWarning,
                    stacklevel=5,
                )
            text.next_line()
            return
        counts = len(first) == 2 and all(field.isdigit() and len(field) < 19 for field in first)
        if self.header == "counts" and not counts:
            raise FormatError(
                f"the first line is not the counts of vertices and edges: {shown(lines[0])!r}",
                path=self.path,
                line=text.lines_read + 1,
            )
        if self.header == "auto" and len(lines) == 2 and _holds_names(lines[1]):
            return
        if counts and self.ids != "names" and self.snap is None:
            narrower = len(lines) == 2 and len(_fields(lines[1])) == 3 and all(_fields(lines[1]))
            why = "" if self.header == "counts" else ", which lacks the column of weights that the next has,"
            certain = self.header == "counts" or narrower
            self.counts = CountsLine(int(first[0]), int(first[1]), text.lines_read + 1, self.path, certain, why)
            text.next_line()

    def _are_names(self, line: bytes | None, front: Front) -> bool:
        if self.ids != "auto" or front.note is not None:
            return self.ids == "names" or (front.note is not None and front.note.labels_kind == "str")
        return self.counts is None and line is not None and _holds_names(line)

    def _are_texts(self, note: GraphNote) -> bool:
        """Whether the numbers that the note tells of are to be read as names."""
        return self.ids == "names" and note.labels_kind != "str"

    def _names_shape(self, line: bytes | None, front: Front) -> tuple[RowShape, bytes | None]:
        written_as_names = front.note is not None and not self._are_texts(front.note)
        separator = b"\t" if written_as_names else find_separator(line or b"")
        fields = split_fields(line, separator) if line is not None else []
        return self._shape(fields, front), separator

    def _integer_shape(self, line: bytes | None, front: Front) -> RowShape:
        shape = self._shape(_fields(line) if line is not None else [], front)
        if front.note is not None and front.note.labels is None and front.note.labels_kind == "none":
            return replace(shape, low=0, high=front.note.num_vertices - 1)
        return replace(shape, low=0) if self.ids == "dense" else shape

    def _shape(self, fields: list[bytes], front: Front) -> RowShape:
        columns = 3 if len(fields) >= 3 else 2
        if columns == 3 and self.ignore_extra and not _NUMBER.match(fields[2]):
            columns = 2  # a third column that is no weight is one more to pass over
        dtype = self.weight_dtype
        if front.note is not None:
            columns = 2 if front.note.weight_dtype is None else 3
            dtype = dtype or front.note.weight_dtype
        hint = "" if self.ids == "dense" or front.note is not None else " (pass ids='names' if they are names)"
        return RowShape(
            columns, ignore_extra=self.ignore_extra, weight_dtype=dtype, id_hint=hint, extra_hint=EXTRA_HINT
        )

    def _integers(self, text: TextFile, shape: RowShape, source: EdgeSource) -> Iterator[EdgeBlock]:
        """Blocks of integer ids; a file in whose first block some ids are names is read as names from the start."""
        edges, lowest, highest = 0, 0, -1
        counts = self.counts
        try:
            for rows in parse_rows(text, shape, self.threads):
                lowest, highest = min(lowest, rows.lowest) if edges else rows.lowest, max(highest, rows.highest)
                if counts is not None and not counts.certain and edges + len(rows.src) > counts.num_edges:
                    yield counts.as_edge()
                    counts = None
                edges += len(rows.src)
                yield EdgeBlock(rows.src, rows.dst, rows.weight)
        except RowError as error:
            if edges or not self._names_begin(error):
                raise
            warnings.warn(
                f"{self.path}: line {error.line} ({error.text!r}) holds a name where other lines hold numbers, so all "
                "ids are read as names; pass ids='names' to say so, or ids='dense' to refuse such lines",
                DromosWarning,
                stacklevel=2,
            )
            reader = _EdgeReader(self.path, "none", "names", self.ignore_extra, self.weight_dtype, 1, self.progress)
            source.sparse_ids = False
            yield from reader.open().blocks
            return
        if counts is not None:
            yield from counts.decide(source, edges, lowest, highest)
        elif self.snap is not None:
            self.snap.apply(source, edges, lowest, highest, self.path)

    def _names_begin(self, error: RowError) -> bool:
        """Whether a line that is no row of numbers may be one of names."""
        from dromos.graph.formats import text_kernels as kernels

        if self.ids != "auto" or error.status != kernels.BAD_ID or (self.counts is not None and self.counts.certain):
            return False
        return _holds_names(error.text.encode())


def _apply(note: GraphNote, source: EdgeSource, *, rows_hold_names: bool) -> None:
    """Pass on what the note tells; of vertices nothing if the rows are read as names, for it tells of numbers."""
    source.directed, source.num_edges = note.directed, note.num_edges
    if rows_hold_names:
        source.sparse_ids = False
        return
    source.labels = note.labels
    source.sparse_ids = note.labels_kind == "rows"
    if note.labels_kind == "none":
        source.num_vertices = note.num_vertices


def _kept(blocks: Iterator[EdgeBlock], note: GraphNote, path: Path) -> Iterator[EdgeBlock]:
    """The blocks, held against what the note promises; weights keep their type where there is no edge."""
    held = 0
    for block in blocks:
        held += len(block.src)
        yield block
    check_count(held, note.num_edges, path)
    if held == 0 and note.weight_dtype is not None:
        ids = np.empty(0, np.int32)
        yield EdgeBlock(ids, ids, np.empty(0, note.weight_dtype))


def _fields(line: bytes) -> list[bytes]:
    return re.split(rb"[\s,;]+", re.split(rb"\s(?:#|%|//)", line.strip())[0])


def _data_lines(text: TextFile, count: int) -> list[bytes]:
    lines = (line.strip() for line in text.peek_lines(1000))
    return [line for line in lines if line and not line.startswith(_MARKS)][:count]


def _holds_names(line: bytes) -> bool:
    """Whether the ids on a line are no numbers of any kind, or one of them is none."""
    others = [field for field in _fields(line)[:2] if not _INTEGER.match(field)]
    return any(others) and not any(_NUMBER.match(field) for field in others)


def _is_title(lines: list[bytes]) -> bool:
    """Whether the first of two lines holds no numbers and the second two: then the first names the columns."""
    if len(lines) < 2:
        return False
    first, second = _fields(lines[0]), _fields(lines[1])
    return not any(_NUMBER.match(f) for f in first) and len(second) >= 2 and all(_INTEGER.match(f) for f in second[:2])


def write_edges(graph: Graph, path: Path, *, threads: int | None = None, progress: Progress = no_progress) -> None:
    """Write one line per edge, an undirected one once, below a comment that keeps what the lines do not say."""
    named = graph.labels is not None and graph.labels.kind == "str"
    tabs = strip_compression(path)[0].suffix.lower() == ".tsv"
    with atomic_output(path) as out:
        for piece in describe(graph, b"#", rows_hold_labels=True):
            out.write(piece)
        if named:
            write_names(out, graph, progress)
        else:
            style = LineStyle(b"\t" if tabs else b" ", labels=True, once=not graph.directed)
            write_arcs(out, graph, style, threads=threads, progress=progress)


def _stream_gap(
    path: Path, *, columns: int, weight_dtype: Any = None, threads: int | None = None, progress: Progress = no_progress
) -> EdgeSource:
    """GAP's ``.el`` has two ids per line; its ``.wel`` a weight too, whose type ``weight_dtype`` chooses."""
    shape = RowShape(columns, comments=b"", low=0, weight_dtype=weight_dtype_option(weight_dtype))
    return EdgeSource(edge_blocks(TextFile(path, progress=progress), shape, threads))


def _write_gap(
    graph: Graph, path: Path, *, weighted: bool, allow_loss: bool = False, threads: int | None = None,
    progress: Progress = no_progress,
) -> None:  # fmt: skip
    """Write each arc, an undirected edge in both directions: GAP's reader takes no comment and no count."""
    title = "GAP .wel" if weighted else "GAP .el"
    if weighted and graph.weights is None:
        raise UnsupportedFormatError("GAP .wel files hold weights, and the graph has none; write .el", path=path)
    if graph.num_arcs == 0:
        raise UnsupportedFormatError(
            f"{title} files imply the number of vertices by the largest id, and this graph has no edge; "
            "write another format, such as .txt or .sg",
            path=path,
        )
    losses = ["the labels of the vertices"] if graph.labels is not None else []
    last = max(int(np.flatnonzero(graph.out_degree)[-1]), int(graph.targets.max()))
    if last < graph.num_vertices - 1:
        losses.append(f"vertices beyond the largest id that has an edge, {last} (.txt and .sg do)")
    if not graph.directed:
        losses.append(
            "that the graph is undirected (both directions are written; read it with directed=False, symmetrize=False)"
        )
    if not weighted and graph.weights is not None:
        losses.append("weights (.wel does)")
        graph = graph.with_weights(None) if allow_loss else graph
    refuse_loss(title, losses, allow_loss, path)
    with atomic_output(path) as out:
        write_arcs(out, graph, LineStyle(), threads=threads, progress=progress)


FORMATS = (
    Format("edges", "list of edges", (".txt", ".tsv", ".edges", ".edgelist", ".elist", ".ncol"),
           stream=stream_edges, write=write_edges),
    Format("gap-el", "GAP edge list", (".el",),
           stream=partial(_stream_gap, columns=2), write=partial(_write_gap, weighted=False)),
    Format("gap-wel", "GAP weighted edge list", (".wel",),
           stream=partial(_stream_gap, columns=3), write=partial(_write_gap, weighted=True)),
)  # fmt: skip
