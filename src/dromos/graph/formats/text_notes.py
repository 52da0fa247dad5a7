"""The comment in which Dromos keeps what a text format itself cannot say.

    # dromos graph: vertices=4 edges=3 directed=yes weights=float32 labels=str
    # vertex "ada"

Other programs pass over it. It keeps isolated vertices, the direction, the exact type of the weights and the labels, so
that a graph comes back as it was. ``labels`` is ``none``, ``rows`` (integers that the rows hold, in ascending order),
or ``int`` or ``str``, and then one line per vertex follows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from dromos.dtypes import WEIGHT_DTYPES
from dromos.errors import FormatError
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.formats.loss import rows_tell_labels
from dromos.graph.formats.text_file import TextFile
from dromos.graph.labels import Labels

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["Front", "GraphNote", "describe", "named_blocks", "read_front"]

_NOTE = re.compile(
    rb"\s*dromos graph: vertices=(\d{1,18}) edges=(\d{1,18}) directed=(yes|no) "
    rb"weights=(none|float32|float64|int32) labels=(none|rows|int|str)\s*\Z"
)
_VERTEX = b" vertex "
_COMMENTS_KEPT = 100
_FIRST_CHUNK = 1 << 16

LabelsKind = Literal["none", "rows", "int", "str"]


@dataclass(frozen=True)
class GraphNote:
    """What a file's comment tells of its graph."""

    num_vertices: int
    num_edges: int
    directed: bool
    weight_dtype: np.dtype[Any] | None
    labels_kind: LabelsKind
    labels: Labels | None = None


@dataclass(frozen=True)
class Front:
    """The comments before the first row: their texts (the first hundred), and the note of Dromos among them."""

    comments: list[bytes]
    note: GraphNote | None


def read_front(text: TextFile, marks: tuple[bytes, ...]) -> Front:
    """Read the comments and blank lines at the front of a file, up to the first line that is neither."""
    comments: list[bytes] = []
    note: GraphNote | None = None
    while lines := text.peek_lines(1):
        line = lines[0].strip()
        mark = next((mark for mark in marks if line.startswith(mark)), None)
        if line and mark is None:
            break
        text.next_line()
        if mark is None:
            continue
        body = line[len(mark) :]
        if len(comments) < _COMMENTS_KEPT:
            comments.append(body)
        found = _NOTE.match(body)
        if found:
            note = _note(text, found, mark)
    return Front(comments, note)


def describe(graph: Graph, mark: bytes, *, rows_hold_labels: bool, num_edges: int | None = None) -> Iterator[bytes]:
    """The comment for a graph, in pieces."""
    weights = "none" if graph.weights is None else graph.weights.dtype.name
    kind = "none" if graph.labels is None else graph.labels.kind
    if rows_hold_labels and rows_tell_labels(graph):
        kind = "rows"
    edges = graph.num_edges if num_edges is None else num_edges
    yield (
        mark
        + (
            f" dromos graph: vertices={graph.num_vertices} edges={edges} "
            f"directed={'yes' if graph.directed else 'no'} weights={weights} labels={kind}\n"
        ).encode()
    )
    if kind in ("int", "str"):
        assert graph.labels is not None
        for first in range(0, graph.num_vertices, _FIRST_CHUNK):
            ids = np.arange(first, min(first + _FIRST_CHUNK, graph.num_vertices))
            names = graph.labels.values_of(ids).tolist()
            yield b"".join(mark + _VERTEX + _quoted(name) + b"\n" for name in names)


def named_blocks(blocks: Iterator[EdgeBlock], labels: Labels | None) -> Iterator[EdgeBlock]:
    """Blocks of ids with the names that ``labels`` gives them, as a source with labels is to have them."""
    for block in blocks:
        if labels is None or len(block.src) == 0:
            yield block
        else:
            yield EdgeBlock(labels.values_of(block.src), labels.values_of(block.dst), block.weight)


def _quoted(name: int | str) -> bytes:
    if isinstance(name, int):
        return b"%d" % name
    try:
        return json.dumps(name, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 does not have
        return json.dumps(name).encode()


def _note(text: TextFile, found: re.Match[bytes], mark: bytes) -> GraphNote:
    count = int(found[1])
    dtypes = {dtype.name.encode(): dtype for dtype in WEIGHT_DTYPES}
    kind = cast(LabelsKind, found[5].decode())
    labels = _listed_labels(text, mark, count, kind) if kind in ("int", "str") else None
    return GraphNote(count, int(found[2]), found[3] == b"yes", dtypes.get(found[4]), kind, labels)


def _listed_labels(text: TextFile, mark: bytes, count: int, kind: str) -> Labels:
    start = mark + _VERTEX
    wanted = int if kind == "int" else str
    names: list[Any] = []
    while len(names) < count:
        line = text.next_line()
        if line is None or not line.startswith(start):
            raise FormatError(
                f"the file promises {count:,} lines {start.decode()!r} and has {len(names):,}",
                path=text.path,
                line=text.lines_read + (line is None),
            )
        try:
            name = json.loads(line[len(start) :])
        except ValueError:
            name = None
        if type(name) is not wanted:
            raise FormatError(
                f"{line[len(start) :]!r} is not {'an integer' if wanted is int else 'a string in quotes'}",
                path=text.path,
                line=text.lines_read,
            )
        names.append(name)
    if wanted is int:
        return Labels.from_values(np.array(names, dtype=np.int64))
    return Labels.from_values(names) if names else Labels.no_strings()
