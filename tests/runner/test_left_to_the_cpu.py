"""A kernel of a GPU that is not for every call: the CPU's answers those it does not take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines import NativeKernel
from dromos.engines.cuda.native import communities


class _Gpu:
    """An engine that has one kernel, which takes graphs of more than five vertices."""

    name = "cuda"

    def prepare(self, *_: Any) -> Any:
        raise NotImplementedError

    def native(self, name: str) -> NativeKernel | None:
        return lambda graph, **options: {"levels": [np.zeros(graph.num_vertices, np.int32)]}

    def takes(self, name: str, graph: dr.Graph, arguments: Mapping[str, Any], *, must_fit: bool) -> bool:
        assert name == "communities"
        assert set(arguments) >= {"refined", "tries", "rounds", "resolution", "seed"}
        assert not must_fit  # it was asked for
        return graph.num_vertices > 5


@pytest.mark.parametrize(("size", "device", "count"), [(5, "cpu", 2), (6, "cuda", 1)])
def test_who_answers(size: int, device: str, count: int) -> None:
    found = dr.louvain(dr.generators.path(size), device=_Gpu())  # type: ignore[arg-type]
    assert found.device == device
    assert found.count == count


def test_an_engine_need_not_tell() -> None:
    assert dr.louvain(dr.generators.path(6), device="numpy").device == "numpy"


def test_the_gpus_communities_are_for_large_graphs() -> None:
    assert not communities.takes(dr.generators.path(100), refined=True)
    large = dr.generators.grid(300, 300)
    assert communities.takes(large, refined=True)
    weighted = large.with_weights(np.ones(large.num_arcs))
    assert communities.state_bytes(weighted) > communities.state_bytes(large) > 32 * large.num_arcs


def test_a_kernel_may_know_the_sums_of_the_modularity() -> None:
    class Summing(_Gpu):
        def native(self, name: str) -> NativeKernel | None:
            levels = [np.array([0, 0, 0, 1, 1, 1], np.int32)]
            return lambda graph, **options: {"levels": levels, "sums": (4.0, np.array([5.0, 5.0]))}

    path = dr.generators.path(6)
    found = dr.louvain(path, device=Summing())  # type: ignore[arg-type]
    assert found.modularity == dr.modularity(path, found).modularity
