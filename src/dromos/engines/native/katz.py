"""Katz centralities of symmetric graphs, by conjugate gradients.

A program computes them by plain steps, ``x = beta + alpha A x``, as any matrix allows. For a symmetric matrix, the best
vector in the space of the same products needs two thirds of their number, and on a small graph a separate kernel avoids
the startup cost of a program. Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.compiling import Stopwatch
from dromos.engines.cpu.arc_blocks import may_be_worth_blocks
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.native.product import matrix_rows, team_for
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["katz"]

_BRIEF = 1 << 22  # the most arcs for a call that Ctrl-C need not stop


def katz(
    graph: Graph, *, alpha: float, beta: float, tolerance: float, limit: int, threads: int | None = None
) -> Mapping[str, Any]:
    """``centrality``, and why the run ended: ``converged``, or not within ``limit`` products (``""``).

    Converged means that a plain step changed the centralities by less than ``tolerance`` in sum. The result is empty if
    a program has to run instead: for matrices that may have no solution, or that a program gathers in blocks.

    >>> import dromos as dr
    >>> path = dr.generators.path(3)
    >>> katz(path, alpha=0.1, beta=1.0, tolerance=1e-6, limit=99)["centrality"].round(3).tolist()
    [1.122, 1.224, 1.122]
    >>> katz(path, alpha=0.9, beta=1.0, tolerance=1e-6, limit=99)
    {'steps': []}
    """
    from dromos.engines.native import katz_kernels as kernels
    from dromos.engines.native.product_kernels import BLOCK
    from dromos.jit import team_memory

    clock, n, team = Stopwatch(), graph.num_vertices, team_for(graph, threads)
    # With an eigenvalue of 1 or less, the residual never comes below the start's share of its vector, which is beta at
    # least: the start is the same everywhere, and the vector has one sign and length 1.
    if not tolerance < beta or may_be_worth_blocks(n, graph.num_arcs, 8 * n):
        return {"steps": []}
    x, residual, direction, product = (reused_empty(n, np.float64) for _ in range(4))
    stop, told = np.zeros(1, np.int64), np.zeros(2, np.int64)
    run_team(
        kernels.solve, matrix_rows(graph), float(alpha), tolerance / beta, limit, x, residual, direction, product,
        np.empty(4 * -(-n // BLOCK)), np.zeros(1, np.int64), team_memory(team), told, stop,
        threads=team, stop=None if graph.num_arcs < _BRIEF else stop,
    )  # fmt: skip
    products, ended = told.tolist()
    if ended == kernels.NOT_DEFINITE:
        return {"steps": []}
    x *= beta
    said = "the best centralities in the space of all products, by conjugate gradients"
    return {
        "centrality": x,
        "finished": "converged" if ended == kernels.CONVERGED else "",
        "steps": [(products, n, said, clock.seconds())],
    }
