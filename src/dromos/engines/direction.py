"""The rows along which a program's messages go: of the graph, of its transpose, or of both (every edge both ways)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, check_params
from dromos.engines.arc_order import in_order, sorted_arcs
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.identity_cache import IdentityCache
from dromos.program import Program
from dromos.program.direction import WAYS, hidden_params

__all__ = ["along", "refuse_direction"]

_kept: Final = IdentityCache()


def along(program: Program, graph: GraphLike) -> tuple[Program, GraphLike]:
    """The program as an engine runs it, and the graph whose out-arcs carry its messages.

    >>> import dromos as dr
    >>> class Followers(dr.Program):
    ...     direction = "in"
    ...     count = dr.field(np.int64, init=0)
    ...     combine = dr.SUM
    ...     def compute(self, u, edge, v): return 1
    ...     def update(self, v, message): return v.count + message
    ...     def active(self, old, new): return False
    >>> graph = dr.Graph.from_edges([0, 0], [1, 2])
    >>> along(Followers(), graph)[1] is graph.transpose, dr.run(Followers(), graph, device="numpy").count.tolist()
    (True, [2, 0, 0])
    """
    ir = program.ir()
    if ir.direction == "out":
        return program, graph
    check_params(program, graph)
    by_edge = [spec.name for spec in ir.edge_params if spec.name in program.params]
    if ir.direction == "in" and not by_edge and not getattr(graph, "directed", True):
        return program, graph
    if ir.direction == "in":
        into = graph.transpose
        order = in_order(graph, into) if by_edge else None
        return program.given(**{name: program.params[name][order] for name in by_edge}), into
    rows = _BothWays.of(graph)
    given: dict[str, Any] = {name: program.params[name][rows.numbers(graph)] for name in by_edge}
    for name, fact in hidden_params(ir).items():
        given[name] = rows.way(graph, fact) if fact in WAYS else _fact(graph, fact)
    return program.given(**given), graph if rows.graph is None else rows.graph


def refuse_direction(program: Program, what: str) -> None:
    """Raise for a direction other than the default; for places that hold the rows of one direction only."""
    ir = program.ir()
    if ir.direction != "out":
        raise InvalidArgumentError(
            f"{ir.name} has direction = {ir.direction!r}, and {what} sends along out-edges only; take the graph into "
            "memory with dr.read(path)"
        )


def _fact(graph: GraphLike, name: str) -> Any:
    value = getattr(graph, name)
    return value.astype(np.int64) if isinstance(value, np.ndarray) else np.int64(value)


class _BothWays:
    """A directed graph with every edge both ways (a self-loop once); an undirected graph already is one."""

    def __init__(self, graph: GraphLike) -> None:
        whole = isinstance(graph, Graph) and graph.directed
        self.graph: Graph | None = graph.symmetrized(dedupe=False) if whole else None  # type: ignore[attr-defined]
        self._facts: tuple[Array, Array] | None = None

    @classmethod
    def of(cls, graph: GraphLike) -> _BothWays:
        """The instance of a graph, made once."""
        return _kept.once(graph, "both ways", lambda: cls(graph))

    def _matched(self, graph: GraphLike) -> tuple[Array, Array]:
        """For each arc, the index of the original arc that it stands for, and whether it goes along or against it."""
        if self._facts is None:
            both = self.graph
            assert both is not None
            sources, targets = _owners(graph), graph.targets
            back = np.flatnonzero(sources != targets)
            numbers = np.concatenate((np.arange(len(targets)), back))
            ways = np.full(len(numbers), 1, np.uint8)
            ways[len(targets) :] = 2
            ways[: len(targets)][sources == targets] = 3
            weights = None if graph.weights is None else graph.weights[numbers]
            ends = np.concatenate((targets, sources[back])), np.concatenate((sources, targets[back]))
            given = sorted_arcs(*ends, weights)
            found = np.empty(len(numbers), np.int64)
            found[sorted_arcs(both.targets, _owners(both), both.weights)] = given
            self._facts = numbers[found], ways[found]
        return self._facts

    def numbers(self, graph: GraphLike) -> Array | slice:
        """The index of each arc's given values."""
        return slice(None) if self.graph is None else self._matched(graph)[0]

    def way(self, graph: GraphLike, name: str) -> Array:
        """Whether an arc goes along its edge (``forward``) or against it; in undirected graphs both hold."""
        if self.graph is None:
            return np.ones(graph.num_arcs, dtype=bool)
        ways = self._matched(graph)[1]
        return np.asarray(ways & (1 if name == "forward" else 2), dtype=bool)


def _owners(graph: GraphLike) -> Array:
    return np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
