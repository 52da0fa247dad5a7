"""Rows built by NumPy alone are the kernels' rows, to the order of parallel edges."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos.compiling import kernels_are_loaded
from dromos.graph import Graph, build, build_small, transform
from tests.sizes import examples

EDGES = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(-5, 9)), max_size=25),
    )
)


@pytest.mark.parametrize("kind", [None, np.float32, np.int32])
@examples(40)
@given(given=EDGES, mirror=st.booleans(), drop=st.booleans(), dedupe=st.booleans(), data=st.data())
def test_rows_are_those_of_the_kernels(kind, given, mirror, drop, dedupe, data):
    assert kernels_are_loaded()  # so the kernels are taken
    n, edges = given
    merge = data.draw(st.sampled_from(build.MERGE_RULES)) if dedupe and kind else "first"
    columns = np.array(edges, dtype=np.int64).reshape(-1, 3)
    weight = None if kind is None else columns[:, 2].astype(kind)
    src, dst = columns[:, 0], columns[:, 1]
    expected = build.build_csr(
        src, dst, weight, n, mirror=mirror, drop_self_loops=drop, dedupe=dedupe, merge_weights=merge, threads=1
    )
    found = build_small.rows(src, dst, weight, n, mirror=mirror, drop_loops=drop, dedupe=dedupe, merge=merge)
    assert [a.tolist() for a in found[:2]] == [a.tolist() for a in expected[:2]]
    assert found[1].dtype == expected[1].dtype
    assert (found[2] is None) == (expected[2] is None)
    if found[2] is not None and expected[2] is not None:
        assert found[2].tolist() == expected[2].tolist()
    loops, parallel, ascending = build_small.row_flags(*found[:2])
    flags = build.scan_rows(*expected[:2])
    assert (loops, parallel, ascending) == (flags.loops, flags.parallel, flags.sorted)


@pytest.mark.parametrize("kind", [None, np.float32, np.int32, np.float64, np.uint8])
@examples(40)
@given(given=EDGES, keep=st.integers(0, 127))
def test_transposes_and_subgraphs_are_those_of_the_kernels(kind, given, keep):
    assert kernels_are_loaded()  # so the kernels are taken
    n, edges = given
    columns = np.array(edges, dtype=np.int64).reshape(-1, 3)
    weight = None if kind is None else (columns[:, 2] % 100).astype(kind)
    graph = Graph.from_edges(columns[:, 0], columns[:, 1], weight, num_vertices=n, threads=1)
    back = graph.transpose
    found = build_small.transposed(graph.offsets, graph.targets, graph.weights)
    with patch.object(build_small, "_SMALL", -1):  # as if there were many arcs
        by_counting = build_small.transposed(graph.offsets, graph.targets, graph.weights)
    expected = (back.offsets, back.targets, back.weights)
    chosen = np.flatnonzero([keep >> v & 1 for v in range(n)])[::-1]
    new_ids = np.full(n, -1, graph.targets.dtype)
    new_ids[chosen] = np.arange(len(chosen))
    pairs = [
        *zip(found, expected, strict=True),
        *zip(by_counting, expected, strict=True),
        *zip(build_small.kept_arcs(graph, chosen, new_ids), transform._kept_arcs(graph, chosen, new_ids), strict=True),
    ]
    for ours, theirs in pairs:
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())
