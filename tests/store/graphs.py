"""Graphs for the tests of the store: drawn by Hypothesis, and a few fixed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import dromos as dr


@st.composite
def graphs(draw: st.DrawFn) -> dr.Graph:
    """Small graphs of every kind: directed or not, weighted in every type, with labels, loops and parallel edges."""
    n = draw(st.integers(0, 12))
    m = draw(st.integers(0, 40)) if n else 0
    ends = st.lists(st.integers(0, max(0, n - 1)), min_size=m, max_size=m)
    src, dst = np.array(draw(ends), dtype=np.int64), np.array(draw(ends), dtype=np.int64)
    options: dict[str, Any] = {
        "directed": draw(st.booleans()),
        "dedupe": draw(st.booleans()),
        "drop_self_loops": draw(st.booleans()),
    }
    dtype = draw(st.sampled_from([None, np.float32, np.float64, np.int32]))
    if dtype is not None:
        values = st.lists(st.integers(-5, 5), min_size=m, max_size=m)
        options["weight"] = np.array(draw(values), dtype=dtype)
    labels = draw(st.sampled_from([None, "int", "str"]))
    if labels == "int":
        options["labels"] = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n, unique=True))
    elif labels == "str" and n:
        options["labels"] = draw(st.lists(st.text(max_size=4), min_size=n, max_size=n, unique=True))
    return dr.Graph.from_edges(src, dst, num_vertices=n, **options)


def sample() -> dr.Graph:
    """A directed graph with all sections: weights, a transpose, string labels."""
    rng = np.random.default_rng(5)
    names = [f"vertex {i} é" for i in range(60)]
    return dr.Graph.from_edges(
        rng.integers(0, 60, 300), rng.integers(0, 60, 300), rng.random(300), num_vertices=60, labels=names
    )
