"""Words of the command line as values: vertices, numbers by vertex, vectors, matrices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FileError, InvalidArgumentError
from dromos.graph.words import as_vertex, as_vertices

if TYPE_CHECKING:
    from dromos.graph import Graph

__all__ = ["as_matrix", "as_numbers", "as_vertex", "as_vertices"]


def as_numbers(graph: Graph, text: str) -> Mapping[Any, float] | Array:
    """Numbers by vertex: ``VERTEX=NUMBER,VERTEX=NUMBER``, or a ``.npy`` file with one for each.

    >>> import dromos as dr
    >>> as_numbers(dr.generators.path(3), "0=1,2=0.5")
    {0: 1.0, 2: 0.5}
    """
    if text.endswith(".npy"):
        return _load(text)
    values = {}
    for part in text.split(","):
        vertex, equals, number = part.rpartition("=")
        if not equals:
            raise InvalidArgumentError(f"{part!r} is not VERTEX=NUMBER; write 0=1,5=0.5, or give a .npy file")
        values[as_vertex(graph, vertex.strip())] = _number(number)
    return values


def as_matrix(graph: Graph, text: str) -> Array:
    """A matrix: ``a,b;c,d`` row by row, or a ``.npy`` file.

    >>> import dromos as dr
    >>> as_matrix(dr.generators.path(2), "1,0;0,1").tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if text.endswith(".npy"):
        return _load(text)
    rows = [[_number(part) for part in row.split(",")] for row in text.split(";")]
    if len({len(row) for row in rows}) > 1:
        raise InvalidArgumentError(f"the rows of {text!r} have different lengths; give equally many values in each")
    return np.array(rows)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgumentError(f"{text.strip()!r} is not a number; write it like 0.5") from None


def _load(path: str) -> Array:
    try:
        return np.asarray(np.load(Path(path), allow_pickle=False))
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read an array from the file: {error}", path=path) from None
