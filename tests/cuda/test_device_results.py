"""Results that stay on the device, and trouble with the device itself."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda import CudaEngine
from dromos.engines.cuda.transfers import to_host
from dromos.errors import DeviceError

pytestmark = pytest.mark.gpu


def graph() -> dr.Graph:
    found = dr.generators.rmat(9, 8, seed=4, symmetrize=True)
    return dr.generators.with_random_weights(found, 1, 9, seed=1)


def test_results_stay_on_the_device_when_asked() -> None:
    g = graph()
    kept, copied = dr.bfs(g, 1, device=CudaEngine({"on_device": True})), dr.bfs(g, 1, device="cuda")
    assert hasattr(kept.level, "__cuda_array_interface__")
    assert hasattr(kept.level, "__dlpack__")
    assert isinstance(copied.level, np.ndarray)
    np.testing.assert_array_equal(kept.to_host().level, copied.level)
    kept.verify()
    assert kept.top(3, by="level") == copied.top(3, by="level")
    assert kept.at(1)["level"] == 0
    assert kept.to_pandas().level.tolist() == copied.level.tolist()


@pytest.mark.parametrize("call", [lambda g, **how: dr.sssp(g, 1, **how), dr.pagerank, dr.connected_components])
def test_other_algorithms_leave_theirs_too(call: Any) -> None:
    g = graph()
    result = call(g, device=CudaEngine({"on_device": True}))
    result.verify()
    first = next(iter(result))
    np.testing.assert_allclose(result.to_host()[first], call(g, device="cpu")[first], rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda g, **how: dr.bfs(g, 1, **how),
        dr.core_numbers,
        dr.triangles,
        dr.label_propagation,
        dr.connected_components,
        lambda g, **how: dr.betweenness(g, sources=[1, 5], **how),
    ],
)
def test_keep_on_device_leaves_the_arrays_there(call: Any) -> None:
    g = graph()
    kept = call(g, device="cuda", keep_on_device=True)
    first = next(iter(kept))
    assert hasattr(kept[first], "__cuda_array_interface__")
    np.testing.assert_allclose(kept.to_host()[first], call(g, device="cpu")[first], rtol=1e-9)
    kept.verify()


def weighted_pagerank(g: dr.Graph, **how: Any) -> Any:
    """With values by vertex and sums of weights, which the device keeps."""
    return dr.pagerank(g, personalization=np.arange(g.num_vertices) + 1.0, **how)


CALLS = {
    "random_walk_with_restart": lambda g, **how: dr.random_walk_with_restart(g, 1, **how),
    "random walk by edges": lambda g, **how: dr.random_walk_with_restart(g, 1, weight=None, **how),
    "pagerank by given values": weighted_pagerank,
    "residual pagerank": lambda g, **how: dr.pagerank(g, method="delta", **how),
    "residual pagerank by edges": lambda g, **how: dr.pagerank(g, method="delta", weight=None, **how),
    "personalized_pagerank": lambda g, **how: dr.personalized_pagerank(g, [1, 5, 9], **how),
    "more seeds than run at once": lambda g, **how: dr.personalized_pagerank(g, range(1, 11), weight=None, **how),
    "spmv": lambda g, **how: dr.spmv(g, np.arange(g.num_vertices) / 7, **how),
    "hits": dr.hits,
    "k_core": lambda g, **how: dr.k_core(g, 3, **how),
    "the densest core": dr.k_core,
    "maximal_independent_set": dr.maximal_independent_set,
    "clustering": dr.clustering,
    "transitivity": dr.transitivity,
    "strongly_connected_components": dr.strongly_connected_components,
    "closeness": lambda g, **how: dr.closeness(g, sources=range(1, 71), **how),
    "closeness in small groups": lambda g, **how: dr.closeness(g, k=150, seed=2, memory=250_000, **how),
    "harmonic": lambda g, **how: dr.harmonic(g, nbunch=[1, 5], **how),
    "harmonic from some": lambda g, **how: dr.harmonic(g, nbunch=[1, 5], sources=range(70), **how),
    "harmonic from a sample": lambda g, **how: dr.harmonic(g, k=70, seed=1, **how),
}


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_the_same_wherever_they_are_left(name: str) -> None:
    call, g = CALLS[name], graph()
    expected = call(g, device="numpy")
    for _ in range(2):  # the second run finds memory and copies of the first
        kept, copied = call(g, device="cuda", keep_on_device=True), call(g, device="cuda")
        field = next(name for name in kept if name != "source")
        assert hasattr(kept[field], "__cuda_array_interface__")
        assert isinstance(copied[field], np.ndarray)
        for found in (kept.to_host(), copied):
            np.testing.assert_allclose(found[field], expected[field], rtol=1e-4, atol=2e-6)
        kept.verify()
        copied.verify()


def test_arguments_may_lie_on_the_device() -> None:
    import cupy

    g = graph()
    x = np.linspace(0, 1, g.num_vertices)
    expected = dr.spmv(g, x, device="numpy").y
    for device in ("cuda", "numpy"):  # from which it is copied to the host
        result = dr.spmv(g, cupy.asarray(x), device=device)
        np.testing.assert_allclose(result.y, expected, rtol=1e-12)
        result.verify()
    ranks = dr.pagerank(g, personalization=cupy.asarray(x), device="cuda")
    np.testing.assert_allclose(ranks.rank, dr.pagerank(g, personalization=x, device="numpy").rank, rtol=1e-5)
    ranks.verify()
    with pytest.raises(dr.DromosError, match="not finite"):
        dr.spmv(g, cupy.full(g.num_vertices, np.inf), device="cuda")


def test_hits_of_a_directed_graph_stay_on_the_device_between_products() -> None:
    g = dr.generators.rmat(8, 8, seed=4)
    kept = dr.hits(g, device="cuda", keep_on_device=True)
    assert hasattr(kept.hub, "__cuda_array_interface__")
    np.testing.assert_allclose(kept.to_host().authority, dr.hits(g, device="numpy").authority, atol=1e-7)


@pytest.mark.parametrize("shape", [0, 10, 5_000_001, (3, 2_000_003)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_arrays_of_all_sizes_are_copied_as_they_are(shape: Any, dtype: type) -> None:
    import cupy

    there = (cupy.arange(np.prod(shape)) % 251).astype(dtype).reshape(shape)
    np.testing.assert_array_equal(to_host(there), there.get())
    place = np.zeros_like(there.get())
    assert to_host(there, place) is place
    np.testing.assert_array_equal(place, there.get())
    np.testing.assert_array_equal(to_host(there[::2]), there.get()[::2])


def test_torch_takes_a_field_without_a_copy() -> None:
    torch = pytest.importorskip("torch")
    field = dr.bfs(graph(), 1, device=CudaEngine({"on_device": True})).level
    tensor = torch.from_dlpack(field)
    assert tensor.data_ptr() == field.data.ptr
    assert tensor.cpu().numpy().tolist() == field.get().tolist()


def test_two_threads_share_a_device() -> None:
    g = graph()
    expected = [dr.bfs(g, source, device="cpu").level for source in range(4)]
    found: dict[int, Any] = {}

    def search(source: int) -> None:
        for _ in range(5):
            found[source] = dr.bfs(g, source, device="cuda").level

    threads = [threading.Thread(target=search, args=(source,)) for source in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for source in range(4):
        np.testing.assert_array_equal(found[source], expected[source])


def at_rest(pool: Any) -> int:
    """The bytes in use once no thread or collection of an earlier test frees any more: they would be room."""
    seen: list[int] = []
    while len(seen) < 3 or len({*seen[-3:]}) > 1:
        gc.collect()
        time.sleep(0.05)
        seen.append(pool.used_bytes())
    return seen[-1]


def test_too_little_memory_is_told_with_the_numbers_and_harms_nothing() -> None:
    import cupy

    g = graph()
    dr.bfs(g, 1, device="cuda")
    pool = cupy.get_default_memory_pool()
    before = pool.get_limit()
    from dromos.engines.cuda.device_graph import forget

    forget()
    pool.set_limit(size=at_rest(pool) + 1024)
    try:
        with pytest.raises(DeviceError, match=r"GiB .*GiB"):
            dr.bfs(g, 1, device="cuda")
    finally:
        pool.set_limit(size=before)
    np.testing.assert_array_equal(dr.bfs(g, 1, device="cuda").level, dr.bfs(g, 1, device="cpu").level)


def test_a_device_is_taken_by_itself_where_the_graph_is_worth_it() -> None:
    large = dr.generators.rmat(14, 16, seed=1, symmetrize=True)
    assert dr.bfs(large, 1).device == "cuda"
    assert dr.bfs(dr.generators.path(4), 0).device == "cpu"


def test_the_trace_tells_every_level_and_its_direction() -> None:
    large = dr.generators.rmat(14, 16, seed=1, symmetrize=True)
    source = int(np.argmax(large.out_degree))
    result = dr.bfs(large, source, device="cuda")
    assert len(result.trace) == result.iterations == result.level.max() + 1
    assert [row.frontier for row in result.trace] == np.bincount(result.level[result.level >= 0]).tolist()
    assert len(result.trace.paths) == 2


def test_a_thread_may_begin_with_a_question_about_a_kernel() -> None:
    from dromos.engines.cuda.compiler import load

    source = 'extern "C" __global__ void nothing() {}'
    found: list[int] = []
    module = load(source, "nothing")
    thread = threading.Thread(target=lambda: found.append(module.cooperative_grid("nothing", 64)))
    thread.start()
    thread.join()
    assert found[0] > 0  # an error in the thread leaves none
