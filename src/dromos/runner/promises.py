"""What a program promises about its graph, held against the graph before the run."""

from __future__ import annotations

import numpy as np

from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.weight_range import range_of_weights
from dromos.program import Program

__all__ = ["check_weights"]


def check_weights(program: Program, graph: Graph) -> None:
    """Refuse a graph with weights that the program's ``edge_weights`` rules out.

    >>> import dromos as dr
    >>> class Likeliest(dr.Program):
    ...     edge_weights = "nonnegative"
    ...     chance = dr.field(float, init=1.0)
    ...     combine = dr.MAX
    ...     def compute(self, u, edge, v): return u.chance * edge.weight
    ...     def update(self, v, message): return dr.maximum(v.chance, message)
    >>> check_weights(Likeliest(), Graph.from_edges([0], [1], [-0.5]))
    Traceback (most recent call last):
    dromos.errors.InvalidArgumentError: Likeliest promises edge_weights = 'nonnegative', but a weight is -0.5; ...
    """
    ir = program.ir()
    if ir.edge_weights == "any":
        return
    low, high = range_of_weights(graph)
    wrong = low if low < 0 or (ir.edge_weights == "positive" and low == 0) else high if np.isinf(high) else None
    if wrong is not None:
        raise InvalidArgumentError(
            f"{ir.name} promises edge_weights = {ir.edge_weights!r}, but a weight is {wrong:g}; use a graph "
            "with such weights, all finite, or remove the promise from the program, which then runs on fewer paths"
        )
