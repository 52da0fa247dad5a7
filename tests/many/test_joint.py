"""Joint searches are single searches, whatever the number of sources, the engine and the path."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.many.program import joint_program
from dromos.engines.native import joint as native
from dromos.engines.native.joint import Rules, joint
from dromos.errors import InvalidArgumentError
from tests.algorithms.support import examples, graphs, legal_paths, on_every_device

ALWAYS, NEVER = 1 << 36, 0
# each way to find a level, taken at every level
WAYS = {
    "by a list": Rules(many=NEVER, listing=NEVER),
    "by ranges of targets": Rules(many=NEVER, listing=ALWAYS, short=0),
    "by atomics": Rules(many=NEVER, listing=ALWAYS, short=ALWAYS),
    "from below": Rules(many=ALWAYS, few=ALWAYS, listing=ALWAYS),
    "light ones by ranges": Rules(many=ALWAYS, few=2, worth=0, listing=ALWAYS, short=0),
    "light ones by atomics": Rules(many=ALWAYS, few=2, worth=0, listing=ALWAYS, short=ALWAYS),
    "mixed": Rules(many=1, few=4, worth=1, listing=4, short=1),
}


def single(graph, source, limit=None):
    return dr.bfs(graph, graph.labels.values_of(np.array([source]))[0] if graph.labels else source, limit).level


_levels = {}


def levels_from_everywhere(graph):
    """Of a search from each vertex; kept, since the same graphs are drawn for each way and number of threads."""
    key = graph.offsets.tobytes(), graph.targets.tobytes()
    if key not in _levels:
        _levels[key] = [dr.bfs(graph, source).level for source in range(graph.num_vertices)]
    return _levels[key]


def collected(graph, groups, **options):
    rows, founds = {}, {}

    def keep(found):
        founds[found.group] = found
        if found.distance is not None:
            rows[found.group] = found.distance.copy()

    joint(graph, groups=groups, consume=keep, **options)
    return rows, founds


@on_every_device
@examples(20)
@given(graphs(low=1, high=12), st.integers(0, 3))
def test_every_source_is_searched_from_as_if_alone(device, graph, limit):
    limit = limit or None
    result = dr.distances(graph, range(graph.num_vertices), depth_limit=limit, device=device)
    for source in range(graph.num_vertices):
        assert np.array_equal(result.distance[source], dr.bfs(graph, source, limit, device="reference").level)
    if graph.num_vertices > 1:
        result.verify()


@examples(8)
@given(graphs(low=2, high=7))
def test_the_program_gives_the_same_on_every_legal_path(graph):
    sources = list(range(graph.num_vertices))
    expected = dr.multi_source_bfs(graph, sources, device="cpu")
    for path in legal_paths(graph, joint_program(1)):
        result = dr.multi_source_bfs(graph, sources, device="reference", path=path)
        for field in ("reached", "depth", "distance_sum"):
            assert np.array_equal(result[field], expected[field])
        assert np.allclose(result.inverse_sum, expected.inverse_sum)
        assert result.sharing == pytest.approx(expected.sharing)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 128, 200, 512])
def test_groups_of_every_width_on_one_and_on_two_threads(count):
    graph = dr.generators.rmat(10, seed=5)
    sources = np.random.default_rng(1).integers(0, graph.num_vertices, count)  # some of them more than once
    for threads in (1, 2):
        rows, founds = collected(graph, [sources], distance=np.int32, threads=threads)
        found = founds[0]
        for place in range(0, count, 9):
            level = single(graph, int(sources[place]))
            assert np.array_equal(rows[0][place], level)
            assert (found.reached[place], found.distance_sum[place]) == (
                np.count_nonzero(level > 0),
                level[level > 0].sum(),
            )
            assert found.inverse_sum[place] == pytest.approx((1 / level[level > 0]).sum())
            assert found.depth[place] == level.max()
        instances = (rows[0] >= 0).sum()
        frontiers = sum(np.count_nonzero((rows[0] == level).any(axis=0)) for level in range(rows[0].max() + 1))
        assert found.joint == frontiers
        assert found.sharing == pytest.approx(instances / frontiers)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("threads", [1, 2, 3])
@examples(10)
@given(graphs(low=2, high=40))
def test_every_way_to_find_a_level_finds_the_same(way, threads, graph):
    sources = np.arange(graph.num_vertices)
    with patch.multiple(native, _SMALL=0, _RULES=WAYS[way]):
        rows, founds = collected(graph, [sources], distance=np.int32, threads=threads)
    for source, level in enumerate(levels_from_everywhere(graph)):
        assert np.array_equal(rows[0][source], level)
        assert (founds[0].reached[source], founds[0].depth[source]) == (np.count_nonzero(level > 0), level.max())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [64, 130, 500])
def test_every_way_on_a_graph_with_hubs_and_rows_in_any_order(way, count):
    ordered = dr.generators.rmat(10, seed=5)
    rng = np.random.default_rng(2)
    shuffled = ordered.targets.copy()
    for begin, end in zip(ordered.offsets[:-1], ordered.offsets[1:], strict=True):
        rng.shuffle(shuffled[begin:end])
    sources = rng.choice(ordered.num_vertices, count, replace=False)
    expected = [single(ordered, int(source)) for source in sources[::9]]
    for graph in (ordered, dr.Graph.from_csr(ordered.offsets, shuffled)):
        with patch.multiple(native, _SMALL=0, _RULES=WAYS[way]):
            rows, founds = collected(graph, [sources, sources[::-1]], distance=np.int32, threads=2)
        assert np.array_equal(rows[0][::9], expected)
        assert np.array_equal(rows[0], rows[1][::-1])
        assert (founds[0].joint, founds[0].levels) == (founds[1].joint, founds[1].levels)


def test_many_groups_are_spread_over_the_threads_of_a_small_graph():
    graph = dr.generators.rmat(8, seed=2)
    groups = [np.arange(begin, begin + 16) for begin in range(0, 256, 16)]
    together, _ = collected(graph, groups, distance=np.int32, threads=1)
    apart, _ = collected(graph, groups, distance=np.int32, threads=2)
    assert set(apart) == set(range(16))
    for number in range(16):
        assert np.array_equal(together[number], apart[number])


def test_a_trouble_of_the_consumer_ends_the_search():
    graph = dr.generators.rmat(8, seed=2)

    def refuse(found):
        raise RuntimeError("enough")

    for threads in (1, 2):
        with pytest.raises(RuntimeError, match="enough"):
            joint(graph, groups=[np.arange(8)] * 9, consume=refuse, threads=threads)


def test_hubs_first_gives_the_same(monkeypatch):
    from dromos.engines.native import joint_order

    monkeypatch.setattr(joint_order, "_LARGE", 1)
    graph = dr.generators.rmat(9, seed=4)
    groups = [np.arange(0, 64), np.arange(64, 150)]
    words, _ = collected(graph, groups, want_seen=True), None
    assert joint_order.in_hub_order(graph, 0) is not None
    for number, sources in enumerate(groups):
        for place in (0, 5, 63):
            seen = words[1][number].seen
            level = single(graph, int(sources[place]))
            if number == len(groups) - 1:  # the words of an earlier group were overwritten
                bits = (seen[:, place // 64] >> np.uint64(place % 64)) & np.uint64(1)
                assert np.array_equal(bits.astype(bool), level >= 0)
            assert words[1][number].distance_sum[place] == level[level > 0].sum()


@pytest.mark.parametrize("length", [13, 14, 15, 16, 17, 40])
@pytest.mark.parametrize("hubs_first", [False, True])
def test_distances_of_any_number_of_digits(monkeypatch, length, hubs_first):
    from dromos.engines.native import joint_order

    monkeypatch.setattr(joint_order, "_LARGE", 1 if hubs_first else 1 << 40)
    path, leaves = np.arange(length), np.arange(length, length + 700)  # a hub at the end of a path, and one apart
    graph = dr.Graph.from_edges(
        np.concatenate([path, np.full(700, length)]), np.concatenate([path + 1, leaves + 1]),
        num_vertices=length + 702, directed=False,
    )  # fmt: skip
    sources = np.random.default_rng(3).permutation(graph.num_vertices)[:260]
    rows, _ = collected(graph, [sources], distance=np.int16)
    assert (joint_order.in_hub_order(graph, 0) is not None) == hubs_first
    assert rows[0].shape == (260, graph.num_vertices)
    for place, source in enumerate(sources):
        assert np.array_equal(rows[0][place], single(graph, int(source)))


def test_a_lattice_is_searched_from_above_and_a_dense_graph_from_below():
    _, founds = collected(dr.generators.grid(40, 40), [np.arange(3)], threads=1)
    assert (founds[0].pulled, founds[0].levels) == (0, 78)
    _, founds = collected(dr.generators.rmat(10, seed=1), [np.arange(64)], threads=1)
    assert founds[0].pulled > 0


def test_the_trace_has_a_row_for_each_group_with_its_sharing_degree():
    graph = dr.generators.rmat(10, seed=1)
    result = dr.multi_source_bfs(graph, range(600), device="cpu")
    assert len(result.trace) == len(result.groups) == 2
    assert "sharing degree" in result.trace[0].reason
    assert 1 <= result.sharing <= 512
    result.verify()


def test_no_second_copy_of_the_graph_beyond_the_memory_that_is_allowed(monkeypatch):
    from dromos.engines.native import joint_order

    monkeypatch.setattr(joint_order, "_LARGE", 1)
    graph = dr.generators.rmat(9, seed=6)
    bytes_of_it = joint_order._copy_bytes(graph)
    assert joint_order.in_hub_order(graph, 1000, bytes_of_it - 1) is None
    monkeypatch.setattr(joint_order, "_allowed", lambda: bytes_of_it - 1)
    assert joint_order.in_hub_order(graph, 1000) is None
    monkeypatch.setattr(joint_order, "_allowed", lambda: bytes_of_it)
    made = joint_order.in_hub_order(graph, 1000, bytes_of_it)
    taken = (made.graph.offsets, made.graph.targets, made.new_ids, made.old_ids)
    assert sum(array.nbytes for array in taken) <= bytes_of_it


def bundle_of_paths(length: int) -> dr.Graph:
    """A path of ``length`` edges, each of them eight times: deep, though its degrees are high."""
    ends = np.repeat(np.arange(length), 8)
    return dr.Graph.from_edges(ends, ends + 1, directed=False)


@pytest.mark.parametrize(
    ("length", "kind"), [(3, np.int8), (14, np.int8), (15, np.int8), (127, np.int8), (128, np.int16), (200, np.int16)]
)
def test_distances_are_of_the_narrowest_type(length, kind):
    for graph in (dr.generators.path(length + 1), bundle_of_paths(length)):
        result = dr.distances(graph, [0, length])
        assert result.distance.dtype == kind
        assert result.distance.tolist() == [list(range(length + 1)), list(range(length, -1, -1))]
    assert dr.distances(graph, [0], dtype=np.int32).distance.dtype == np.int32
    assert dr.distances(graph, [0], depth_limit=2).distance.dtype == np.int8


def test_a_type_that_is_too_narrow_is_refused():
    with pytest.raises(InvalidArgumentError, match="dtype=int8 cannot hold a distance of 200; leave dtype out"):
        dr.distances(bundle_of_paths(200), [0], dtype="int8")
    for strange in ("uint8", "float32", "no type"):
        with pytest.raises(InvalidArgumentError, match="is not one of int8, int16, int32"):
            dr.distances(bundle_of_paths(2), [0], dtype=strange)
    with pytest.raises(InvalidArgumentError, match="distances by weight are float64"):
        dr.distances(dr.Graph.from_edges([0], [1], [2.0]), [0], weight="weight", dtype="int8")
