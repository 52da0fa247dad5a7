"""The eigenvector of a symmetric matrix's greatest eigenvalue, by Lanczos' method.

Power iteration gains a digit per a number of products that depends on the ratio of the two greatest eigenvalues. The
best vector in the space that the same products span is as good after about the square root of their number. Lanczos,
"An iteration method for the solution of the eigenvalue problem of linear differential and integral operators", 1950.

All products and the operations between them are one kernel: on a small graph they take less time than calls of NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.native.product import matrix_rows, team_for
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["lanczos"]

_BRIEF = 1 << 26  # the most arcs in all for a call that Ctrl-C need not stop


def lanczos(
    graph: Graph, *, start: Array, most: int, tolerance: float, back: Graph | None = None, threads: int | None = None
) -> Mapping[str, Any]:
    """``vector``: the best one in the space of ``start`` and up to ``most`` products with a symmetric matrix.

    The matrix is that of a symmetric ``graph``, or its product with that of ``back``, which has the same edges
    reversed. The vector has length 1 and no negative entries. Stops early if another product would change it by less
    than ``tolerance`` in sum, relative to its eigenvalue; ``steps`` is the number of products.

    >>> import dromos as dr
    >>> lanczos(dr.generators.path(3), start=np.ones(3), most=8, tolerance=1e-12)["vector"].round(3).tolist()
    [0.5, 0.707, 0.5]
    """
    from dromos.engines.native import lanczos_kernels as kernels
    from dromos.engines.native.product_kernels import BLOCK
    from dromos.jit import team_memory

    clock = Stopwatch()
    n, team, passes = graph.num_vertices, team_for(graph, threads), 1 if back is None else 2
    basis, best = reused_empty((most + passes) * n, np.float64), np.empty(n)
    basis[:n] = start
    stop, told = np.zeros(1, np.int64), np.zeros(1, np.int64)
    rows = matrix_rows(graph)
    run_team(
        kernels.span, rows, rows if back is None else matrix_rows(back), back is not None, basis,
        best, most, float(tolerance), np.empty(5 * -(-n // BLOCK)),
        np.empty(team * kernels.ROOMS * (most + 1)), np.zeros(passes * most, np.int64), team_memory(team), told, stop,
        threads=team, stop=None if passes * most * graph.num_arcs < _BRIEF else stop,
    )  # fmt: skip
    products = passes * int(told[0])
    said = "the best vector in the space of all products, by Lanczos' method"
    return {"vector": best, "steps": [(products, n, said, clock.seconds())]}
