"""Kernels whose graph lies in part in the host's memory, and those that leave their work to the CPU."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda import CudaEngine
from dromos.errors import DeviceError

pytestmark = pytest.mark.gpu

CALLS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "edge_betweenness": lambda g, **how: _fields(dr.edge_betweenness(g, k=20, seed=1, **how)),
    "walks": lambda g, **how: _fields(dr.random_walks(g, 20, 3, **how)),
    "walks, second order": lambda g, **how: _fields(dr.random_walks(g, 20, 3, p=0.5, q=2.0, **how)),
    "similarity": lambda g, **how: _fields(dr.node_similarity(g, **how)),
    "sampling": lambda g, **how: _sample(dr.sample_neighbors(g, range(100), [5, 5], **how)),
}


def _fields(result: dr.Result) -> tuple[Any, ...]:
    return (result.device, *(result[name] for name in result))


def _sample(sample: Any) -> tuple[Any, ...]:
    return sample.device, sample.vertices, sample.edge_index


def _graph(scale: int = 10) -> dr.Graph:
    return dr.generators.with_random_weights(dr.generators.rmat(scale, 8, seed=3), 1, 9, seed=1)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_arcs_in_the_memory_of_the_host(call: Callable[..., tuple[Any, ...]]) -> None:
    graph = _graph()
    device, *found = call(graph, device=CudaEngine({"share": 0.4}))
    _, *want = call(graph, device="cpu")
    assert device == "cuda"
    for mine, theirs in zip(found, want, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_vertices_in_the_given_order(call: Callable[..., tuple[Any, ...]]) -> None:
    graph = _graph()
    _, *found = call(graph, device=CudaEngine({"renumber": False}))
    for mine, theirs in zip(found, call(graph, device="cuda")[1:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


@pytest.mark.parametrize("name", CALLS.keys())
def test_the_cpu_answers_where_a_gpu_that_nobody_asked_for_has_no_room(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **options: Any) -> None:
        raise DeviceError("the GPU's memory is full")

    kernel = name.partition(",")[0]
    monkeypatch.setattr(import_module(f"dromos.engines.cuda.native.{kernel}"), kernel, full)
    monkeypatch.setattr(import_module("dromos.algorithms.random_walks"), "_FEW_STEPS", 0)
    graph = _graph(14)  # large enough for a GPU
    with pytest.raises(DeviceError):
        CALLS[name](graph, device="cuda")
    assert CALLS[name](graph)[0] == "cpu"
