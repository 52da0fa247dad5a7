"""Transposes, subgraphs, relabellings and the rest, against SciPy's matrices and NetworkX."""

from __future__ import annotations

from unittest.mock import patch

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import GraphDataError, InvalidArgumentError, UnknownVertexError
from dromos.graph import build_small, transform

BOTH = st.booleans()


@st.composite
def graphs(draw, weighted=BOTH, directed=BOTH):
    n = draw(st.integers(1, 12))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    weight = np.arange(1, len(pairs) + 1, dtype=np.float64) if draw(weighted) else None
    return dr.Graph.from_edges(*columns.T, weight, num_vertices=n, directed=draw(directed))


def arcs_of(g):
    """All arcs with their weights, parallel ones too, in one order."""
    src, dst, weight = g.edges(arcs=True)
    weight = np.ones(len(src)) if weight is None else weight
    return sorted(zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True))


def assert_flags_are_true(g):
    found = dr.Graph.from_csr(g.offsets, g.targets, g.weights, directed=g.directed).flags
    for name, claim in vars(g.known_flags).items():
        assert claim in (None, getattr(found, name)), name


@given(graphs())
def test_transpose(g):
    back = g.transpose
    assert arcs_of(back) == sorted((v, u, w) for u, v, w in arcs_of(g))
    assert_flags_are_true(back)
    assert back.sorted
    assert back.transpose is g
    assert (back is g) == bool(g.known_flags.symmetric)
    np.testing.assert_array_equal(back.out_degree, g.in_degree)
    assert g.reverse() is back


def assert_merged(g, whole, merge):
    """The weight of every edge of `whole` is made by the rule from all edges of `g` between its ends."""
    if g.weights is None:
        return
    between = {}
    for u, v, w in zip(*(column.tolist() for column in g.edges()), strict=True):
        between.setdefault((min(u, v), max(u, v)), []).append(w)
    rule = {"first": lambda held: held[0], "min": min, "max": max, "sum": sum}[merge]
    for u, v, w in arcs_of(whole):
        assert w == rule(between[min(u, v), max(u, v)])


@given(graphs(), st.sampled_from(["first", "min", "max", "sum"]), st.booleans())
def test_symmetrized(g, merge, dedupe):
    whole = g.symmetrized(dedupe=dedupe, merge_weights=merge)
    assert not whole.directed
    assert_flags_are_true(whole)
    pairs = {(u, v) for u, v, _ in arcs_of(g)}
    assert {(u, v) for u, v, _ in arcs_of(whole)} == pairs | {(v, u) for u, v in pairs}
    if dedupe:
        assert not whole.has_parallel_edges
        assert_merged(g, whole, merge)
    elif g.directed:
        assert whole.num_edges == g.num_edges


@given(graphs(), st.data())
def test_subgraph(g, data):
    chosen = data.draw(st.lists(st.integers(0, g.num_vertices - 1), unique=True))
    part = g.subgraph(chosen)
    assert part.labels.to_numpy().tolist() == chosen
    number = {vertex: i for i, vertex in enumerate(chosen)}
    expected = [(number[u], number[v], w) for u, v, w in arcs_of(g) if u in number and v in number]
    assert arcs_of(part) == sorted(expected)
    assert part.directed == g.directed
    assert_flags_are_true(part)


@given(graphs(), st.data())
def test_rows_that_are_in_order_are_not_sorted_again(g, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=g.num_vertices, max_size=g.num_vertices)))
    turned = data.draw(st.booleans())
    if turned:  # rows from their ends: not in order
        at = np.concatenate([np.arange(*ends)[::-1] for ends in zip(g.offsets, g.offsets[1:], strict=False)])
        weights = None if g.weights is None else g.weights[at.astype(int)]
        g = dr.Graph.from_csr(g.offsets, g.targets[at.astype(int)], weights, directed=g.directed)
    with patch.object(build_small, "is_preferred", lambda edges: False):
        part = g.subgraph(mask)
        with patch.object(transform, "_ascends", lambda ids: False):
            expected = g.subgraph(mask)
    assert transform.same_arrays(part, expected)
    assert part.known_flags == expected.known_flags
    assert_flags_are_true(part)


@given(graphs())
def test_loops_are_counted_by_row(g):
    expected = [sum(u == v == w for u, w, _ in arcs_of(g)) for v in range(g.num_vertices)]
    assert transform.loops_by_row(g).tolist() == expected
    assert transform.count_loops(g) == sum(expected)


def test_subgraph_by_mask_keeps_labels():
    g = dr.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"])
    assert g.subgraph(np.array([True, False, True])).labels.to_numpy().tolist() == ["a", "c"]
    assert g.subgraph(["c", "a"]).labels.to_numpy().tolist() == ["c", "a"]
    assert g.subgraph(np.array(["c", "a"])).num_edges == 1
    with pytest.raises(UnknownVertexError, match="no vertex is labelled"):
        g.subgraph([2, 0])
    assert g.neighbors("a").tolist() == [1]
    numbers = dr.Graph.from_edges([7, 9], [9, 7], labels=True)
    assert numbers.subgraph([9]).labels.to_numpy().tolist() == [9]
    assert numbers.neighbors(7).tolist() == [1]
    assert g.subgraph([]).num_vertices == 0


@pytest.mark.parametrize("names", [list, pa.array, lambda names: pa.array(names).dictionary_encode()])
def test_a_subgraph_without_vertices_has_labels_of_the_same_kind(names, tmp_path):
    g = dr.Graph.from_edges(names(["a", "b"]), names(["b", "c"]))
    none = g.subgraph([])
    assert none.labels.kind == "str"
    assert none.labels.to_numpy().dtype == object
    assert none.labels == g.subgraph(np.zeros(3, dtype=bool)).labels == none.subgraph([]).labels
    assert none.relabel_by_degree().graph.labels.kind == "str"
    for file in ("none.drm", "none.txt", "none.parquet", "none.npz"):
        none.write(tmp_path / file)
        assert dr.read(tmp_path / file).labels == none.labels, file
    assert dr.Graph.from_edges([7], [9], labels=True).subgraph([]).labels.kind == "int"


def test_subgraph_by_labels_that_end_in_zero_characters():
    g = dr.Graph.from_edges(["", "a"], ["\0", "a\0"])
    assert g.subgraph(["a\0", "\0"]).labels.to_numpy().tolist() == ["a\0", "\0"]


def test_a_large_subgraph_agrees_with_scipy():
    g = dr.generators.rmat(12, seed=1, symmetrize=False, weights=(1, 9), dedupe=True)
    chosen = np.random.default_rng(1).permutation(4096)[:3000]
    expected = sp.csr_array(g.to_scipy())[chosen][:, chosen]
    assert (g.subgraph(chosen).to_scipy() != expected).nnz == 0


@pytest.mark.parametrize(
    ("vertices", "error", "told"),
    [
        ([0, 3], UnknownVertexError, "no vertex 3"),
        ([-1], UnknownVertexError, "no vertex -1"),
        ([1, 1], InvalidArgumentError, "twice"),
        ([0.5], InvalidArgumentError, "whole numbers"),
        (np.zeros((1, 1), int), InvalidArgumentError, "one dimension"),
        (np.array([True, False]), InvalidArgumentError, "whole numbers"),
    ],
)
def test_subgraphs_that_are_not(vertices, error, told):
    with pytest.raises(error, match=told):
        dr.generators.path(3).subgraph(vertices)


@given(graphs(), st.booleans())
def test_relabel_by_degree(g, descending):
    r = g.relabel_by_degree(descending=descending)
    order = np.argsort(-g.out_degree if descending else g.out_degree, kind="stable")
    np.testing.assert_array_equal(r.old_ids, order)
    np.testing.assert_array_equal(r.new_ids[r.old_ids], np.arange(g.num_vertices))
    assert arcs_of(r.graph) == sorted((r.new_ids[u], r.new_ids[v], w) for u, v, w in arcs_of(g))
    np.testing.assert_array_equal(r.restore(r.graph.out_degree), g.out_degree)
    assert_flags_are_true(r.graph)


def test_relabelled_labels_follow_their_vertices():
    g = dr.Graph.from_edges(["a", "c", "c"], ["b", "a", "b"])
    r = g.relabel_by_degree()
    assert r.graph.labels.to_numpy().tolist() == ["c", "a", "b"]
    assert dr.Graph.from_edges([], []).relabel_by_degree().graph.num_vertices == 0


@given(graphs(weighted=st.just(False)), st.integers(0, 3))
def test_egonet_agrees_with_networkx(g, radius):
    expected = nx.ego_graph(g.to_networkx(), 0, radius=radius)
    assert g.egonet(0, radius).labels.to_numpy().tolist() == sorted(expected)


@pytest.mark.parametrize("radius", [-1, 1.5, True])
def test_egonet_with_a_bad_radius(radius):
    with pytest.raises(InvalidArgumentError, match="radius="):
        dr.generators.path(3).egonet(0, radius)


@given(graphs())
def test_cross_edges(g):
    part = np.arange(g.num_vertices) % 2
    crossing = g.cross_edges(part)
    src, dst, weight = g.edges()
    cut = part[src] != part[dst]
    np.testing.assert_array_equal(crossing.src, src[cut])
    np.testing.assert_array_equal(crossing.dst, dst[cut])
    assert (crossing.weight is None) == (weight is None)
    if weight is not None:
        np.testing.assert_array_equal(crossing.weight, weight[cut])


def test_cross_edges_need_a_part_for_each_vertex():
    with pytest.raises(GraphDataError, match=r"shape \(2,\)"):
        dr.generators.path(3).cross_edges([0, 1])


@given(graphs())
def test_loops_and_degrees(g):
    loops = sum(u == v for u, v, _ in arcs_of(g))
    assert g.num_self_loops == loops
    assert g.has_self_loops == (loops > 0)
    assert g.num_edges == (g.num_arcs if g.directed else (g.num_arcs + loops) // 2)
    np.testing.assert_array_equal(g.degree_histogram(), np.bincount(g.out_degree))
    np.testing.assert_array_equal(g.degree_histogram(direction="in"), np.bincount(g.in_degree))


@given(graphs(), st.randoms(use_true_random=False))
def test_symmetry_is_found_in_rows_of_any_order(g, random):
    orders = [random.sample(range(int(degree)), int(degree)) for degree in g.out_degree]
    shuffled = np.concatenate(
        [g.offsets[u] + np.array(order, dtype=np.int64) for u, order in enumerate(orders)] or [[]]
    ).astype(np.int64)
    tangled = dr.Graph.from_csr(
        g.offsets, g.targets[shuffled], None if g.weights is None else g.weights[shuffled]
    )  # fmt: skip
    arcs = arcs_of(g)
    assert tangled.symmetric == (arcs == sorted((v, u, w) for u, v, w in arcs))
    assert tangled.has_parallel_edges == (len({arc[:2] for arc in arcs}) < len(arcs))
    assert arcs_of(tangled) == arcs


def test_an_egonet_keeps_the_labels():
    named = dr.Graph.from_edges(["a", "a", "b", "d"], ["b", "c", "c", "a"])
    assert named.egonet("a").labels.to_numpy().tolist() == ["a", "b", "c"]
    numbered = dr.Graph.from_edges([30, 10, 10], [10, 20, 40], labels=True)
    assert sorted(numbered.egonet(10).labels.to_numpy().tolist()) == [10, 20, 40]
