"""Small graphs, drawn by Hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dromos.graph import Graph


@st.composite
def graphs(draw: st.DrawFn, max_vertices: int = 8, directed: bool | None = None) -> Graph:
    """Small graphs with loops, parallel edges and isolated vertices."""
    n = draw(st.integers(1, max_vertices))
    ends = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ends, ends, st.integers(1, 9)), max_size=3 * n))
    columns = np.array(edges, dtype=np.int64).reshape(-1, 3)
    both_ways = draw(st.booleans()) if directed is None else not directed
    return Graph.from_edges(
        columns[:, 0],
        columns[:, 1],
        columns[:, 2].astype(np.float32),
        num_vertices=n,
        directed=not both_ways,
        threads=1,
    )
