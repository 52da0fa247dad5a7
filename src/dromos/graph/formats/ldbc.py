"""LDBC Graphalytics: ``NAME.v`` lists the vertices, ``NAME.e`` the edges, ``NAME.properties`` says what they are.

Any of the three paths stands for the graph; the properties may be missing, and then the graph is directed. An
undirected edge stands once. Further columns of the vertex file are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import WEIGHT_DTYPES, Array
from dromos.errors import FileError, FormatError, GraphDataError, InvalidArgumentError
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Format, Progress, no_progress
from dromos.graph.formats.files import COMPRESSIONS, atomic_outputs, file_errors, strip_compression
from dromos.graph.formats.loss import refuse_loss
from dromos.graph.formats.text_file import TextFile
from dromos.graph.formats.text_lists import parse_column, write_column
from dromos.graph.formats.text_rows import EXTRA_HINT, RowShape, edge_blocks, weight_dtype_option
from dromos.graph.formats.text_writer import LineStyle, write_arcs
from dromos.graph.labels import Labels

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]

_PROPERTY = re.compile(
    r"graph\.(?P<name>.+)\.(?P<key>directed|vertex-file|edge-file|edge-properties\.types|dromos-weights|meta\.vertices|"
    r"meta\.edges)\s*[=:]\s*(?P<value>.*?)\s*\Z"
)


@dataclass(frozen=True)
class _Files:
    vertices: Path
    edges: Path
    properties: dict[str, tuple[str, int]]
    properties_path: Path


def _stream(
    path: Path,
    *,
    extra_columns: str = "error",
    weight_dtype: Any = None,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> EdgeSource:
    """The edges of a graph; ``extra_columns="ignore"`` passes over columns of the edge file behind the weight."""
    if extra_columns not in ("error", "ignore"):
        raise InvalidArgumentError(f"extra_columns={extra_columns!r} is not one of error, ignore")
    files = _find(path)
    ids = _vertex_ids(files.vertices, threads)
    counting = len(ids) == 0 or bool(ids[0] == 0 and ids[-1] == len(ids) - 1 and np.all(np.diff(ids) == 1))
    labels = None if counting else _labels(files.vertices, ids)
    _check(files, "meta.vertices", len(ids), "vertices")
    source = EdgeSource(iter(()), directed=_is_directed(files), num_vertices=len(ids), labels=labels)
    source.blocks = _edges(files, len(ids), counting, extra_columns == "ignore", weight_dtype, threads, progress)
    source.edge_file = files.edges
    source.find_line = lambda name: _line_of(files.edges, name, columns=2)
    return source


def _edges(
    files: _Files, num_vertices: int, dense: bool, ignore_extra: bool, weight_dtype: Any, threads: int | None,
    progress: Progress,
) -> Iterator[EdgeBlock]:  # fmt: skip
    declared = files.properties.get("dromos-weights", ("", 0))[0]
    dtype = weight_dtype_option(weight_dtype) or weight_dtype_option(declared or None)
    if dtype is None and files.properties.get("edge-properties.types", ("", 0))[0] == "real":
        dtype = np.dtype(np.float64)
    held = 0
    if not _is_empty(files.edges):
        text = TextFile(files.edges, progress=progress)
        rows = [line for line in text.peek_lines(1000) if line.strip() and not line.lstrip().startswith(b"#")]
        shape = RowShape(
            3 if rows and len(re.split(rb"[\s,;]+", rows[0].strip())) > 2 else 2, comments=b"#",
            low=0 if dense else -(2**63), high=num_vertices - 1 if dense else 2**63 - 1,
            ignore_extra=ignore_extra, weight_dtype=dtype, extra_hint=EXTRA_HINT,
        )  # fmt: skip
        for block in edge_blocks(text, shape, threads):
            held += len(block.src)
            yield block
    if held == 0 and declared:
        none = np.empty(0, np.int32)
        yield EdgeBlock(none, none, np.empty(0, dtype))
    _check(files, "meta.edges", held, "edges")


def _find(path: Path) -> _Files:
    """The three files of a graph, given one of them."""
    plain, _ = _split(path)
    if not path.exists():
        raise FileError("cannot read the file: it does not exist", path=path)
    properties_path = plain.with_suffix(".properties")
    properties = _properties(properties_path) if properties_path.is_file() else {}
    found = []
    for suffix, key in ((".v", "vertex-file"), (".e", "edge-file")):
        named = plain.with_name(properties[key][0]) if key in properties else plain.with_suffix(suffix)
        places = [path, named] if plain.suffix.lower() == suffix else [named]
        places += [plain.with_name(strip_compression(named)[0].name + end) for end in ("", *COMPRESSIONS)]
        place = next((p for p in places if p.exists()), None)
        if place is None:
            raise FileError(
                f"an LDBC graph needs its {suffix} file, and {named.name} is missing in its folder", path=path
            )
        found.append(place)
    return _Files(found[0], found[1], properties, properties_path)


def _split(path: Path) -> tuple[Path, str | None]:
    plain, compression = strip_compression(path)
    if plain.suffix.lower() not in (".v", ".e", ".properties"):
        raise InvalidArgumentError(f"an LDBC graph is given by its .e, .v or .properties file, not {path.name!r}")
    return plain, compression


def _properties(path: Path) -> dict[str, tuple[str, int]]:
    """The properties that matter here, with the lines they stand on."""
    found: dict[str, tuple[str, int]] = {}
    with file_errors(path), open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            match = _PROPERTY.match(line.strip())
            if match:
                found[match["key"]] = (match["value"], number)
    weights = found.get("dromos-weights")
    if weights is not None and weights[0] not in [dtype.name for dtype in WEIGHT_DTYPES]:
        raise FormatError(f"{weights[0]!r} is not a type of weights", path=path, line=weights[1])
    return found


def _is_directed(files: _Files) -> bool:
    value, line = files.properties.get("directed", ("true", 0))
    if value.lower() not in ("true", "false"):
        raise FormatError(f"directed is {value!r}; expected true or false", path=files.properties_path, line=line)
    return value.lower() == "true"


def _check(files: _Files, key: str, count: int, what: str) -> None:
    if key in files.properties:
        value, line = files.properties[key]
        if value != str(count):
            raise FormatError(
                f"{key} is {value}, and the files hold {count:,} {what}", path=files.properties_path, line=line
            )


def _is_empty(path: Path) -> bool:
    with file_errors(path):
        return path.is_file() and path.stat().st_size == 0


def _vertex_ids(path: Path, threads: int | None) -> Array:
    if _is_empty(path):
        return np.empty(0, np.int64)
    parts = list(parse_column(TextFile(path), threads))
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _labels(path: Path, ids: Array) -> Labels:
    try:
        return Labels.from_values(ids)
    except GraphDataError:
        order = np.argsort(ids, kind="stable")
        again = order[1:][ids[order[1:]] == ids[order[:-1]]]
        name = int(ids[again.min()])
        line = _line_of(path, name, columns=1, occurrence=2)
        raise FormatError(f"the vertex {name} is listed twice", path=path, line=line) from None


def _line_of(path: Path, name: int, *, columns: int, occurrence: int = 1) -> int | None:
    """The line on which an id stands in one of the first columns, for messages; the file is read again for it."""
    wanted = str(name).encode()
    with TextFile(path) as text:
        while (line := text.next_line()) is not None:
            fields = re.split(rb"[\s,;]+", line.strip())[:columns]
            if any(field == wanted or (field.lstrip(b"+0") or b"0") == wanted for field in fields):
                occurrence -= 1
                if occurrence == 0:
                    return text.lines_read
    return None


def _write(
    graph: Graph, path: Path, *, allow_loss: bool = False, threads: int | None = None, progress: Progress = no_progress
) -> None:
    """Write the three files; the ids in them are the labels, which must be integers."""
    labels = graph.labels.integers if graph.labels is not None else None
    if graph.labels is not None and labels is None:
        refuse_loss("LDBC", ["string labels: ids are integers there"], allow_loss, path)
    plain, compression = _split(path)
    name = plain.stem
    ends = compression or ""
    vertices, edges = (plain.with_suffix(suffix + ends) for suffix in (".v", ".e"))
    properties = [
        f"graph.{name}.vertex-file = {vertices.name}",
        f"graph.{name}.edge-file = {edges.name}",
        f"graph.{name}.meta.vertices = {graph.num_vertices}",
        f"graph.{name}.meta.edges = {graph.num_edges}",
        f"graph.{name}.directed = {'true' if graph.directed else 'false'}",
    ]
    if graph.weights is not None:
        properties += [
            f"graph.{name}.edge-properties.names = weight",
            f"graph.{name}.edge-properties.types = {'integer' if graph.weights.dtype.kind == 'i' else 'real'}",
            f"graph.{name}.dromos-weights = {graph.weights.dtype.name}",
        ]
    with atomic_outputs([vertices, edges, plain.with_suffix(".properties")]) as (vertex_out, edge_out, property_out):
        write_column(vertex_out, np.arange(graph.num_vertices) if labels is None else np.ascontiguousarray(labels))
        style = LineStyle(labels=True, once=not graph.directed)
        write_arcs(edge_out, graph, style, threads=threads, progress=progress)
        property_out.write(("\n".join(properties) + "\n").encode())


FORMATS = (Format("ldbc", "LDBC Graphalytics", (".e", ".v", ".properties"), stream=_stream, write=_write),)
