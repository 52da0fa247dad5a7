"""Results that stay on the device, and trouble with the device itself."""

from __future__ import annotations

import threading
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


def test_too_little_memory_is_told_with_the_numbers_and_harms_nothing() -> None:
    import cupy

    g = graph()
    dr.bfs(g, 1, device="cuda")
    pool = cupy.get_default_memory_pool()
    before = pool.get_limit()
    from dromos.engines.cuda.device_graph import forget

    forget()
    pool.set_limit(size=pool.used_bytes() + 1024)
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
