"""The backend's graph: NetworkX's nodes and adjacency as arrays, in NetworkX's order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ReferenceType

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.values import EdgeValues, edge_values

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from dromos.graph import Graph

__all__ = ["BackendGraph", "Rows"]


class Rows(NamedTuple):
    """Compressed rows: the neighbors of node ``u`` are ``targets[offsets[u]:offsets[u + 1]]``."""

    offsets: Array
    targets: Array


class BackendGraph:
    """A NetworkX graph as arrays.

    Nodes are numbered in the order of NetworkX's iteration, and a row lists neighbors in the order of NetworkX's
    adjacency, each once. For an undirected graph both directions are stored, a self-loop once. ``multiplicity`` counts
    the parallel edges behind an arc of a multigraph, and is ``None`` otherwise.
    """

    __networkx_backend__ = "dromos"

    def __init__(
        self, nodes: list[Any], offsets: Array, targets: Array, *, directed: bool, multiplicity: Array | None = None
    ) -> None:
        self.nodes = nodes
        self.offsets = offsets
        self.targets = targets
        self.directed = directed
        self.multiplicity = multiplicity
        self.graph: dict[str, Any] = {}
        self.original: ReferenceType[Any] | None = None
        """The NetworkX graph that was converted, while it lives."""
        self.node_data: list[dict[str, Any]] | None = None
        self.edge_data: list[Any] | None = None
        """One entry per arc: the dictionary of attributes, or for a multigraph that of keys."""
        self.node_columns: dict[Hashable, list[Any]] = {}
        self.edge_columns: dict[tuple[Hashable, Any], list[Any]] = {}
        self._edge_values: dict[tuple[Hashable, Any], EdgeValues] = {}

    # ---- what NetworkX's dispatcher and decorators require of a graph ----------------------------------------------

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.multiplicity is not None

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:  # not hashable
            return False

    def __repr__(self) -> str:
        kind = ("directed" if self.directed else "undirected") + (" multigraph" if self.is_multigraph() else " graph")
        return f"<Dromos's copy of a NetworkX {kind}: {len(self)} nodes>"

    def __str__(self) -> str:
        """The graph's name in NetworkX's messages: that of the converted graph, while it lives."""
        original = None if self.original is None else self.original()
        return repr(self) if original is None else str(original)

    # ---- nodes -----------------------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> dict[Any, int]:
        """The number of every node."""
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def nodes_are_numbers(self) -> bool:
        """Whether the nodes are 0, 1, 2 and so on, so that a node is its own number."""
        return all(map(int.__eq__, self.nodes, range(len(self)))) if set(map(type, self.nodes)) == {int} else False

    def names(self, numbers: Array) -> list[Any]:
        """The nodes with these numbers."""
        listed: list[Any] = numbers.tolist()
        return listed if self.nodes_are_numbers else list(map(self.nodes.__getitem__, listed))

    def by_node(self, values: Array) -> dict[Any, Any]:
        """A value for every node, in NetworkX's order, as plain Python numbers."""
        return dict(zip(self.nodes, values.tolist(), strict=True))

    def nbunch(self, nbunch: Any) -> list[int]:
        """The numbers of the nodes that NetworkX's ``nbunch_iter`` would yield; for a single node, that node."""
        import networkx as nx

        if nbunch is None:
            return list(range(len(self)))
        if nbunch in self:
            return [self.index[nbunch]]
        found: list[int] = []
        try:
            for node in nbunch:
                try:
                    number = self.index.get(node)
                except TypeError as error:
                    message = f"Node {node} in sequence nbunch is not a valid node."
                    raise nx.NetworkXError(message) from error
                if number is not None:
                    found.append(number)
        except TypeError as error:
            message = "nbunch is not a node or a sequence of nodes."
            if "object is not iterable" in str(error):
                message = f"Node {nbunch} is not in the graph."
            raise nx.NetworkXError(message) from error
        return found

    def numbers(self, nodes: Iterable[Any]) -> Array:
        """The numbers of ``nodes``, all of which are in the graph."""
        return np.fromiter(map(self.index.__getitem__, nodes), np.int64)

    # ---- edges -----------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """Neighbors (in a directed graph: successors) in NetworkX's order."""
        return Rows(self.offsets, self.targets)

    @cached_property
    def sources(self) -> Array:
        """The node that each arc leaves."""
        return np.repeat(np.arange(len(self), dtype=self.targets.dtype), np.diff(self.offsets))

    @cached_property
    def _by_target(self) -> Array:
        return np.argsort(self.targets, kind="stable")

    @cached_property
    def reversed_rows(self) -> Rows:
        """Predecessors, in the order of node numbers, which is not NetworkX's order."""
        if not self.directed:
            return self.rows
        counts = np.bincount(self.targets, minlength=len(self))
        return Rows(np.concatenate([[0], np.cumsum(counts)]), self.sources[self._by_target])

    def reversed_values(self, values: Array) -> Array:
        """Values of arcs, in the order of :attr:`reversed_rows`."""
        return values[self._by_target] if self.directed else values

    @cached_property
    def symmetric_rows(self) -> Rows:
        """Neighbors in either direction, each once, sorted; self-loops left out."""
        from scipy.sparse import csr_array

        keep = ~self.is_loop
        rows, columns = self.sources[keep], self.targets[keep]
        if self.directed:
            rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        both = csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(len(self),) * 2)
        both.sort_indices()
        return Rows(both.indptr.astype(np.int64), both.indices.astype(self.targets.dtype))

    @cached_property
    def sorted_rows(self) -> Rows:
        """Neighbors in the order of their numbers."""
        order = np.lexsort((self.targets, self.sources))
        return Rows(self.offsets, self.targets[order])

    @cached_property
    def is_loop(self) -> Array:
        """Whether each arc is a self-loop."""
        loops: Array = self.sources == self.targets
        return loops

    @cached_property
    def num_loops(self) -> int:
        """The number of self-loops."""
        loops = self.is_loop
        return int(np.count_nonzero(loops) if self.multiplicity is None else self.multiplicity[loops].sum())

    @cached_property
    def num_edges(self) -> int:
        """The number of edges, including parallel ones."""
        arcs = len(self.targets) if self.multiplicity is None else int(self.multiplicity.sum())
        return arcs if self.directed else (arcs + self.num_loops) // 2

    @cached_property
    def out_degree(self) -> Array:
        """Edges that leave each node; in an undirected graph a self-loop counts once here."""
        if self.multiplicity is None:
            return np.diff(self.offsets)
        return np.bincount(self.sources, weights=self.multiplicity, minlength=len(self)).astype(np.int64)

    @cached_property
    def in_degree(self) -> Array:
        """Edges that reach each node; in an undirected graph a self-loop counts once here."""
        if not self.directed:
            return self.out_degree
        if self.multiplicity is None:
            return np.bincount(self.targets, minlength=len(self))
        return np.bincount(self.targets, weights=self.multiplicity, minlength=len(self)).astype(np.int64)

    @cached_property
    def degree(self) -> Array:
        """NetworkX's degree: in and out added; a self-loop counts twice."""
        if self.directed:
            return self.out_degree + self.in_degree
        loops = self.is_loop if self.multiplicity is None else self.multiplicity * self.is_loop
        return self.out_degree + np.bincount(self.sources, weights=loops, minlength=len(self)).astype(np.int64)

    def values(self, key: Hashable, default: Any = 1) -> EdgeValues:
        """The numbers of the edges under the attribute ``key``; an edge without it has ``default``."""
        wanted = (key, default)
        if wanted not in self._edge_values:
            self._edge_values[wanted] = edge_values(self, key, default)
        return self._edge_values[wanted]

    # ---- the same graph in other libraries' form ------------------------------------------------------------------

    def matrix(self, values: Array | None = None) -> csr_array:
        """A SciPy matrix of ``values`` (one per arc; ones by default), rows in NetworkX's order."""
        from scipy.sparse import csr_array

        data = np.ones(len(self.targets)) if values is None else values
        return csr_array((data, self.targets, self.offsets), shape=(len(self),) * 2)

    @cached_property
    def dromos(self) -> Graph:
        """The graph of distinct edges, without weights, for Dromos's own algorithms."""
        from dromos.graph.graph import Graph
        from dromos.graph.records import Flags

        flags = Flags(directed=self.directed, symmetric=None if self.directed else True, parallel_edges=False)
        return Graph._make(self.offsets, self.targets, flags=flags)
