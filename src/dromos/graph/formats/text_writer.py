"""The arcs of a graph as lines of text, formatted by several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.text_pipeline import in_order
from dromos.graph.label_arrays import MANY, pyarrow_or_none
from dromos.parallel import num_threads

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["LineStyle", "write_arcs"]

_ARCS_A_BLOCK = 1 << 16
_SMALL = 1 << 15
_ID_CHARACTERS, _WEIGHT_CHARACTERS = 20, 26
_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class LineStyle:
    """How an arc is written."""

    separator: bytes = b" "
    lead: bytes = b""
    base: int = 0
    """What is added to the ids, where they are not labels."""
    labels: bool = False
    """Whether the integer labels are written instead of the ids."""
    once: bool = False
    """Whether an undirected edge is written once, from its smaller to its larger id."""
    swapped: bool = False
    """Whether the target stands before the source."""


def write_arcs(
    out: IO[bytes],
    graph: Graph,
    style: LineStyle,
    *,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> None:
    """Write a line for each arc of ``graph``, with its weight where there are weights."""
    formatter = _Formatter(graph, style)
    team = 1 if graph.num_arcs < _SMALL else num_threads(threads)
    ranges = formatter.ranges()
    done = 0
    for buffer, size, arcs in in_order(lambda: next(ranges, None), formatter.format, team):
        out.write(buffer[:size].data)
        formatter.give_back(buffer)
        done += arcs
        progress(done, graph.num_arcs)


class _Formatter:
    """Formats ranges of arcs; used by several threads at once."""

    def __init__(self, graph: Graph, style: LineStyle) -> None:
        from dromos.graph.formats import text_format_kernels

        self._kernels: Any = text_format_kernels
        self._graph, self._style = graph, style
        labels = graph.labels.integers if style.labels and graph.labels is not None else None
        self._names = _NONE if labels is None else np.ascontiguousarray(labels)
        self._weights = _NONE.astype(np.float32) if graph.weights is None else graph.weights
        if graph.weights is None:
            self._kind = self._kernels.NO_WEIGHT
        elif graph.weights.dtype.kind == "i":
            self._kind = self._kernels.INTEGER_WEIGHT
        else:
            self._kind = self._kernels.DECIMAL_WEIGHT
        self._spare: list[Array] = []
        self._lock = threading.Lock()

    def ranges(self) -> Iterator[tuple[int, int]]:
        for first in range(0, self._graph.num_arcs, _ARCS_A_BLOCK):
            yield first, min(first + _ARCS_A_BLOCK, self._graph.num_arcs)

    def format(self, arcs: tuple[int, int]) -> tuple[Array, int, int]:
        first, last = arcs
        graph, style, kernels = self._graph, self._style, self._kernels
        mantissas, places, others, ends = _NONE, _NONE.astype(np.int8), _NONE.astype(np.uint8), _NONE
        if self._kind == kernels.DECIMAL_WEIGHT:
            values = self._weights[first:last]
            mantissas, places = np.empty(last - first, np.int64), np.empty(last - first, np.int8)
            kernels.shorten(values, mantissas, places)
            others, ends = _texts(values[places == kernels.NOT_SHORT])
        vertex = int(np.searchsorted(graph.offsets, first, side="right")) - 1
        buffer = self._buffer(len(others))
        size = kernels.format_arcs(
            graph.offsets, graph.targets, first, last, vertex, style.once, style.swapped, self._names, style.base,
            ord(style.lead or b"\0"), ord(style.separator), self._kind, self._weights, mantissas, places, others, ends,
            buffer,
        )  # fmt: skip
        return buffer, int(size), last - first

    def give_back(self, buffer: Array) -> None:
        with self._lock:
            self._spare.append(buffer)

    def _buffer(self, extra: int) -> Array:
        line = 2 * _ID_CHARACTERS + _WEIGHT_CHARACTERS + 6
        with self._lock:
            if self._spare and extra == 0:
                return self._spare.pop()
        return np.empty(_ARCS_A_BLOCK * line + extra, dtype=np.uint8)


def _texts(values: Array) -> tuple[Array, Array]:
    """The shortest texts of numbers, one after the other, and where each ends (with a 0 before)."""
    magnitude = np.abs(values)
    pa = pyarrow_or_none() if len(values) >= MANY and bool(np.all((magnitude > 0) & (magnitude < 1e15))) else None
    if pa is not None:  # it writes larger numbers without a sign that they are decimals
        texts = pa.array(values).cast(pa.string())
        _, ends, characters = texts.buffers()
        return np.frombuffer(characters, np.uint8), np.frombuffer(ends, np.int32)[: len(values) + 1].astype(np.int64)
    if values.dtype == np.float32:
        written = [str(value) for value in values]
    else:
        written = [repr(value) for value in values.tolist()]
    places = np.zeros(len(written) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in written], out=places[1:])
    return np.frombuffer("".join(written).encode("ascii"), dtype=np.uint8), places
