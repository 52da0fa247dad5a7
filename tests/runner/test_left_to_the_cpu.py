"""A kernel of a GPU that is not for every call: the CPU's answers those it does not take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines import LeftToHostError, NativeKernel
from dromos.engines.cuda.native import communities


class _Gpu:
    """An engine that has one kernel, which leaves graphs of up to five vertices to the CPU."""

    name = "cuda"

    def prepare(self, *_: Any) -> Any:
        raise NotImplementedError

    def native(self, name: str) -> NativeKernel | None:
        assert name == "communities"
        return self._communities

    def _communities(self, graph: dr.Graph, **options: Any) -> Mapping[str, Any]:
        assert set(options) >= {"refined", "tries", "rounds", "resolution", "seed"}
        if graph.num_vertices <= 5:
            raise LeftToHostError("too few")
        return {"levels": [np.zeros(graph.num_vertices, np.int32)]}


@pytest.mark.parametrize(("size", "device", "count"), [(5, "cpu", 2), (6, "cuda", 1)])
def test_who_answers(size: int, device: str, count: int) -> None:
    found = dr.louvain(dr.generators.path(size), device=_Gpu())  # type: ignore[arg-type]
    assert found.device == device
    assert found.count == count


def test_an_engine_need_not_tell() -> None:
    assert dr.louvain(dr.generators.path(6), device="numpy").device == "numpy"


def test_the_gpus_communities_are_for_large_graphs() -> None:
    wants, large = communities.WANTS, dr.generators.grid(300, 300)
    assert dr.generators.path(100).num_arcs < wants.least_arcs <= large.num_arcs
    weighted = large.with_weights(np.ones(large.num_arcs))
    assert wants.state_bytes(weighted) > wants.state_bytes(large) > 32 * large.num_arcs


def test_a_kernel_may_know_the_sums_of_the_modularity() -> None:
    class Summing(_Gpu):
        def native(self, name: str) -> NativeKernel | None:
            levels = [np.array([0, 0, 0, 1, 1, 1], np.int32)]
            return lambda graph, **options: {"levels": levels, "sums": (4.0, np.array([5.0, 5.0]))}

    path = dr.generators.path(6)
    found = dr.louvain(path, device=Summing())  # type: ignore[arg-type]
    assert found.modularity == dr.modularity(path, found).modularity
