"""Hypothesis strategies for graphs with everything that a format may have to keep."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dromos import Graph

VALUES = {
    "int32": st.integers(-(2**31), 2**31 - 1),
    "float32": st.floats(allow_nan=False, width=32),
    "float64": st.floats(allow_nan=False),
}
NAMES = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "str": st.text(max_size=5),
}


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    weights: tuple[str | None, ...] = (None, "int32", "float32", "float64"),
    labels: tuple[str | None, ...] = (None, "int", "str"),
    directed: tuple[bool, ...] = (True, False),
    max_vertices: int = 8,
) -> Graph:
    """Empty graphs, isolated vertices, self-loops and parallel edges included."""
    count = draw(st.integers(0, max_vertices))
    ids = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(ids, ids), max_size=16)) if count else []
    columns = np.array(edges, dtype=np.int64).reshape(-1, 2)
    kind = draw(st.sampled_from(weights))
    values = None
    if kind is not None:
        values = np.array(draw(st.lists(VALUES[kind], min_size=len(edges), max_size=len(edges))), dtype=kind)
    naming = draw(st.sampled_from(labels)) if count else None  # no labels at all have no kind
    names = None
    if naming is not None:
        names = draw(st.lists(NAMES[naming], min_size=count, max_size=count, unique=True))
    return Graph.from_edges(
        columns[:, 0], columns[:, 1], values,
        num_vertices=count, labels=names, directed=draw(st.sampled_from(directed)),
    )  # fmt: skip
