"""The plainest place: slices and parts of a graph in memory, on any leaf engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dromos.engines import GraphLike, NativeKernel, check_params, graph_types
from dromos.engines.direction import along
from dromos.engines.parts import Leaf
from dromos.errors import InvalidArgumentError
from dromos.graph.slices import equal_edge_bounds
from dromos.places.dealing import DEALS, Deal, dealt, require_deal
from dromos.places.driver import PlacedExecution
from dromos.places.feed import MemoryFeed
from dromos.places.grid import Grid, GridCopyExchange, grid_feeds, require_grid
from dromos.places.operators import OPERATORS, Blocks
from dromos.program import Program
from dromos.whole_numbers import whole_number

__all__ = ["PlacedEngine"]


class PlacedEngine:
    """Runs programs over ``parts`` parts of a graph, each cut into ``slices`` slices, on ``leaf``.

    A list of leaves has one part each. ``deal``: which slices a part gets; see :mod:`dromos.places.dealing`.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> from dromos.engines.vectorised import VectorisedLeaf
    >>> from dromos.graph import Graph
    >>> from dromos.plan import Path
    >>> class Degrees(dr.Program):
    ...     count = dr.field(np.int64, init=0)
    ...     combine = dr.SUM
    ...     def compute(self, u, edge, v): return 1
    ...     def update(self, v, message): return v.count + message
    ...     def active(self, old, new): return False
    >>> run = PlacedEngine(VectorisedLeaf(), slices=2, parts=2).prepare(Degrees(), Graph.from_edges([0, 1], [2, 2]))
    >>> run.step(Path()).finished
    'frontier empty'
    >>> run.result()["count"].tolist()
    [0, 0, 2]
    """

    def __init__(
        self,
        leaf: Leaf | Sequence[Leaf],
        *,
        slices: int = 1,
        parts: int = 1,
        deal: str = "rows",
        grid: Grid | None = None,
        name: str | None = None,
        kernels: Mapping[str, NativeKernel] | None = None,
    ) -> None:
        """``grid``: parts in rows and columns, one slice each. ``kernels``: what no program can say, where the graph
        is whole."""
        several = isinstance(leaf, Sequence)
        if grid is not None:
            parts = grid.rows * grid.columns
        elif isinstance(leaf, Sequence):
            parts = len(leaf)
        for option, count in (("slices", slices), ("parts", parts)):
            number = whole_number(count)
            if number is None or number < 1:
                raise InvalidArgumentError(f"{option}={count!r} is not a whole number of 1 or more")
        known = {name: name for name in DEALS}
        if deal not in known:
            raise InvalidArgumentError(f"deal={deal!r} is not one of {', '.join(map(repr, DEALS))}")
        self.leaves: list[Leaf] = list(leaf) if isinstance(leaf, Sequence) else [leaf] * parts
        self.slices, self.parts, self.grid, self._kernels = slices, parts, grid, kernels or {}
        self.deal: Deal = known[deal]
        self._names = [each.name for each in self.leaves] if several else []
        kind = "+".join(self._names) if several else self.leaves[0].name
        how = "" if deal == "rows" else f", deal={deal}"
        how += f", grid={grid}" if grid else ""
        self.name = name or f"{kind} with slices={slices}, parts={parts}{how}"

    def prepare(self, program: Program, graph: GraphLike) -> PlacedExecution:
        """The program in its initial state on every part."""
        program, graph = along(program, graph)
        check_params(program, graph)
        types = graph_types(graph)
        bounds = equal_edge_bounds(graph.offsets, self.parts).tolist()
        ranges = list(pairwise(bounds))
        parts = [
            leaf.part(program, graph, types, first, last)
            for leaf, (first, last) in zip(self.leaves, ranges, strict=True)
        ]
        if self.grid is not None:
            require_grid(program)
            for number, part in enumerate(parts):
                self.grid.enter(part, number, bounds)
            blocks = grid_feeds(self.grid, graph, bounds)
            return PlacedExecution(program, graph, types, parts, blocks, GridCopyExchange(self.grid))
        require_deal(program, self.deal)
        feeds, exchange = dealt(self.deal, graph, parts, self.slices)
        return PlacedExecution(program, graph, types, parts, feeds, exchange, self._names)

    def native(self, name: str) -> NativeKernel | None:
        """None, unless given: hand-written kernels take whole graphs, so programs do their work here."""
        return self._kernels.get(name)

    def operator(self, name: str) -> NativeKernel | None:
        """What no program can say, over slices; None where there is no such operator, or kernels get whole graphs."""
        if name not in OPERATORS or self._kernels:
            return None

        def run(
            graph: GraphLike, *, directed: bool = False, weighted: bool = False, **options: Any
        ) -> Mapping[str, Any]:
            bounds = equal_edge_bounds(graph.offsets, self.parts).tolist()
            blocks = Blocks(
                graph,
                [MemoryFeed(graph, first, last, self.slices) for first, last in pairwise(bounds)],
                graph.targets.dtype,
                size=-(-graph.num_arcs // (self.slices * self.parts)),
                directions=("push", "pull") if directed else ("push",),
                weighted=weighted,
                threads=getattr(self.leaves[0], "threads", None),
            )
            return OPERATORS[name](blocks, self.leaves[0].name.partition(":")[0], **options)

        return run
