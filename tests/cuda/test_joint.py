"""Joint searches on the GPU are single searches, whatever the width, the types and the shape of the graph."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.dtypes import Array
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.joint import joint
from dromos.engines.joint_groups import Found
from dromos.engines.native.joint import joint as joint_on_cpu

pytestmark = pytest.mark.gpu

DATA = Path(__file__).parent.parent / "data"


def _star() -> dr.Graph:
    return dr.Graph.from_edges(np.zeros(70_000, int), np.arange(1, 70_001), directed=False)


def _arcs() -> dr.Graph:
    src, dst = np.random.default_rng(4).integers(0, 300, (2, 900))
    return dr.Graph.from_edges(src, dst, num_vertices=320)


GRAPHS: dict[str, Callable[[], dr.Graph]] = {
    "one vertex": lambda: dr.Graph.from_edges([], [], num_vertices=1),
    "path": lambda: dr.generators.path(70),
    "star": _star,
    "arcs": _arcs,
    "rmat": lambda: dr.generators.rmat(13, 16, seed=3, symmetrize=True),
    "grid": lambda: dr.generators.grid(40, 50),
}


def _search(graph: dr.Graph, groups: list[Array], **options: Any) -> list[Found]:
    renumber = options.pop("renumber", True)
    founds: list[Found] = []

    def keep(found: Found) -> None:
        founds.append(found._replace(distance=None if found.distance is None else found.distance.copy()))

    joint(DeviceGraph.from_host(graph, renumber=renumber), groups=groups, consume=keep, **options)
    return founds


def _check(graph: dr.Graph, found: Found, limit: int | None = None) -> None:
    assert found.distance is not None
    for place in range(0, len(found.sources), max(1, len(found.sources) // 16)):
        source = int(found.sources[place])
        label = source if graph.labels is None else graph.labels.values_of(np.array([source]))[0]
        level = dr.bfs(graph, label, limit, device="cpu").level
        beyond = level[level > 0]
        np.testing.assert_array_equal(found.distance[place], level)
        assert (found.reached[place], found.distance_sum[place]) == (len(beyond), beyond.sum())
        assert found.depth[place] == level.max()
        assert found.inverse_sum[place] == pytest.approx((1 / beyond).sum())
    instances = (found.distance >= 0).sum()
    levels = range(found.distance.max() + 1)
    frontiers = sum(np.count_nonzero((found.distance == level).any(axis=0)) for level in levels)
    assert (found.joint, found.sharing) == (frontiers, pytest.approx(instances / frontiers))


@pytest.mark.parametrize("count", [1, 64, 65, 200, 512])
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_every_width_on_every_shape(make: Callable[[], dr.Graph], count: int) -> None:
    graph = make()
    sources = np.random.default_rng(count).integers(0, graph.num_vertices, count)  # some of them more than once
    _check(graph, *_search(graph, [sources], distance=np.int32))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_distances_of_every_type(dtype: type) -> None:
    graph = GRAPHS["rmat"]()
    found = _search(graph, [np.arange(100)], distance=dtype)[0]
    assert found.distance is not None
    assert found.distance.dtype == dtype
    _check(graph, found)


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("name", ["path", "arcs", "rmat"])
def test_no_deeper_than_asked_for(name: str, limit: int) -> None:
    graph = GRAPHS[name]()
    _check(graph, *_search(graph, [np.arange(70)], distance=np.int32, limit=limit), limit)


@pytest.mark.parametrize("renumber", [True, False])
def test_one_group_leaves_nothing_to_the_next(renumber: bool) -> None:
    graph = GRAPHS["arcs"]()
    groups = [np.arange(0, 128), np.arange(100, 130), np.arange(200, 320)]
    for group, found in zip(groups, _search(graph, groups, distance=np.int32, renumber=renumber), strict=True):
        np.testing.assert_array_equal(found.sources, group)
        _check(graph, found)


def test_the_words_of_all_vertices_have_a_bit_for_each_search_that_was_there() -> None:
    graph = GRAPHS["arcs"]()
    found = _search(graph, [np.arange(100)], distance=np.int32, want_seen=True)[0]
    assert found.seen is not None
    assert found.distance is not None
    bits = np.unpackbits(np.ascontiguousarray(found.seen).view(np.uint8), axis=1, bitorder="little")[:, :100]
    np.testing.assert_array_equal(bits.T.astype(bool), found.distance >= 0)


@pytest.mark.parametrize("name", ["path", "rmat", "star"])
def test_a_kernel_that_ran_out_of_time_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(import_module("dromos.engines.cuda.native.joint"), "_NANOSECONDS", 0)
    graph = GRAPHS[name]()
    _check(graph, *_search(graph, [np.arange(70)], distance=np.int32))


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
@pytest.mark.parametrize("targets", [np.int32, np.int64])
def test_wide_ids_and_offsets_give_the_same(targets: type, offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import Rows

    graph, founds = GRAPHS["rmat"](), []
    rows = Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(targets)))
    joint(DeviceGraph(rows, None), groups=[np.arange(90)], consume=founds.append, distance=np.int32)
    _check(graph, founds[0])


def _check_against_the_cpu(graph: dr.Graph, sources: Array) -> None:
    """All distances and sums; the CPU's are held against single searches in ``tests/many``."""
    groups = [sources[begin : begin + 512] for begin in range(0, len(sources), 512)]
    seen = 0

    def compare(found: Found) -> None:
        nonlocal seen
        wanted: list[Found] = []
        joint_on_cpu(graph, groups=[found.sources], consume=wanted.append, distance=np.int16)
        assert wanted[0].distance is not None
        assert found.distance is not None
        np.testing.assert_array_equal(found.distance, wanted[0].distance)
        for name in ("reached", "distance_sum", "depth"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted[0], name))
        np.testing.assert_allclose(found.inverse_sum, wanted[0].inverse_sum)
        assert found.joint == wanted[0].joint
        seen += len(found.sources)

    joint(DeviceGraph.from_host(graph), groups=groups, consume=compare, distance=np.int16)
    assert seen == len(sources)


@pytest.mark.parametrize("count", [60, 100, 200, 512])
def test_searches_that_lag_behind_the_others(count: int) -> None:
    graph = dr.generators.rmat(16, 16, seed=3, symmetrize=True)
    degree = np.diff(graph.offsets)
    sources = np.concatenate([np.flatnonzero(degree == 1)[: count // 2], np.argsort(-degree)[: count - count // 2]])
    _check_against_the_cpu(graph, sources)


@pytest.mark.parametrize(
    "name",
    ["4elt.graph.gz", "PGPgiantcompo.graph.gz", "ego-Facebook.txt.gz", "email-Enron.txt.gz", "p2p-Gnutella31.e.gz",
     "wiki-Vote.txt.gz"],
)  # fmt: skip
def test_every_source_of_real_graphs(name: str) -> None:
    graph = dr.read(DATA / name)
    _check_against_the_cpu(graph, np.arange(graph.num_vertices))


def test_a_group_that_does_not_fit_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy

    def refuse(*_: Any) -> None:
        raise cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30, 0)

    monkeypatch.setattr(import_module("dromos.engines.cuda.native.joint"), "Search", refuse)
    with pytest.raises(dr.errors.DeviceError, match=r"512 searches does not fit.*memory="):
        _search(GRAPHS["path"](), [np.arange(70)] * 2 + [np.zeros(512, int)])
