"""Graphs from and to other libraries' data: NumPy, DLPack, SciPy, Arrow, pandas, polars; to NetworkX."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.errors import GraphDataError, MissingDependencyError
from dromos.graph.arrow_columns import arrow_ids, arrow_weights
from dromos.graph.arrow_numbers import numbers_to_arrow
from dromos.graph.columns import choose_columns
from dromos.graph.hints import unknown_keyword
from dromos.graph.making import from_edges

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

_COLUMNS = ("src", "dst", "weight")
_ELSEWHERE = {"source": "src", "target": "dst", "edge_attr": "weight", "weights": "weight"}  # as NetworkX calls them


def _check_keywords(function: str, options: Mapping[str, Any]) -> None:
    """Refuse a keyword that a graph is not made by, in the name of the function that was called."""
    known = [*_COLUMNS, *(name for name in inspect.signature(from_edges).parameters if name not in ("cls", *_COLUMNS))]
    for keyword in options:
        if keyword not in known:
            raise unknown_keyword(function, keyword, known, _ELSEWHERE.get(keyword))


def from_scipy(cls: type[Graph], /, matrix: Any, *, directed: bool = True, weighted: bool | None = None) -> Graph:
    """A graph from a square SciPy sparse matrix or array: entry ``[u, v]`` is an edge from ``u`` to ``v``.

    Stored zeros are edges too (except zeros within the blocks of a BSR matrix). A boolean matrix, or
    ``weighted=False``, gives an unweighted graph. With ``directed=False`` the matrix must be symmetric.

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
    if matrix.format == "bsr":  # the zeros of a block are its filling, not entries
        coo.eliminate_zeros()
    if weighted is None:
        weighted = coo.dtype.kind != "b"
    return cls.from_edges(
        coo.row, coo.col, coo.data if weighted else None,
        num_vertices=shape[0], directed=directed, symmetrize=False,
    )  # fmt: skip


def to_scipy(self: Graph) -> Any:
    """The graph as a SciPy ``csr_array`` of its weights, or of ones.

    Memory is shared if SciPy need not rearrange it, that is, if rows are sorted and have no parallel edges.

    >>> from dromos import Graph
    >>> Graph.from_edges([0], [1]).to_scipy().toarray().tolist()
    [[0, 1], [0, 0]]
    """
    sp = _require("scipy.sparse", "'dromos[scipy]'")
    values = np.ones(self.num_arcs, dtype=np.int32) if self.weights is None else self.weights
    offsets = self.offsets if self.num_arcs >= 2**31 else self.offsets.astype(np.int32)
    settled = self.sorted and not self.has_parallel_edges
    matrix = sp.csr_array((values, self.targets, offsets), shape=(self.num_vertices,) * 2, copy=not settled)
    matrix.has_sorted_indices = self.sorted
    matrix.has_canonical_format = settled
    return matrix


def to_networkx(self: Graph) -> Any:
    """The graph as a NetworkX graph, with labels as nodes and weights as the attribute ``weight``.

    Parallel edges give a multigraph. Values of :attr:`Graph.vertex_data` that are not None become node attributes.

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
    for name, column in self.vertex_data.items():
        for node, value in zip(names, column.tolist(), strict=True):
            if value is not None:
                result.nodes[node][name] = value
    edges = self.edges()
    ends = [[names[i] for i in column.tolist()] for column in (edges.src, edges.dst)]
    if edges.weight is None:
        result.add_edges_from(zip(*ends, strict=True))
    else:
        result.add_weighted_edges_from(zip(*ends, edges.weight.tolist(), strict=True))
    return result


def from_arrow(
    cls: type[Graph],
    /,
    table: Any,
    *,
    src: str | None = None,
    dst: str | None = None,
    weight: str | None = None,
    **options: Any,
) -> Graph:
    """A graph from a table of edges: a pyarrow table, or anything with the Arrow C stream (polars, DuckDB, pandas).

    The columns are ``src`` (or ``source``), ``dst`` (or ``target``) and ``weight``, or else the first two and a third
    one called ``weight``. Integer columns hold ids unless ``labels=True``; strings are labels. Other options are those
    of :meth:`Graph.from_edges`.

    >>> import pyarrow as pa
    >>> from dromos import Graph
    >>> Graph.from_arrow(pa.table({"src": ["a"], "dst": ["b"]}))
    <Graph: 2 vertices, 1 edge, directed, str labels>
    """
    _check_keywords("from_arrow", options)
    pa = _require("pyarrow", "pyarrow")
    if not isinstance(table, pa.Table):
        if not (hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")):
            raise GraphDataError(f"expected a table with the Arrow C stream, not {type(table).__name__}")
        try:
            table = pa.table(table)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise GraphDataError(f"cannot take the table through the Arrow C stream: {error}") from None
    source, target, value = choose_columns(table.column_names, src, dst, weight)
    ends = arrow_ids(table.column(source), source), arrow_ids(table.column(target), target)
    weights = None if value is None else arrow_weights(table.column(value), value)
    return cls.from_edges(*ends, weights, **options)


def from_pandas(
    cls: type[Graph],
    /,
    frame: Any,
    *,
    src: str | None = None,
    dst: str | None = None,
    weight: str | None = None,
    **options: Any,
) -> Graph:
    """A graph from a pandas data frame of edges, with columns and options as in :meth:`Graph.from_arrow`.

    >>> import pandas as pd
    >>> from dromos import Graph
    >>> Graph.from_pandas(pd.DataFrame({"src": [0, 1], "dst": [1, 2]}))
    <Graph: 3 vertices, 2 edges, directed>
    """
    if not hasattr(frame, "columns"):
        raise GraphDataError(
            f"expected a pandas data frame, not {type(frame).__name__}; edges in lists: Graph.from_edges"
        )
    _check_keywords("from_pandas", options)
    pa = _require("pyarrow", "pyarrow")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, AttributeError, TypeError, ValueError) as error:
        raise GraphDataError(f"cannot take the data frame: {error}") from None
    return from_arrow(cls, table, src=src, dst=dst, weight=weight, **options)


def from_polars(
    cls: type[Graph],
    /,
    frame: Any,
    *,
    src: str | None = None,
    dst: str | None = None,
    weight: str | None = None,
    **options: Any,
) -> Graph:
    """A graph from a polars data frame of edges, with columns and options as in :meth:`Graph.from_arrow`.

    >>> import polars as pl
    >>> from dromos import Graph
    >>> Graph.from_polars(pl.DataFrame({"src": [0, 1], "dst": [1, 2]}))
    <Graph: 3 vertices, 2 edges, directed>
    """
    _check_keywords("from_polars", options)
    return from_arrow(cls, frame, src=src, dst=dst, weight=weight, **options)


def to_arrow(self: Graph) -> Any:
    """The edges as a pyarrow table with the columns ``src``, ``dst`` and, if there are weights, ``weight``.

    Labels replace ids. Isolated vertices have no row.

    >>> from dromos import Graph
    >>> Graph.from_edges([0], [1], [0.5]).to_arrow().to_pylist()
    [{'src': 0, 'dst': 1, 'weight': 0.5}]
    """
    pa = _require("pyarrow", "pyarrow")
    edges = self.edges()
    ends = {"src": numbers_to_arrow(edges.src), "dst": numbers_to_arrow(edges.dst)}
    if self.labels is not None:
        names = self.labels.to_arrow()
        ends = {end: names.take(ids) for end, ids in ends.items()}
    return pa.table(ends if edges.weight is None else {**ends, "weight": numbers_to_arrow(edges.weight)})


def to_pandas(self: Graph) -> Any:
    """The edges as a pandas data frame; see :meth:`Graph.to_arrow`.

    >>> from dromos import Graph
    >>> Graph.from_edges([0], [1]).to_pandas().columns.tolist()
    ['src', 'dst']
    """
    _require("pandas", "pandas")
    return to_arrow(self).to_pandas()


def _require(module: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(f"this needs the package {module}: pip install {extra}") from None
