"""Graphs from and to other libraries' data: NumPy, DLPack, SciPy, NetworkX, Arrow, pandas, polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError, MissingDependencyError

if TYPE_CHECKING:
    from dromos.graph.graph import Graph


def as_numpy(values: Array | Sequence[Any] | Any) -> Array:
    """Any array as NumPy's, without a copy where that can be: by ``__array__``, DLPack (torch), or the elements.

    >>> as_numpy([1, 2]).tolist()
    [1, 2]
    """
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "__dlpack__"):
        try:
            return np.from_dlpack(values)
        except (BufferError, TypeError, RuntimeError, ValueError) as error:
            raise GraphDataError(f"cannot take the array by DLPack: {error}; move it to the CPU first") from None
    try:
        return np.asarray(values)
    except (ValueError, OverflowError) as error:
        raise GraphDataError(f"not a column of numbers or strings: {error}") from None


def from_scipy(cls: type[Graph], matrix: Any, *, directed: bool = True, weighted: bool | None = None) -> Graph:
    """A graph from a square SciPy sparse matrix or array: entry ``[u, v]`` is an edge from ``u`` to ``v``.

    Stored zeros are edges too. A boolean matrix, or ``weighted=False``, gives an unweighted graph.
    With ``directed=False`` the matrix must be symmetric.

    >>> import scipy.sparse as sp
    >>> from dromos import Graph
    >>> Graph.from_scipy(sp.csr_array([[0, 2.5], [0, 0]])).weights.tolist()
    [2.5]
    """
    shape = getattr(matrix, "shape", None)
    if shape is None or len(shape) != 2 or not hasattr(matrix, "tocoo"):
        raise GraphDataError(f"expected a two-dimensional SciPy sparse matrix, not {type(matrix).__name__}")
    if shape[0] != shape[1]:
        raise GraphDataError(f"the matrix has the shape {shape}; a graph needs as many columns as rows")
    coo = matrix.tocoo()
    if weighted is None:
        weighted = coo.dtype.kind != "b"
    return cls.from_edges(
        coo.row, coo.col, coo.data if weighted else None,
        num_vertices=shape[0], directed=directed, symmetrize=False,
    )  # fmt: skip


def to_scipy(self: Graph) -> Any:
    """The graph as a SciPy ``csr_array`` of its weights, or of ones; the index arrays are shared where SciPy can.

    >>> from dromos import Graph
    >>> Graph.from_edges([0], [1]).to_scipy().toarray().tolist()
    [[0, 1], [0, 0]]
    """
    import scipy.sparse as sp

    values = np.ones(self.num_arcs, dtype=np.int32) if self.weights is None else self.weights
    offsets = self.offsets if self.num_arcs >= 2**31 else self.offsets.astype(np.int32)
    matrix = sp.csr_array((values, self.targets, offsets), shape=(self.num_vertices,) * 2)
    matrix.has_sorted_indices = bool(self.known_flags.sorted)
    return matrix


def from_networkx(cls: type[Graph], graph: Any, *, weight: str | None = "weight") -> Graph:
    """A graph from a NetworkX graph; nodes that are not ``0..n-1`` become labels.

    The edge attribute ``weight`` is taken where every edge has it; where some have it and some do not, that is an error
    (``weight=None`` leaves weights out).

    >>> import networkx as nx
    >>> from dromos import Graph
    >>> Graph.from_networkx(nx.path_graph(3))
    <Graph: 3 vertices, 2 edges, undirected>
    """
    nodes = list(graph.nodes)
    plain = all(isinstance(node, int) and not isinstance(node, bool) and node == i for i, node in enumerate(nodes))
    if not plain and sorted(map(repr, nodes)) == sorted(map(repr, range(len(nodes)))):
        plain, nodes = True, list(range(len(nodes)))
    index = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data=weight)) if weight is not None else [(*edge, None) for edge in graph.edges()]
    given = sum(edge[2] is not None for edge in edges)
    if 0 < given < len(edges):
        raise GraphDataError(f"only {given} of {len(edges)} edges have the attribute {weight!r}; set it on all, or weight=None")
    src = np.fromiter((index[edge[0]] for edge in edges), np.int64, len(edges))
    dst = np.fromiter((index[edge[1]] for edge in edges), np.int64, len(edges))
    return cls.from_edges(
        src, dst, [edge[2] for edge in edges] if given else None,
        num_vertices=len(nodes), directed=graph.is_directed(), labels=None if plain else nodes,
    )  # fmt: skip


def to_networkx(self: Graph) -> Any:
    """The graph as a NetworkX graph, with labels as nodes and weights as the attribute ``weight``.

    Parallel edges give a multigraph.

    >>> from dromos import Graph
    >>> list(Graph.from_edges(["ada"], ["bob"], [2]).to_networkx().edges(data="weight"))
    [('ada', 'bob', 2)]
    """
    nx = _require("networkx", "networkx")
    kinds = {
        (True, False): nx.DiGraph, (False, False): nx.Graph,
        (True, True): nx.MultiDiGraph, (False, True): nx.MultiGraph,
    }  # fmt: skip
    result = kinds[self.directed, self.has_parallel_edges]()
    names = (np.arange(self.num_vertices) if self.labels is None else self.labels.to_numpy()).tolist()
    result.add_nodes_from(names)
    edges = self.edges()
    ends = [[names[i] for i in column.tolist()] for column in (edges.src, edges.dst)]
    if edges.weight is None:
        result.add_edges_from(zip(*ends, strict=True))
    else:
        result.add_weighted_edges_from(zip(*ends, edges.weight.tolist(), strict=True))
    return result


def from_arrow(
    cls: type[Graph],
    table: Any,
    *,
    src: str | None = None,
    dst: str | None = None,
    weight: str | None = None,
    **options: Any,
) -> Graph:
    """A graph from a table of edges: a pyarrow table, or anything with the Arrow C stream (polars, DuckDB, pandas).

    The columns are ``src``, ``dst`` and ``weight``, or else the first two and a third one called ``weight``. Integer
    columns hold ids unless ``labels=True``; strings are labels. Other options are those of :meth:`Graph.from_edges`.

    >>> import pyarrow as pa
    >>> from dromos import Graph
    >>> Graph.from_arrow(pa.table({"src": ["a"], "dst": ["b"]}))
    <Graph: 2 vertices, 1 edge, directed, str labels>
    """
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise GraphDataError(f"expected a table with the Arrow C stream, not {type(table).__name__}")
        table = pa.table(table)
    names = choose_columns(table.column_names, src, dst, weight)
    columns = [_arrow_column(table.column(name), name) for name in names if name is not None]
    return cls.from_edges(columns[0], columns[1], columns[2] if len(columns) > 2 else None, **options)


def from_pandas(cls: type[Graph], frame: Any, **options: Any) -> Graph:
    """A graph from a pandas data frame of edges; see :meth:`Graph.from_arrow` for the columns.

    >>> import pandas as pd
    >>> from dromos import Graph
    >>> Graph.from_pandas(pd.DataFrame({"src": [0, 1], "dst": [1, 2]}))
    <Graph: 3 vertices, 2 edges, directed>
    """
    import pyarrow as pa

    return from_arrow(cls, pa.Table.from_pandas(frame, preserve_index=False), **options)


def from_polars(cls: type[Graph], frame: Any, **options: Any) -> Graph:
    """A graph from a polars data frame of edges; see :meth:`Graph.from_arrow` for the columns.

    >>> import polars as pl
    >>> from dromos import Graph
    >>> Graph.from_polars(pl.DataFrame({"src": [0, 1], "dst": [1, 2]}))
    <Graph: 3 vertices, 2 edges, directed>
    """
    return from_arrow(cls, frame, **options)


def to_arrow(self: Graph) -> Any:
    """The edges as a pyarrow table with the columns ``src``, ``dst`` and, if there are weights, ``weight``.

    Labels stand in the place of ids. Isolated vertices have no row.

    >>> from dromos import Graph
    >>> Graph.from_edges([0], [1], [0.5]).to_arrow().to_pylist()
    [{'src': 0, 'dst': 1, 'weight': 0.5}]
    """
    import pyarrow as pa

    edges = self.edges()
    if self.labels is None:
        ends = {"src": pa.array(edges.src), "dst": pa.array(edges.dst)}
    else:
        names = pa.array(self.labels.to_numpy())
        ends = {"src": names.take(pa.array(edges.src)), "dst": names.take(pa.array(edges.dst))}
    return pa.table(ends if edges.weight is None else {**ends, "weight": pa.array(edges.weight)})


def to_pandas(self: Graph) -> Any:
    """The edges as a pandas data frame; see :meth:`Graph.to_arrow`.

    >>> from dromos import Graph
    >>> Graph.from_edges([0], [1]).to_pandas().columns.tolist()
    ['src', 'dst']
    """
    _require("pandas", "pandas")
    return to_arrow(self).to_pandas()


def choose_columns(
    names: Sequence[str], src: str | None, dst: str | None, weight: str | None
) -> tuple[str, str, str | None]:
    """The names of the source, target and weight columns among ``names``.

    >>> choose_columns(["from", "to", "weight"], None, None, None)
    ('from', 'to', 'weight')
    """
    for wanted in (src, dst, weight):
        if wanted is not None and wanted not in names:
            raise GraphDataError(f"there is no column {wanted!r}; the columns are {', '.join(names)}")
    if len(set(names)) < len(names):
        raise GraphDataError(f"two columns have the same name: {', '.join(names)}")
    if "src" in names and "dst" in names:
        src, dst = src or "src", dst or "dst"
    free = [name for name in names if name not in (src, dst, weight)]
    if src is None:
        src = free.pop(0) if free else None
    if dst is None:
        dst = free.pop(0) if free else None
    if src is None or dst is None:
        raise GraphDataError(f"a table of edges needs two columns of vertices; it has {', '.join(names) or 'none'}")
    if weight is None and "weight" in free:
        weight = "weight"
    return src, dst, weight


def _arrow_column(column: Any, name: str) -> Array:
    import pyarrow as pa

    if column.null_count:
        raise GraphDataError(f"the column {name!r} has {column.null_count} missing values")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy())


def _require(module: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(f"this needs the package {module}: pip install {extra}") from None
