"""Edge files of the Graph 500 reference code.

An edge is 12 bytes (``packed``: the low 32 bits of both ends, then 16 high bits of each) or 16 bytes (``int64``: both
ends), little-endian, without any header. Weights, if any, are ``float32`` in a file of the same name and ``.weights``.
Graph 500 edges are undirected and listed once; ids are dense and the number of vertices is the largest id + 1 unless
``num_vertices`` or ``scale`` tells it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from dromos.dtypes import Array, id_dtype
from dromos.errors import CorruptFileError, FileError, FormatError, InvalidArgumentError, UnsupportedFormatError
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Format, Progress, no_progress
from dromos.graph.formats.files import atomic_output, file_errors, open_input, strip_compression
from dromos.graph.formats.loss import refuse_loss

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]

Layout = Literal["packed", "int64"]
_PACKED = np.dtype([("v0_low", "<u4"), ("v1_low", "<u4"), ("v0_high", "<i2"), ("v1_high", "<i2")])
_INT64 = np.dtype([("v0", "<i8"), ("v1", "<i8")])
_EDGE_BYTES: dict[str, int] = {"packed": _PACKED.itemsize, "int64": _INT64.itemsize}
_BLOCK = 1 << 20  # edges read or written at once
_MAX_PACKED_ID = 2**47 - 1
_MAX_SCALE = 47


def _stream(
    path: Path,
    *,
    layout: Layout | None = None,
    num_vertices: int | None = None,
    scale: int | None = None,
    weights: str | Path | None = None,
    progress: Progress = no_progress,
    threads: int | None = None,
) -> EdgeSource:
    """The edges of a Graph 500 file.

    Args:
        layout: ``"packed"`` or ``"int64"``; found from the size and the ids unless given.
        num_vertices, scale: how many vertices there are, or the logarithm of that.
        weights: the file of weights; the one beside, if there is one, unless given.
    """
    if layout is not None and layout not in _EDGE_BYTES:
        raise InvalidArgumentError(f"layout={layout!r} is not one of {', '.join(_EDGE_BYTES)}")
    if scale is not None:
        if num_vertices is not None:
            raise InvalidArgumentError("give num_vertices or scale, not both")
        if not (isinstance(scale, int) and 0 <= scale <= _MAX_SCALE):
            raise InvalidArgumentError(f"scale={scale!r} is not a whole number in 0..{_MAX_SCALE}")
        num_vertices = 1 << scale
    chosen = layout if layout is not None else _detect(path)
    compressed = strip_compression(path)[1] is not None
    size = 0 if compressed else path.stat().st_size
    if size % _EDGE_BYTES[chosen]:
        raise CorruptFileError(
            f"{size:,} bytes are not a whole number of edges of {_EDGE_BYTES[chosen]} bytes", path=path
        )
    beside = Path(weights) if weights is not None else _weights_path(path)
    weighted = weights is not None or beside.exists()
    bound = num_vertices if num_vertices is not None else _id_bound(size, chosen)
    return EdgeSource(
        _blocks(path, chosen, beside if weighted else None, size, bound, progress),
        directed=False,
        num_vertices=num_vertices,
        num_edges=None if compressed else size // _EDGE_BYTES[chosen],
    )


def _blocks(
    path: Path, layout: Layout, beside: Path | None, size: int, bound: int, progress: Progress
) -> Iterator[EdgeBlock]:
    done = 0
    with open_input(path) as edges:
        weights = None if beside is None else open_input(beside)
        try:
            room = _BLOCK * _EDGE_BYTES[layout]
            while data := _read_up_to(edges, min(room, size - done) if size else room):
                if len(data) % _EDGE_BYTES[layout]:
                    raise CorruptFileError("the file ends in the middle of an edge", path=path)
                src, dst = _decoded(data, layout)
                for ends in (src, dst):
                    wrong = (ends < 0) | (ends >= bound)
                    if wrong.any():
                        at = int(np.argmax(wrong))
                        edge = done // _EDGE_BYTES[layout] + at
                        raise FormatError(f"edge {edge:,} has the id {ends[at]}: {_why(ends[at])}", path=path)
                weight = None
                if weights is not None:
                    weight = np.frombuffer(_read_up_to(weights, 4 * len(src)), dtype="<f4")
                    if len(weight) < len(src):
                        raise CorruptFileError("there are fewer weights than edges", path=beside)
                done += len(data)
                progress(done, size)
                yield EdgeBlock(src, dst, weight)
            if weights is not None and weights.read(1):
                raise CorruptFileError("there are more weights than edges", path=beside)
        finally:
            if weights is not None:
                weights.close()


def _id_bound(size: int, layout: Layout) -> int:
    """Ids from here on are taken for damage: no vertex array is allocated that the file's size does not back."""
    return 64 * (size // _EDGE_BYTES[layout]) + 2**16 if size else 2**32


def _why(vertex: int) -> str:
    if vertex < 0:
        return "ids are not negative"
    return "too large for the number of vertices, or (unless num_vertices= or scale= tell that) for that of edges"


def _decoded(data: bytes, layout: Layout) -> tuple[Array, Array]:
    """Both ends of each edge, as int32 where they fit."""
    ends: list[Array]
    if layout == "int64":
        pairs = np.frombuffer(data, dtype=_INT64)
        ends = [pairs["v0"], pairs["v1"]]
    else:
        packed = np.frombuffer(data, dtype=_PACKED)
        ends = [packed[low].astype(np.int64) for low in ("v0_low", "v1_low")]
        for end, high in zip(ends, ("v0_high", "v1_high"), strict=True):
            end |= packed[high].astype(np.int64) << 32  # the high part carries the sign
    negative = min(int(end.min()) for end in ends) < 0
    narrow = np.dtype(np.int64) if negative else id_dtype(max(int(end.max()) for end in ends) + 1)
    return ends[0].astype(narrow), ends[1].astype(narrow)


def _detect(path: Path) -> Layout:
    """The one layout that fits the file's size, or, where both do, the only one that gives believable ids."""
    compressed = strip_compression(path)[1] is not None
    with open_input(path) as edges:
        size = 0 if compressed else path.stat().st_size
        sample = _read_up_to(edges, 48 * 4096)
    fitting: list[Layout] = [layout for layout in ("packed", "int64") if size % _EDGE_BYTES[layout] == 0]
    if not fitting:
        raise CorruptFileError(
            f"{size:,} bytes are not a whole number of edges, neither of 12 bytes (packed) nor of 16 (int64)", path=path
        )
    if len(fitting) == 1:
        return fitting[0]
    believable = [layout for layout in fitting if _believable(sample, layout, size)]
    if len(believable) == 1:
        return believable[0]
    raise FormatError(
        "the file could hold edges of 12 bytes or of 16; pass layout='packed' or layout='int64'"
        if believable
        else "the ids are negative or far too large for this many edges; to insist pass layout='packed' or 'int64'",
        path=path,
    )


def _believable(sample: bytes, layout: Layout, size: int) -> bool:
    """Whether the ids are small enough for the number of edges: a wrong layout shifts ids by 32 bits and more."""
    whole = len(sample) // _EDGE_BYTES[layout]
    if whole == 0:
        return False
    ends = _decoded(sample[: whole * _EDGE_BYTES[layout]], layout)
    return all(int(end.min()) >= 0 and int(end.max()) < _id_bound(size, layout) for end in ends)


def _read_up_to(stream: IO[bytes], length: int) -> bytes:
    """``length`` bytes, or what is left."""
    parts = []
    while length:
        more = stream.read(length)
        if not more:
            break
        parts.append(more)
        length -= len(more)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write(
    graph: Graph,
    path: Path,
    *,
    layout: Layout = "packed",
    allow_loss: bool = False,
    progress: Progress = no_progress,
) -> None:
    if layout not in _EDGE_BYTES:
        raise InvalidArgumentError(f"layout={layout!r} is not one of {', '.join(_EDGE_BYTES)}")
    if layout == "packed" and graph.num_vertices > _MAX_PACKED_ID + 1:
        raise UnsupportedFormatError("packed edges hold ids below 2^47; pass layout='int64'", path=path)
    edges = graph.edges()
    _refuse_losses(graph, edges, path, allow_loss)
    if len(edges.src) == 0:
        raise UnsupportedFormatError("a Graph 500 file cannot hold a graph without edges", path=path)
    beside = _weights_path(path)
    if edges.weight is None and beside.exists():
        raise FileError(
            f"{beside.name} is in the same folder and would be read as this graph's weights; remove it", path=path
        )
    total = len(edges.src) * _EDGE_BYTES[layout]
    with atomic_output(path) as out:
        for begin in range(0, len(edges.src), _BLOCK):
            src, dst = edges.src[begin : begin + _BLOCK], edges.dst[begin : begin + _BLOCK]
            out.write(_encoded(src, dst, layout))
            progress(min(begin + _BLOCK, len(edges.src)) * _EDGE_BYTES[layout], total)
        if edges.weight is not None:
            with file_errors(beside, "write"), atomic_output(beside) as weights:
                for begin in range(0, len(edges.src), _BLOCK):
                    weights.write(_rounded(edges.weight[begin : begin + _BLOCK]).tobytes())


def _encoded(src: Array, dst: Array, layout: Layout) -> bytes:
    if layout == "int64":
        return np.stack([src, dst], axis=1).astype("<i8").tobytes()
    packed = np.empty(len(src), dtype=_PACKED)
    for name, ends in (("v0", src.astype(np.int64)), ("v1", dst.astype(np.int64))):
        packed[f"{name}_low"] = ends & 0xFFFFFFFF
        packed[f"{name}_high"] = ends >> 32
    return packed.tobytes()


def _refuse_losses(graph: Graph, edges: Any, path: Path, allow_loss: bool) -> None:
    losses = []
    if graph.directed:
        losses.append("the direction of edges (read the file with directed=True)")
    if graph.labels is not None:
        losses.append("labels")
    if len(edges.src) and max(int(edges.src.max()), int(edges.dst.max())) + 1 < graph.num_vertices:
        losses.append(f"isolated vertices after the last edge's (read the file with num_vertices={graph.num_vertices})")
    if edges.weight is not None and not np.array_equal(_rounded(edges.weight).astype(np.float64), edges.weight):
        losses.append(f"{edges.weight.dtype} weights that float32 rounds")
    refuse_loss("Graph 500", losses, allow_loss, path)


def _rounded(weights: Array) -> Array:
    with np.errstate(over="ignore"):  # too large for float32: infinite
        return weights.astype("<f4")


def _weights_path(path: Path) -> Path:
    return path.with_name(path.name + ".weights")


FORMATS = (Format("graph500", "Graph 500 edges", (".g500", ".graph500"), stream=_stream, write=_write),)
