"""SciPy's sparse matrices in ``.npz`` files: entry ``[u, v]`` is an edge from ``u`` to ``v``.

CSR, CSC, COO and BSR files of ``scipy.sparse.save_npz`` are read, and CSR files are written that
``scipy.sparse.load_npz`` reads. What a matrix does not tell (that the graph is undirected or unweighted, and the
labels) stands in further arrays of the archive, which SciPy passes over.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, FormatError, UnsupportedFormatError
from dromos.graph.formats.base import Format, Progress, no_progress
from dromos.graph.formats.files import atomic_output, open_input
from dromos.graph.formats.npz_archive import ArchiveReader, write_archive
from dromos.graph.labels import Labels

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]

_EXTRA = "dromos"  # our own metadata: JSON as bytes
_LABELS, _LABEL_BYTES, _LABEL_OFFSETS = "dromos_labels", "dromos_label_bytes", "dromos_label_offsets"
_VERSION = 1
_KINDS = ("csr", "csc", "coo", "bsr")


def _load(path: Path, *, progress: Progress = no_progress) -> Graph:
    from dromos.graph.graph import Graph

    with open_input(path) as stream:
        archive = ArchiveReader(stream, path, progress)
        kind = _text(archive.array("format"), path)
        if kind not in _KINDS:
            raise UnsupportedFormatError(f"a {kind!r} matrix; those read are {', '.join(_KINDS)}", path=path)
        shape = _numbers(archive, "shape", "iu").tolist()
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 0:
            raise FormatError(f"the matrix has the shape {shape}; a graph needs as many columns as rows", path=path)
        count = shape[0]
        extra = _metadata(archive)
        values = _numbers(archive, "data", "biuf")
        weighted = values.dtype.kind != "b" if extra is None else bool(extra["weighted"])
        directed = extra is None or bool(extra["directed"])
        if kind == "csr":
            offsets, targets = _rows(archive, count, count)
            if values.shape != targets.shape:
                raise FormatError(f"there are {len(values):,} values for {len(targets):,} entries", path=path)
            graph = Graph.from_csr(offsets, targets, values if weighted else None, directed=directed)
        else:
            src, dst, values = _triplets(archive, kind, count, values)
            graph = Graph.from_edges(
                src, dst, values if weighted else None, num_vertices=count, directed=directed, symmetrize=False
            )
        graph._labels = _labels(archive, extra, count)
    return graph


def _triplets(archive: ArchiveReader, kind: str, count: int, values: Array) -> tuple[Array, Array, Array]:
    """The entries of a matrix that is not CSR as ``(row, column, value)``."""
    if kind == "csc":
        offsets, rows = _rows(archive, count, count)
        return rows, np.repeat(np.arange(count), np.diff(offsets)), values
    if count > 64 * len(values) + 2**20:
        raise FormatError(
            f"a matrix of {count:,} rows with only {len(values):,} entries; save it as CSR", path=archive.path
        )
    if kind == "coo":
        ends = archive.array("coords") if "coords" in archive else [archive.array(name) for name in ("row", "col")]
        if len(ends) != 2 or any(end.shape != values.shape or end.dtype.kind not in "iu" for end in ends):
            raise FormatError("the rows, columns and values do not match each other", path=archive.path)
        return ends[0], ends[1], values
    if values.ndim != 3 or 0 in values.shape[1:] or count % values.shape[1] or count % values.shape[2]:
        raise FormatError(f"blocks of the shape {values.shape} do not fit {count:,} rows", path=archive.path)
    _, height, width = values.shape
    offsets, columns = _rows(archive, count // height, count // width)
    if len(columns) != len(values):
        raise FormatError(f"there are {len(columns):,} places for {len(values):,} blocks", path=archive.path)
    block, down, across = values.nonzero()  # the zeros of a block are its filling, not entries
    block_rows = np.repeat(np.arange(count // height), np.diff(offsets))
    return (
        block_rows[block] * height + down,
        columns[block].astype(np.int64) * width + across,
        values[block, down, across],
    )


def _rows(archive: ArchiveReader, rows: int, columns: int) -> tuple[Array, Array]:
    """``indptr`` and ``indices``, checked."""
    offsets, indices = _numbers(archive, "indptr", "iu"), _numbers(archive, "indices", "iu")
    if len(offsets) != rows + 1:
        raise FormatError(f"indptr has {len(offsets):,} entries; {rows:,} rows need one more", path=archive.path)
    if offsets[0] != 0 or offsets[-1] != len(indices) or np.any(offsets[1:] < offsets[:-1]):
        raise FormatError(f"indptr does not rise from 0 to the {len(indices):,} entries", path=archive.path)
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= columns):
        raise FormatError(f"indices lie outside 0..{columns - 1}", path=archive.path)
    return offsets, indices


def _numbers(archive: ArchiveReader, name: str, kinds: str) -> Array:
    array = archive.array(name)
    if array.dtype.kind not in kinds or array.ndim not in ((1, 3) if name == "data" else (1,)):
        what = "integers" if kinds == "iu" else "real numbers"
        raise FormatError(
            f"{name!r} should be a column of {what}; it is {array.dtype} of shape {array.shape}", path=archive.path
        )
    return array


def _text(array: Array, path: Path) -> str:
    if array.dtype.kind not in "SU" or array.shape != ():
        raise FormatError("the array 'format' does not name a kind of sparse matrix", path=path)
    value = array.item()
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _metadata(archive: ArchiveReader) -> dict[str, Any] | None:
    if _EXTRA not in archive:
        return None
    try:
        extra = json.loads(archive.array(_EXTRA).tobytes())
        version, _ = extra["version"], (extra["directed"], extra["weighted"], extra["labels"])
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptFileError(
            f"the array {_EXTRA!r} with Dromos's metadata is damaged ({error})", path=archive.path
        ) from None
    if version != _VERSION:
        raise UnsupportedFormatError(f"metadata of version {version}, made by a later Dromos", path=archive.path)
    return dict(extra)


def _labels(archive: ArchiveReader, extra: dict[str, Any] | None, count: int) -> Labels | None:
    if extra is None or extra["labels"] is None:
        return None
    if extra["labels"] == "int":
        labels = Labels.from_values(_numbers(archive, _LABELS, "iu"))
    else:
        offsets, utf8 = _numbers(archive, _LABEL_OFFSETS, "iu"), _numbers(archive, _LABEL_BYTES, "iu")
        labels = Labels.from_utf8(utf8, offsets)
    if len(labels) != count:
        raise CorruptFileError(f"there are {len(labels):,} labels for {count:,} vertices", path=archive.path)
    return labels


def _write(graph: Graph, path: Path, *, compress: bool = True, progress: Progress = no_progress) -> None:
    labels = graph.labels
    index = np.int32 if max(graph.num_arcs, graph.num_vertices) < 2**31 else np.int64  # SciPy wants one type for both
    extra = {
        "version": _VERSION, "directed": graph.directed, "weighted": graph.weights is not None,
        "labels": None if labels is None else labels.kind,
    }  # fmt: skip
    arrays: dict[str, Array] = {
        "format": np.array(b"csr"),
        "shape": np.array([graph.num_vertices] * 2, dtype=np.int64),
        "_is_array": np.array(True),
        "indptr": graph.offsets.astype(index),
        "indices": graph.targets.astype(index, copy=False),
        "data": np.ones(graph.num_arcs, dtype=np.int32) if graph.weights is None else graph.weights,
        _EXTRA: np.frombuffer(json.dumps(extra, sort_keys=True).encode(), dtype=np.uint8),
    }
    if labels is not None and labels.integers is not None:
        arrays[_LABELS] = labels.integers
    elif labels is not None:
        assert labels.utf8 is not None
        assert labels.offsets is not None
        arrays |= {_LABEL_BYTES: labels.utf8, _LABEL_OFFSETS: labels.offsets}
    with atomic_output(path) as out:
        write_archive(out, arrays, compress=compress, progress=progress)


FORMATS = (Format("npz", "SciPy sparse matrix", (".npz",), load=_load, write=_write, compressed=False),)
