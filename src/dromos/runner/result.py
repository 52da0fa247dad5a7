"""The result of a run: fields as arrays, the trace, and conversion to other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from dromos.dtypes import Array
from dromos.errors import DromosError, InvalidArgumentError, MissingDependencyError, UnknownFieldError
from dromos.graph import Graph
from dromos.graph.summary import digits
from dromos.runner import copies, exports
from dromos.runner.explanation import Explanation, PathCost
from dromos.runner.host import on_host
from dromos.runner.own_rows import OwnRows
from dromos.runner.tables import named
from dromos.runner.trace import Trace
from dromos.whole_numbers import whole_number

__all__ = ["Result"]

Column = Array | Callable[[], Array]


class Result(Mapping[str, Array]):
    """The fields of a run, each an array in the order of the vertex ids: ``result["rank"]`` or ``result.rank``.

    Numbers about the whole graph, such as a count, are attributes too. Fields that cost extra work, such as the
    parents of shortest paths, are computed when they are first asked for. Every algorithm returns a class of its own
    that declares its fields, so that editors complete them and type checkers know them.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
    >>> result = dr.bfs(g, "ada")
    >>> result.level.tolist(), result.at("eve")
    ([0, 1, 2], {'level': 2, 'parent': 'bob'})
    >>> result.top(2, by="level")
    [('eve', 2), ('bob', 1)]
    >>> result.to_pandas().parent.tolist()
    ['ada', 'ada', 'bob']
    """

    group_field: ClassVar[str | None] = None
    """The field that says to which group a vertex belongs, of results that divide the vertices."""

    def __init__(
        self,
        name: str,
        graph: Graph,
        fields: Mapping[str, Column],
        *,
        trace: Trace | None = None,
        seconds: float = 0.0,
        compile_seconds: float = 0.0,
        device: str = "",
        finished: str = "",
        values: Mapping[str, Any] | None = None,
        vertex_fields: frozenset[str] | set[str] = frozenset(),
        edge_fields: frozenset[str] | set[str] = frozenset(),
        index: str | None = None,
        verifier: Callable[[Any], None] | None = None,
        own_rows: OwnRows | None = None,
        explanation: Explanation | None = None,
    ) -> None:
        """``vertex_fields`` hold ids of vertices (-1: none); ``index``: rows are no vertices; ``own_rows``: there are
        no others in the fields. Functions among the fields and the values are called when somebody looks."""
        self._name, self._graph, self._columns = name, graph, dict(fields)
        self._values = dict(values or {})
        self._vertex_fields, self._edge_fields, self._index = vertex_fields, edge_fields, index
        self._verifier, self._own_rows = verifier, own_rows
        self._explanation = Explanation() if explanation is None else explanation
        self.trace = Trace() if trace is None else trace
        self.seconds, self.device, self.finished = seconds, device, finished
        self.compile_seconds = compile_seconds
        """How much of ``seconds`` went into compiling kernels, or loading what was compiled before."""

    # ---- looking -----------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Array:
        if name not in self._columns:
            known = ", ".join(self._columns)
            raise UnknownFieldError(
                f"{self._name} has no field {name!r}; it has {known} (a vertex: result.at({name!r}))"
                if self._index is None and self._is_vertex(name)
                else f"{self._name} has no field {name!r}; it has {known}"
            )
        column = self._columns[name]
        if callable(column):
            column = self._columns[name] = column()
        return column

    def _is_vertex(self, name: Any) -> bool:
        try:
            self._graph.vertex_id(name)
        except DromosError:
            return False
        return True

    def to_host(self) -> Self:
        """The same result, with fields copied from the GPU to the host."""
        return self._with({name: on_host(self[name]) for name in self._columns}, self._own_rows)

    def gather(self) -> Self:
        """The same result with all rows. After a run over MPI ranks with ``gather=False``, all ranks must call this.

        >>> import dromos as dr
        >>> dr.bfs(dr.generators.path(3), 0, device="numpy", gather=False).gather().level.tolist()
        [0, 1, 2]
        """
        own = self._own_rows
        if own is None:
            return self
        return self._with({name: own.gathered(on_host(self[name])) for name in self._columns}, None)

    def _with(self, columns: Mapping[str, Array], own_rows: OwnRows | None) -> Self:
        return type(self)(
            self._name, self._graph, columns,
            trace=self.trace, seconds=self.seconds, compile_seconds=self.compile_seconds, device=self.device,
            finished=self.finished, values=self._values,
            vertex_fields=self._vertex_fields, edge_fields=self._edge_fields, index=self._index,
            verifier=self._verifier, own_rows=own_rows, explanation=self._explanation,
        )  # fmt: skip

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    if not TYPE_CHECKING:  # each algorithm's own class of results says what there is, so that a typing error is found

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # while a copy is being made there are no columns yet
                raise AttributeError(f"this result has no {name!r}")
            if name in self._columns:
                return self[name]
            if name in self._values:
                return self.values_of_graph[name]
            known = ", ".join([*self._columns, *self._values])
            meant = _ELSEWHERE.get(name)
            raise AttributeError(f"this result has no {name!r}; it has {known}" + f" (use {meant})" * bool(meant))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._columns, *self._values})

    def __eq__(self, other: object) -> bool:
        """Whether both are results of the same algorithm with equal fields and numbers, however they were computed."""
        if not isinstance(other, Result):
            return NotImplemented
        return (
            self._name == other._name
            and list(self) == list(other)
            and self.values_of_graph == other.values_of_graph
            and all(_same(on_host(self[name]), on_host(other[name])) for name in self)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """The algorithm or program that ran."""
        return self._name

    @property
    def graph(self) -> Graph:
        """The graph that it ran on."""
        return self._graph

    @property
    def edge_fields(self) -> frozenset[str]:
        """The fields with one row per arc instead of one per vertex."""
        return frozenset(self._edge_fields)

    @property
    def iterations(self) -> int:
        """How many supersteps ran, over all programs of the algorithm."""
        return self.trace.supersteps

    @property
    def other_paths(self) -> list[PathCost]:
        """What each fixed path would have cost, for a call with ``explain=True``; ``auto`` is the planner's choice.

        >>> import dromos as dr
        >>> result = dr.bfs(dr.generators.path(4), 0, device="reference", explain=True)
        >>> "sync-push-dd" in [cost.path for cost in result.other_paths]
        True
        """
        return list(self._explanation.other_paths)

    @property
    def vertices(self) -> Array:
        """The labels of the vertices (ids if the graph has no labels); without gathering, only those of this rank."""
        labels, own = self._graph.labels, self._own_rows
        if own is not None:
            return named(own.ids, labels)
        return np.arange(self._graph.num_vertices) if labels is None else labels.to_numpy()

    def at(self, vertex: Any) -> dict[str, Any]:
        """The fields of one vertex, given by label (by id if the graph has no labels)."""
        if self._index is not None:
            raise InvalidArgumentError(
                f"the rows of {self._name} are not vertices, so there is no row for {vertex!r}; use "
                "result.to_pandas() or the fields"
            )
        row = self._graph.vertex_id(vertex)
        if self._own_rows is not None:
            row = self._own_rows.place_of(row, vertex)
        return {name: self._shown(name, on_host(self[name][row : row + 1])).tolist()[0] for name in self._table()}

    def path_to(self, vertex: Any) -> list[Any]:
        """The vertices on the path from the source of a search to ``vertex``; empty if there is no path.

        >>> import dromos as dr
        >>> g = dr.Graph.from_edges(["ada", "bob", "zoe"], ["bob", "eve", "ada"])
        >>> dr.bfs(g, "ada").path_to("eve"), dr.sssp(g, "ada").path_to("zoe")
        (['ada', 'bob', 'eve'], [])
        """
        if "parent" not in self._columns or self._index is not None:
            raise InvalidArgumentError(f"{self._name} finds no paths; use the result of bfs or sssp, which has parents")
        self._require_all_rows("path_to(…)")
        parent = on_host(self["parent"])
        path = [self._graph.vertex_id(vertex)]
        if parent[path[0]] < 0:
            return []
        while (before := int(parent[path[-1]])) != path[-1]:
            path.append(before)
        found: list[Any] = named(np.array(path[::-1]), self._graph.labels).tolist()
        return found

    def top(self, k: int = 10, by: str | None = None) -> list[tuple[Any, Any]]:
        """The ``k`` vertices with the greatest finite values, greatest first and ties by id.

        For a division into groups, such as components or communities, the ``k`` largest groups and their numbers of
        vertices, unless ``by`` names a field.

        >>> import dromos as dr
        >>> dr.connected_components(dr.Graph.from_edges([0, 2, 3], [1, 3, 4])).top(1)
        [(2, 3)]
        """
        if by is None and self.group_field is not None:
            return list(zip(*self._largest_groups(k), strict=True))
        name, rows = self._greatest(k, by)
        keys = rows if self._index is not None else named(self._ids(rows), self._graph.labels)
        return list(zip(keys.tolist(), self._shown(name, on_host(self[name])[rows]).tolist(), strict=True))

    def top_rows(self, k: int = 10, by: str | None = None) -> dict[str, list[Any]]:
        """As :meth:`top`, but with all fields of the rows, as columns; rows of edges include their ends.

        >>> import dromos as dr
        >>> dr.truss_numbers(dr.Graph.from_edges([0, 1, 2, 2], [3, 2, 0, 1], directed=False)).top_rows(1)
        {'source': [0], 'target': [2], 'truss': [2]}
        """
        if by is None and self.group_field is not None:
            return dict(zip((self.group_field, "vertices"), self._largest_groups(k), strict=True))
        return self._rows(self._greatest(k, by)[1])

    def _largest_groups(self, k: int) -> tuple[list[Any], list[int]]:
        """The groups with the most vertices, and how many these are; equal ones in the order of their numbers."""
        assert self.group_field is not None
        self._require_all_rows("top(…)")
        wanted = _row_count(k)
        ids, sizes = np.unique(on_host(self[self.group_field]), return_counts=True)
        largest = np.argsort(-sizes, kind="stable")[:wanted]
        return self._shown(self.group_field, ids[largest]).tolist(), sizes[largest].tolist()

    def _greatest(self, k: int, by: str | None) -> tuple[str, Array]:
        """The field that is looked at, and the ``k`` rows in which it is greatest."""
        wanted = _row_count(k)
        name = self._main_field() if by is None else by
        values = on_host(self[name])
        if values.ndim != 1 or name in self._edge_fields:
            raise InvalidArgumentError(f"by={name!r} is not a field with one number per vertex")
        rows = np.flatnonzero(np.isfinite(values)) if values.dtype.kind == "f" else np.arange(len(values))
        if len(rows) > wanted > 0:  # the k-th greatest first, so that only few are sorted
            limit = np.partition(values[rows], len(rows) - wanted)[len(rows) - wanted]
            rows = rows[values[rows] >= limit]
        some = values[rows]
        falling = -some if some.dtype.kind == "f" else ~some  # of whole numbers exact, where a float would round
        return name, rows[np.lexsort((rows, falling))][:wanted]

    def _main_field(self) -> str:
        """The first field; where rows are not vertices, the first that is no vertex and no key of the row."""
        fields = list(self._table())
        if self._index is not None:
            keys = {self._index, *self._vertex_fields}
            fields = [name for name in fields if name not in keys and on_host(self[name]).ndim == 1] or fields
        return next(iter(fields), "")

    def head(self, rows: int = 5) -> dict[str, list[Any]]:
        """The first rows as columns: the vertices (labels or ids), then the fields."""
        wanted = whole_number(rows)
        if wanted is None or wanted < 0:
            raise InvalidArgumentError(f"rows={rows!r} is not a number of rows; give 0 or more")
        whole = self._index is None and self._own_rows is None
        count = min(wanted, self._graph.num_vertices if whole else len(self[next(iter(self._columns))]))
        return self._rows(slice(count))

    def _ids(self, rows: Array) -> Array:
        """The vertices of some rows."""
        return rows if self._own_rows is None else rows + self._own_rows.first

    def _require_all_rows(self, asked: str) -> None:
        if self._own_rows is not None:
            raise self._own_rows.refuse(asked)

    def _rows(self, rows: Array | slice) -> dict[str, list[Any]]:
        first = isinstance(rows, slice)  # few rows of a field that a GPU keeps need no copy of all
        columns = {name: on_host(self[name][rows]) if first else on_host(self[name])[rows] for name in self._table()}
        ids = np.arange(rows.stop) if isinstance(rows, slice) else rows
        vertex = {} if self._index else {"vertex": named(self._ids(ids), self._graph.labels).tolist()}
        return {**vertex, **{name: self._shown(name, column).tolist() for name, column in columns.items()}}

    @property
    def values_of_graph(self) -> Mapping[str, Any]:
        """The numbers about the whole graph, by name."""
        for name, value in self._values.items():
            if callable(value):
                self._values[name] = value()
        return MappingProxyType(self._values)

    def verify(self) -> None:
        """Check the properties of a correct answer; raises :class:`~dromos.errors.VerificationError` if one fails."""
        if self._verifier is None:
            raise InvalidArgumentError(f"{self._name} is not one of Dromos's algorithms, so it has no verifier")
        self._require_all_rows("verify()")
        try:
            self._verifier(self.to_host())
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "scipy":
                raise
            raise MissingDependencyError(
                "verify() compares with what SciPy computes: pip install 'dromos[scipy]'"
            ) from None

    # ---- going on to other libraries, files and pictures -------------------------------------------------------

    to_arrow = exports.to_arrow
    to_pandas = exports.to_pandas
    to_polars = exports.to_polars
    __arrow_c_stream__ = exports.arrow_stream
    write = exports.write
    report = exports.report
    plot = exports.plot
    __array__ = exports.rows
    __getstate__ = copies.state_for_pickle
    __copy__ = copies.shallow
    __deepcopy__ = copies.deep

    def _repr_html_(self) -> str:
        from dromos.runner.report.notebook import result_html

        return result_html(self)

    def _table(self) -> list[str]:
        return [name for name in self._columns if name not in self._edge_fields]

    def _shown(self, name: str, values: Array) -> Array:
        return named(values, self._graph.labels) if name in self._vertex_fields else values

    def __repr__(self) -> str:
        ready = ((name, None if callable(c) else c) for name, c in self._columns.items())
        fields = ", ".join(f"{name} {'(on demand)' if c is None else c.dtype}" for name, c in ready)
        values = "".join(f", {name}={_short(value)}" for name, value in self.values_of_graph.items())
        paths = ", ".join(f"{path} {count}" for path, count in self.trace.paths.items())
        compiling = f", {_duration(self.compile_seconds)} of it compiling," if self.compile_seconds >= 0.1 else ""
        rounds = "1 iteration" if self.iterations == 1 else f"{self.iterations} iterations"
        ran = f"{rounds} in {_duration(self.seconds)}{compiling} on {self.device}"
        own, of = self._own_rows, f"{self._graph.num_vertices:,} vertices"
        if own is not None:
            of = f"rows {own.first:,} to {own.last - 1:,} of {of}" if own.last > own.first else f"no rows of {of}"
        return f"<{self._name} of {of}: {fields}{values}; {ran}{f' ({paths})' if paths else ''}>"


_SHOWN: Final = 3  # values of a list about the whole graph
_ELSEWHERE: Final = {  # what pandas and others call the same
    "path": "path_to(vertex)",
    "save": "write('result.parquet')",
    "to_csv": "write('result.csv')",
    "to_dict": "to_pandas(), or at(vertex)",
    "to_frame": "to_pandas()",
    "to_numpy": "the fields, which are arrays",
    "to_parquet": "write('result.parquet')",
}


def _row_count(k: int) -> int:
    wanted = whole_number(k)
    if wanted is None or wanted < 0:
        raise InvalidArgumentError(f"k={k!r} is not a number of vertices; give 0 or more")
    return wanted


def _same(one: Array, other: Array) -> bool:
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f"))


def _short(value: Any) -> str:
    """A number, or the first ones of a list, as one reads it; the attribute has all of them, with all digits."""
    if isinstance(value, list):
        more = f", … {len(value):,} in all" if len(value) > _SHOWN else ""
        return f"[{', '.join(map(_short, value[:_SHOWN]))}{more}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    scale, unit = next((s, u) for s, u in ((1, "s"), (1e3, "ms"), (1e6, "us")) if seconds * s >= 1 or u == "us")
    return f"{digits(seconds * scale)} {unit}"
