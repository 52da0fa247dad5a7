"""Graphs that lie on the device in part, and in the host's memory for the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.algorithms.arguments import simple
from dromos.engines.cuda import CudaEngine, rows, spanning
from dromos.engines.cuda.device_graph import DeviceGraph, device_graph
from dromos.engines.cuda.residency import Residency
from dromos.engines.cuda.spanning import GRANULE, spanning_array
from dromos.errors import DeviceError, ResourceError
from dromos.program import Program
from tests.cuda.test_engine_paths import EXAMPLES, check, example, uneven_graph

pytestmark = pytest.mark.gpu

SHARES = pytest.mark.parametrize("share", [0.0, 0.5])


def large(weighted: bool = True) -> dr.Graph:
    """Some 4 million arcs: half of them are several granules."""
    found = dr.generators.rmat(17, 16, seed=3, symmetrize=True)
    return dr.generators.with_random_weights(found, 1, 99, seed=2) if weighted else found


@pytest.fixture(scope="module")
def graph() -> dr.Graph:
    return large()


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_every_program_reads_the_hosts_memory_as_it_reads_its_own(kind: type[Program]) -> None:
    small = uneven_graph(2)
    check(example(kind, small.num_vertices), small, share=0.0)


ALGORITHMS: dict[str, Callable[..., Any]] = {
    "bfs": lambda g, **how: dr.bfs(g, 5, **how).level,
    "sssp": lambda g, **how: dr.sssp(g, 5, **how).distance,
    "pagerank": lambda g, **how: dr.pagerank(g, **how).rank,
    "components": lambda g, **how: dr.connected_components(g, **how).label,
    "core_numbers": lambda g, **how: dr.core_numbers(g, **how).core,
    "triangles": lambda g, **how: dr.triangles(g, **how).triangles,
    "label_propagation": lambda g, **how: dr.label_propagation(g, max_iter=3, **how).label,
    "betweenness": lambda g, **how: dr.betweenness(g, sources=[1, 5, 9], **how).centrality,
    "distances": lambda g, **how: dr.distances(g, [1, 5, 9], **how).distance,
}


@SHARES
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_on_a_graph_that_is_there_in_part(name: str, share: float, graph: dr.Graph) -> None:
    call = ALGORITHMS[name]
    found = call(graph, device=CudaEngine({"share": share}))
    np.testing.assert_allclose(found, call(graph, device="cpu"), rtol=1e-5)
    used = simple(graph) if name in ("core_numbers", "triangles", "betweenness") else graph
    assert device_graph(used).residency.share == share


@SHARES
@pytest.mark.parametrize("renumber", [True, False], ids=["by degree", "as given"])
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "f8"])
def test_rows_are_the_same_however_they_are_brought(
    monkeypatch: pytest.MonkeyPatch, share: float, renumber: bool, dtype: str, graph: dr.Graph
) -> None:
    weighted = graph.with_weights(graph.weights.astype(dtype))  # type: ignore[union-attr]
    whole = DeviceGraph.from_host(weighted, renumber=renumber)
    monkeypatch.setattr(rows, "_LEAST_PIECE", 1 << 12)  # a hub alone has more arcs
    partly = DeviceGraph.from_host(weighted, renumber=renumber, residency=Residency(share, share, scratch=1 << 22))
    assert partly.nbytes < whole.nbytes
    for name in ("offsets", "targets", "weights"):
        ours = getattr(partly.out, name)
        np.testing.assert_array_equal((ours + 0).get(), getattr(whole.out, name).get())  # the sum lies on the device


class Sums(dr.Program):
    """Every superstep adds up the numbers of all in-neighbours, at first their ids: whole numbers, so exact."""

    number = dr.field(np.int64)
    combine = dr.SUM

    def init(self, v: Any) -> Any:
        return dr.cast(v.id, np.int64)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.number

    def update(self, v: Any, message: Any) -> Any:
        return message + v.number

    def active(self, old: Any, new: Any) -> Any:
        return True


class WeightSums(dr.Program):
    """The sum of the weights of all in-arcs."""

    total = dr.field(np.int64)
    combine = dr.SUM

    def init(self, v: Any) -> Any:
        return 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return dr.cast(edge.weight, np.int64)

    def update(self, v: Any, message: Any) -> Any:
        return message


@pytest.mark.parametrize(
    ("low", "high", "kept"),
    [(1, 255, "uint8"), (-100, 99, "int8"), (0, 60_000, "uint16"), (-300, 300, "int16"), (0, 100_000, "int32")],
)
@pytest.mark.parametrize("directed", [False, True])
def test_whole_weights_on_the_host_take_no_more_bytes_than_they_need(
    low: int, high: int, kept: str, directed: bool
) -> None:
    found = dr.generators.rmat(12, 8, seed=4, symmetrize=not directed)
    values = np.random.default_rng(1).integers(low, high + 1, found.num_arcs)
    values[:2] = low, high
    if not directed:  # both arcs of an edge have one weight, in an order that only the ends decide
        src = np.repeat(np.arange(found.num_vertices), np.diff(found.offsets))
        ends = np.minimum(src, found.targets).astype(np.int64) * 4096 + np.maximum(src, found.targets)
        values = low + ends % (high - low + 1)
        values[ends == ends[0]], values[ends == ends[-1]] = low, high
    weighted = found.with_weights(values.astype(np.int64))
    engine = CudaEngine({"share": 0.0})
    ours = dr.run(WeightSums(), weighted, device=engine, max_iter=1)["total"]
    np.testing.assert_array_equal(ours, dr.run(WeightSums(), weighted, device="cpu", max_iter=1)["total"])
    assert device_graph(weighted).out.weights.dtype == kept
    if low >= 0:
        distance = dr.sssp(weighted, 5, device=engine).distance
        np.testing.assert_array_equal(distance, dr.sssp(weighted, 5, device="cpu").distance)


@pytest.mark.parametrize("share", [0.0, 0.15, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("directed", [False, True])
def test_rows_in_packs_are_the_rows_as_they_were(share: float, directed: bool, graph: dr.Graph) -> None:
    """The shares cut the rows at different lengths: those of a block, of a warp, and of a part of it."""
    found = dr.generators.rmat(17, 16, seed=5) if directed else graph
    engine, plain = CudaEngine({"share": share}), CudaEngine({"share": share, "packed": False})
    ours = dr.run(Sums(), found, device=engine, max_iter=2)
    packed = device_graph(found).packed
    assert packed is not None
    assert packed.words.nbytes < 3 * device_graph(found).into.targets_on_host / 4
    np.testing.assert_array_equal(ours["number"], dr.run(Sums(), found, device=plain, max_iter=2)["number"])
    np.testing.assert_array_equal(ours["number"], dr.run(Sums(), found, device="cpu", max_iter=2)["number"])
    for dtype, tolerance in (("float32", 1e-4), ("float64", 1e-10)):
        rank = dr.pagerank(found, weight=None, device=engine, dtype=dtype).rank
        np.testing.assert_allclose(
            rank, dr.pagerank(found, weight=None, device="cpu", dtype=dtype).rank, rtol=tolerance
        )  # fmt: skip


def test_a_directed_graph_has_both_directions_in_part() -> None:
    directed = dr.generators.rmat(16, 16, seed=3)
    engine = CudaEngine({"share": 0.5})
    np.testing.assert_array_equal(dr.bfs(directed, 5, device=engine).level, dr.bfs(directed, 5, device="cpu").level)
    np.testing.assert_allclose(
        dr.pagerank(directed, device=engine).rank, dr.pagerank(directed, device="cpu").rank, rtol=1e-6
    )


def test_a_run_keeps_within_its_memory() -> None:
    import cupy

    found = large(weighted=False)
    dr.bfs(found, 5, device="cuda")  # what is compiled and kept, whatever the graph
    whole = device_graph(found).nbytes
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()  # what other tests hold, too
    result = dr.bfs(found, 5, device="cuda", memory="24M")
    copy = device_graph(found)
    assert 0 < copy.residency.share < 1
    assert copy.nbytes < whole
    np.testing.assert_array_equal(result.level, dr.bfs(found, 5, device="cpu").level)
    assert copy.nbytes + pool.used_bytes() - before < 24 << 20
    dr.bfs(found, 6, device="cuda", memory="24M")
    assert device_graph(found) is copy, "the same budget finds the same copy"
    dr.bfs(found, 6, device="cuda")
    assert device_graph(found).residency.share == 1, "without a budget all of it is brought"


def test_a_budget_that_does_not_hold_the_vertices_is_refused_with_what_is_needed() -> None:
    with pytest.raises(ResourceError, match=r"needs .* for the fields") as caught:
        dr.bfs(large(weighted=False), 5, device="cuda", memory="1M")
    assert caught.value.needed is not None
    assert caught.value.needed > 1 << 20


def test_a_graph_on_disk_runs_on_the_gpu(tmp_path: Path) -> None:
    file = tmp_path / "g.drm"
    found = dr.generators.rmat(12, 8, seed=3, symmetrize=True)
    dr.write(found, file)
    on_disk = dr.open(file)
    expected = dr.bfs(found, 5, device="cpu").level
    np.testing.assert_array_equal(dr.bfs(on_disk, 5, device="cuda").level, expected)
    np.testing.assert_array_equal(dr.bfs(on_disk, 5, device="cuda", memory="64M").level, expected)


def test_pinned_memory_that_is_refused_is_told(monkeypatch: pytest.MonkeyPatch, graph: dr.Graph) -> None:
    def refused(*_: Any) -> None:
        raise spanning._DriverError("cuMemCreate: out of memory")

    monkeypatch.setattr(spanning, "_map", refused)
    with pytest.raises(DeviceError, match=r"pinned memory on the host and .* could not be had .*out of memory"):
        dr.bfs(graph.with_weights(None), 5, device=CudaEngine({"share": 0.5}))


@pytest.mark.parametrize("name", ["bfs", "components"])
def test_a_device_that_is_full_in_the_middle_of_a_run_is_told(
    name: str, monkeypatch: pytest.MonkeyPatch, graph: dr.Graph
) -> None:
    import cupy

    engine = CudaEngine({"share": 0.5})
    expected = ALGORITHMS[name](graph, device=engine)
    with monkeypatch.context() as patch:

        def full(*_: Any) -> None:
            raise cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30)

        patch.setattr(DeviceGraph, "to_given_order", full)
        with pytest.raises(DeviceError, match=r"memory is full: .* found no room .* GiB are free"):
            ALGORITHMS[name](graph, device=engine)
    np.testing.assert_array_equal(ALGORITHMS[name](graph, device=engine), expected)


def test_memory_goes_back_with_the_array() -> None:
    import cupy

    size = cupy.cuda.runtime.memGetInfo()[1] // 8 // GRANULE * GRANULE
    for _ in range(12):  # half as much again as the device has
        array = spanning_array(size + 2 * GRANULE, np.uint8, size)
        array[-3 * GRANULE :] = 7  # on both sides of the boundary
        assert int(array[-1]) == int(array[-3 * GRANULE]) == 7
        del array
