"""Products with a graph's matrix, and the eigenvector that Lanczos' method finds by them.

The space that products span is started again from its best vector when it has as many vectors as are kept.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Session

__all__ = ["Products", "kept_vectors"]

_FEWEST, _MOST = 8, 24
_SMALL_BYTES: Final = 64 << 20


class Products:
    """Products by the engine's own kernel, which are counted and told as progress towards ``limit``."""

    def __init__(self, session: Session, limit: int) -> None:
        self.used = 0
        self._session, self._limit = session, limit

    def __call__(self, graph: Graph, x: Array) -> Array:
        """The sums of ``x`` over the rows of ``graph``, times its weights."""
        return self._counted("product", "y", graph, x=x)

    def best_vector(
        self, graph: Graph, start: Array, most: int, tolerance: float, *, back: Graph | None = None
    ) -> Array:
        """The best one that up to ``most`` products lead to from ``start``; a product is two where ``back`` is given.

        See :func:`dromos.engines.native.lanczos.lanczos`.
        """
        options: dict[str, Any] = {} if back is None else {"back": back}
        return self._counted("lanczos", "vector", graph, start=start, most=most, tolerance=tolerance, **options)

    def _counted(self, kernel: str, field: str, graph: Graph, **options: Any) -> Array:
        fields = self._session.native(kernel, graph, **options)
        assert fields is not None, f"an engine without {kernel}"
        self.used += fields["steps"][0][0] if "steps" in fields else 1
        if self._session.progress is not None:
            self._session.progress(self.used, self._limit)
        return np.asarray(fields[field])


def kept_vectors(graph: Graph) -> int:
    """How many vectors to keep: about as many bytes as the graph's arcs have, but never very few, and many small ones.

    >>> import dromos as dr
    >>> kept_vectors(dr.generators.path(1 << 20)), kept_vectors(dr.generators.path(9))
    (8, 24)
    """
    if 8 * _MOST * graph.num_vertices <= _SMALL_BYTES:
        return _MOST
    return int(np.clip(graph.num_arcs // max(2 * graph.num_vertices, 1), _FEWEST, _MOST))
