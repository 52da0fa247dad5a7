"""R-MAT and uniform graphs: the distribution, determinism, ranges, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.graph.generators import arguments, kronecker, rmat, rmat_edges, uniform, uniform_edges
from dromos.graph.generators.rmat import _alias_table

SIGNIFICANCE = 1e-4
RMAT_42 = [408127, 493601, 99429, 681829], [911642, 621659, 736905, 771843]
UNIFORM_42 = [190, 664, 323, 150], [789, 845, 565, 130]
QUADRANTS = (0.57, 0.19, 0.19, 0.05)


@pytest.mark.parametrize("scale", [1, 5, 12, 13, 20, 25])
def test_every_level_of_an_rmat_edge_chooses_quadrants_as_told(scale):
    edges = rmat_edges(scale, max(1, 2**18 >> scale), seed=1, permute=False, last=2**18)
    src, dst = edges.src.astype(np.int64), edges.dst.astype(np.int64)
    for level in range(scale):
        quadrant = 2 * (src >> level & 1) + (dst >> level & 1)
        expected = np.array(QUADRANTS) * len(src)
        assert chi_square_p(np.bincount(quadrant, minlength=4), expected) > SIGNIFICANCE


def chi_square_p(counts, expected=None):
    from scipy import stats  # takes a second to import, in every worker

    return stats.chisquare(counts, expected).pvalue


def test_the_levels_of_an_rmat_edge_are_independent():
    edges = rmat_edges(20, seed=2, permute=False, last=2**18)
    for one, other in [(0, 1), (4, 5), (9, 10), (0, 19)]:  # within a table, across tables, across words
        code = [2 * (edges.src >> level & 1) + (edges.dst >> level & 1) for level in (one, other)]
        counts = np.bincount(4 * code[0] + code[1], minlength=16)
        assert chi_square_p(counts, np.kron(QUADRANTS, QUADRANTS) * 2**18) > SIGNIFICANCE


@pytest.mark.parametrize("depth", [1, 2, 5, 6])
@pytest.mark.parametrize("quadrants", [QUADRANTS, (1.0, 0.0, 0.0, 0.0), (0.25, 0.25, 0.25, 0.25)])
def test_the_alias_table_holds_the_probabilities_to_two_to_the_minus_32(quadrants, depth):
    table = _alias_table(quadrants, depth)
    share = 2**32 // len(table)
    ends, others = (table & np.uint64(2**32 - 1)).astype(np.int64), (table >> np.uint64(32)).astype(np.int64)
    draws = ends.copy()
    np.add.at(draws, others, share - ends)
    exact = np.ones((1, 1))
    for _ in range(depth):
        exact = np.kron(exact, np.reshape(quadrants, (2, 2)))
    assert draws.sum() == 2**32
    assert np.abs(draws - exact.ravel() * 2**32).max() <= 1


def test_permuted_ids_are_the_plain_ones_renamed():
    plain, renamed = rmat_edges(8, seed=3, permute=False), rmat_edges(8, seed=3)
    names = dict(zip(plain.src.tolist(), renamed.src.tolist(), strict=True))
    assert [names.get(v, w) for v, w in zip(plain.dst.tolist(), renamed.dst.tolist(), strict=True)] == (
        renamed.dst.tolist()
    )
    assert len(set(names.values())) == len(names)


@pytest.mark.parametrize("make", [lambda **options: rmat_edges(12, 16, **options),
                                  lambda **options: uniform_edges(5_000, 70_000, **options)])  # fmt: skip
def test_edges_depend_on_their_number_and_the_seed_alone(make):
    whole = make(seed=9, threads=1)
    for threads in (2, 3):
        again = make(seed=9, threads=threads)
        np.testing.assert_array_equal(whole.src, again.src)
        np.testing.assert_array_equal(whole.dst, again.dst)
    parts = [make(seed=9, first=a, last=b) for a, b in [(0, 1), (1, 40_001), (40_001, None)]]
    np.testing.assert_array_equal(whole.src, np.concatenate([part.src for part in parts]))
    np.testing.assert_array_equal(whole.dst, np.concatenate([part.dst for part in parts]))
    assert (make(seed=10).src != whole.src).any()


def test_a_seed_means_the_same_edges_for_ever():
    edges = rmat_edges(20, seed=42, last=4)
    assert (edges.src.tolist(), edges.dst.tolist()) == RMAT_42
    edges = uniform_edges(1000, 4, seed=42)
    assert (edges.src.tolist(), edges.dst.tolist()) == UNIFORM_42


def test_ranges_far_out_need_no_memory_for_the_rest():
    edges = rmat_edges(40, first=2**43, last=2**43 + 100)
    assert edges.src.dtype == np.int64
    assert len(edges.src) == 100
    assert edges.src.max() > 2**35


def test_rmat_graph():
    g = rmat(10, seed=4)
    assert (g.num_vertices, g.num_edges, g.directed, g.symmetric) == (1024, 16 * 1024, False, True)
    assert g.has_parallel_edges
    assert g.has_self_loops
    assert g.out_degree.max() > 10 * g.out_degree.mean()  # a skewed graph
    simple = rmat(10, seed=4, dedupe=True, drop_self_loops=True)
    assert not simple.has_parallel_edges
    assert not simple.has_self_loops
    assert simple == dr.Graph.from_edges(
        *rmat_edges(10, seed=4), num_vertices=1024, directed=False, dedupe=True, drop_self_loops=True
    )
    directed = rmat(10, seed=4, symmetrize=False)
    assert directed.directed
    assert directed.num_arcs == 16 * 1024
    assert kronecker(10, seed=4) == g


def test_unpermuted_rmat_has_its_hubs_first():
    degrees = rmat(12, permute=False).out_degree
    assert degrees[:64].sum() > 10 * degrees[-64:].sum()


@pytest.mark.parametrize("scale", [0, 1])
def test_tiny_rmat(scale):
    g = rmat(scale, 3)
    assert (g.num_vertices, g.num_edges) == (2**scale, 3 * 2**scale)
    assert rmat(scale, 0).num_edges == 0


def test_weights_of_generators():
    g = kronecker(8, weights=(0.0, 1.0))
    assert g.weights.dtype == np.float32
    assert g.weights.min() >= 0
    assert g.weights.max() < 1
    assert rmat(8, weights=(1, 255)).weights.dtype == np.int32
    with pytest.raises(InvalidArgumentError, match="pair"):
        rmat(4, weights=3)


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        ((-1,), {}, "scale=-1"),
        ((49,), {}, "0..48"),
        ((2.5,), {}, "scale=2.5"),
        ((4, -1), {}, "edge_factor=-1"),
        ((4, 16, 0.6, 0.3, 0.2), {}, "exceeds 1"),
        ((4, 16, -0.1), {}, "a=-0.1"),
        ((4, 16, "x"), {}, "a='x'"),
        ((4, 2**60), {}, "2\\^62"),
        ((4,), {"first": 5, "last": 4}, "first=5"),
        ((4,), {"last": 257}, "last=257"),
        ((4,), {"threads": 0}, "threads=0"),
    ],
)
def test_bad_rmat_arguments(arguments, options, told):
    with pytest.raises(InvalidArgumentError, match=told):
        rmat_edges(*arguments, **options)


def test_graphs_beyond_memory_are_refused_with_the_numbers():
    with pytest.raises(ResourceError, match=r"scale 40 .* TiB .* GiB; .*rmat_edges"):
        rmat(40)
    with pytest.raises(ResourceError, match="smaller range"):
        rmat_edges(40)
    with pytest.raises(ResourceError, match="uniform_edges"):
        uniform(10**9, 10**13)


def test_the_memory_limit_is_the_control_groups_where_that_is_less(tmp_path, monkeypatch):
    machine = arguments.memory_limit()
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(arguments, "_CGROUP_LIMITS", (str(limit),))
    limit.write_text("1000\n")
    assert arguments.memory_limit() == 1000
    limit.write_text("max\n")
    assert arguments.memory_limit() >= machine


def test_uniform_graphs():
    g = uniform(1000, 5000, seed=1)
    assert (g.num_vertices, g.num_edges, g.directed) == (1000, 5000, False)
    edges = uniform_edges(100, 100_000, seed=1)
    for ends in (edges.src, edges.dst, (edges.src + 7 * edges.dst) % 100):
        assert chi_square_p(np.bincount(ends, minlength=100)) > SIGNIFICANCE
    assert uniform(scale=6, edge_factor=4).num_edges == 256
    simple = uniform(20, 500, dedupe=True, drop_self_loops=True, directed=True)
    assert simple.num_edges <= 20 * 19
    assert not simple.has_self_loops
    assert uniform(0, 0).num_vertices == 0
    assert uniform(5, 0).num_edges == 0


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        ((), {}, "num_vertices and num_edges, or scale"),
        ((5,), {}, "num_vertices and num_edges, or scale"),
        ((5, 5), {"scale": 3}, "not both"),
        ((-5, 5), {}, "num_vertices=-5"),
        ((5, -5), {}, "num_edges=-5"),
        ((0, 1), {}, "at least one vertex"),
    ],
)
def test_bad_uniform_arguments(arguments, options, told):
    with pytest.raises(InvalidArgumentError, match=told):
        uniform(*arguments, **options)
