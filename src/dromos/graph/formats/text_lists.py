"""Lines that hold a list of numbers: adjacency rows (METIS) and columns of ids (LDBC), in parallel, by blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.graph.formats.text_file import TextBlock, TextFile
from dromos.graph.formats.text_pipeline import in_order
from dromos.graph.formats.text_rows import Parsed, Trouble, parse_blocks, shown
from dromos.graph.slices import row_ranges
from dromos.parallel import num_threads

__all__ = ["AdjacencyShape", "Rows", "parse_adjacency", "parse_column", "write_adjacency", "write_column"]

_ITEMS_A_BLOCK = 1 << 16
_NONE = np.empty(0, dtype=np.int64)


class AdjacencyShape(NamedTuple):
    """How adjacency rows look: numbers before the neighbors, whether these have weights, the largest id (from 1)."""

    skip: int
    weighted: bool
    num_vertices: int


class Rows(NamedTuple):
    """Some adjacency rows: their lengths, their targets (from 0) and the weights, if any."""

    degrees: Array
    targets: Array
    weights: Array | None


def parse_adjacency(text: TextFile, shape: AdjacencyShape, threads: int | None = None) -> Iterator[Rows]:
    """The adjacency rows that follow in ``text``, block by block; every line but a comment (``%``) is one."""
    text_kernels, text_list_kernels = _kernels()

    dtype = np.int32 if shape.num_vertices < 2**31 else np.int64
    comments = text_kernels.packed_comments(b"%")

    def parse(block: TextBlock, lines: int, report: Array) -> Rows:
        room = (block.end - block.begin) // 2 + 1
        degrees, targets = np.empty(lines, np.int64), np.empty(room, dtype)
        weights = np.empty(room if shape.weighted else 0, np.int64)
        text_list_kernels.parse_adjacency(
            block.array, block.begin, block.end, comments, shape.skip, shape.weighted, shape.num_vertices,
            degrees, targets, weights, report,
        )  # fmt: skip
        rows, values = int(report[text_list_kernels.ROWS]), int(report[text_list_kernels.VALUES])
        return Rows(degrees[:rows].copy(), targets[:values].copy(), weights[:values].copy() if shape.weighted else None)

    missing = "a weight is missing" if shape.weighted else "the sizes or weights of the vertex are missing"
    return _parsed(text, parse, f"1..{shape.num_vertices}", missing, threads)


def parse_column(text: TextFile, threads: int | None = None) -> Iterator[Array]:
    """The whole numbers at the front of the lines that follow in ``text``, block by block."""
    text_kernels, text_list_kernels = _kernels()

    comments = text_kernels.packed_comments(b"#")

    def parse(block: TextBlock, lines: int, report: Array) -> Rows:
        ids = np.empty(lines, np.int64)
        text_list_kernels.parse_column(block.array, block.begin, block.end, comments, ids, report)
        return Rows(_NONE, ids[: int(report[text_list_kernels.ROWS])], None)

    for rows in _parsed(text, parse, "", "", threads):
        yield rows.targets


def _parsed(
    text: TextFile, parse: Callable[[TextBlock, int, Array], Rows], id_range: str, missing: str, threads: int | None
) -> Iterator[Rows]:
    kernels, list_kernels = _kernels()

    def work(block: TextBlock) -> Parsed:
        lines = int(kernels.count_lines(block.array, block.begin, block.end))
        report = np.zeros(list_kernels.REPORT_SIZE, np.int64)
        rows = parse(block, lines, report)
        trouble = None
        status, place = int(report[list_kernels.STATUS]), int(report[list_kernels.PLACE])
        if status != kernels.FINE:
            token = shown(bytes(block.data[place : place + 100]).split()[0]) if status != kernels.TOO_FEW else ""
            message = {
                kernels.BAD_ID: f"{token!r} is not a whole number",
                kernels.ID_OVERFLOW: f"{token} overflows 64 bits",
                kernels.ID_RANGE: f"the id {token} is outside {id_range}",
                kernels.TOO_FEW: missing,
            }[status]
            trouble = Trouble(status, int(kernels.count_lines(block.array, block.begin, place)), message)
        text.give_back(block)
        return Parsed(rows, lines, trouble)

    return parse_blocks(text, work, threads)


def write_adjacency(out: IO[bytes], offsets: Array, targets: Array, weights: Array | None) -> None:
    """Write a line of neighbors, counted from 1, for each vertex, with whole weights behind them if there are any."""
    kernels = _kernels()[1]

    values = np.empty(0, np.int32) if weights is None else weights

    def work(vertices: tuple[int, int]) -> Any:
        first, last = vertices
        arcs = int(offsets[last] - offsets[first])
        buffer = np.empty(arcs * (42 if weights is not None else 21) + last - first, np.uint8)
        size = kernels.format_adjacency(offsets, targets, values, weights is not None, first, last, buffer)
        return buffer[:size].data

    ranges = row_ranges(offsets, _ITEMS_A_BLOCK, _ITEMS_A_BLOCK)
    for piece in in_order(lambda: next(ranges, None), work, 1 if len(targets) < _ITEMS_A_BLOCK else num_threads()):
        out.write(piece)


def write_column(out: IO[bytes], ids: Array) -> None:
    """Write whole numbers, one a line."""
    kernels = _kernels()[1]

    buffer = np.empty(21 * min(_ITEMS_A_BLOCK, len(ids)), np.uint8)
    for first in range(0, len(ids), _ITEMS_A_BLOCK):
        size = kernels.format_column(ids, first, min(first + _ITEMS_A_BLOCK, len(ids)), buffer)
        out.write(buffer[:size].data)


def _kernels() -> tuple[Any, Any]:
    from dromos.graph.formats import text_kernels, text_list_kernels

    return text_kernels, text_list_kernels
