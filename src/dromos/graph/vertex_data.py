"""What else is known of the vertices: columns beside a graph, one value per vertex, that no algorithm looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.errors import GraphDataError

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["VertexData", "column_of", "with_vertex_data"]

_DTYPES = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}


class VertexData(Mapping[str, Array]):
    """Read-only columns by name. A column may be given as a function that makes it, called when somebody looks.

    >>> data = VertexData({"club": lambda: column_of(["red", None, "blue"], 3)})
    >>> list(data), data["club"].tolist()
    (['club'], ['red', None, 'blue'])
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Array | Callable[[], Array]] | None = None) -> None:
        self._columns = dict(columns or {})

    def __getitem__(self, name: str) -> Array:
        try:
            column = self._columns[name]
        except KeyError:
            held = ", ".join(map(str, self)) or "none"
            raise KeyError(f"the vertices have no data {name!r}; they have {held}") from None
        if not isinstance(column, np.ndarray):
            column = self._columns[name] = read_only(column())
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<vertex data: {', '.join(map(str, self)) or 'none'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return VertexData, (dict(self),)

    def of_vertices(self, ids: Array) -> VertexData:
        """The rows of the vertices ``ids``.

        >>> VertexData({"age": np.array([20, 30, 40])}).of_vertices(np.array([2, 0]))["age"].tolist()
        [40, 20]
        """

        def chosen(name: str) -> Callable[[], Array]:
            return lambda: self[name][ids]

        return VertexData({name: chosen(name) for name in self})


def column_of(values: Sequence[Any], count: int, ids: Array | None = None) -> Array:
    """Values of the vertices ``ids`` as a column of ``count``: of NumPy's own type where all are there and of one kind.

    Other columns hold Python's objects, and None where a vertex has no value.

    >>> column_of([7, 8], 2).dtype, column_of([7], 2, np.array([1])).tolist()
    (dtype('int64'), [None, 7])
    """
    kinds = set(map(type, values))
    dtype = _DTYPES.get(kinds.pop(), np.dtype(object)) if len(kinds) == 1 else np.dtype(object)
    if len(values) < count:
        dtype = np.dtype(object)
    column = np.empty(count, dtype)  # of objects: None everywhere
    where = np.arange(count) if ids is None else ids
    try:
        column[where] = np.fromiter(values, dtype, len(values))
    except OverflowError:  # whole numbers beyond 64 bits
        column = column.astype(object)
        column[where] = np.fromiter(values, object, len(values))
    return column


def with_vertex_data(self: Graph, columns: Mapping[str, Any] | None) -> Graph:
    """The same graph with other vertex data, one value per vertex in each column; None takes all of it away.

    Columns that the graph has are kept by ``{**g.vertex_data, "age": ages}``. Rows and weights are shared, not copied.

    >>> from dromos import Graph
    >>> g = Graph.from_edges(["ada"], ["bob"]).with_vertex_data({"age": [36, 41]})
    >>> g.vertex_data["age"].tolist()
    [36, 41]
    """
    self.require_in_memory()
    if columns is not None and not isinstance(columns, Mapping):
        raise GraphDataError(
            f"{type(columns).__name__} is no vertex data; give columns by name, such as {{'age': [36, 41]}}, or None"
        )
    kept: dict[str, Array] = {}
    for name, given in (columns or {}).items():
        if isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
            raise GraphDataError(f"{name!r} is not a column but {given!r}; give one value per vertex")
        values = given if isinstance(given, np.ndarray) else list(given)
        if len(values) != self.num_vertices:
            raise GraphDataError(
                f"the column {name!r} has {len(values):,} values for {self.num_vertices:,} vertices; give one for each"
            )
        kept[name] = read_only(values.copy() if isinstance(values, np.ndarray) else column_of(values, len(values)))
    result = type(self)._make(
        self.offsets, self.targets, self.weights,
        labels=self.labels, flags=self.known_flags, source_file=self.source_file, vertex_data=VertexData(kept),
    )  # fmt: skip
    result._shared = self._shared
    return result
