"""Rows in the host's memory reach the device in three ways: all of them give what the rows themselves do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda import CudaEngine, over_link, residency, row_buffers
from dromos.engines.cuda.device_graph import device_graph, forget
from dromos.errors import DeviceError
from dromos.plan.ways import LinkRates
from dromos.program import Program, analyse
from tests.cuda.test_engine_paths import EXAMPLES, TYPES, example, uneven_graph
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.running import run

pytestmark = pytest.mark.gpu


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of about a hundred arcs: small graphs take many, and some rows fit none."""
    monkeypatch.setattr(residency, "_MOST_BUFFERS", 2048)
    monkeypatch.setattr(row_buffers, "_ALIGNED", 16)
    monkeypatch.setattr(over_link, "_LEAST_PIECE", 1)


def check(program: Program, graph: dr.Graph, way: str) -> None:
    """Every synchronous path gives what the reference engine gives, and rows do go that way."""
    expected, _ = run(program, graph, "sync-push-dd")
    for path in analyse(program.typed(TYPES)).legal_paths:
        if not path.startswith("sync"):
            continue
        found, history = run(program, graph, path, engine=CudaEngine({"share": 0.0, "way": way}))
        taken = "pages" if "pull" in path or program.ir().edge_fields or program.ir().edge_params else way
        assert {row.after.way for row in history} <= {taken}, path
        for name in expected:
            if name != "parent":  # a choice among equals
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=1e-6, atol=1e-9, err_msg=f"{program} {path} {name}"
                )


@pytest.mark.usefixtures("small_buffers")
@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_every_program_is_the_reference_engines_whichever_way_rows_come(kind: type[Program]) -> None:
    for seed in (2, 3):
        graph = uneven_graph(seed)
        for way in ("pages", "gathered"):
            check(example(kind, graph.num_vertices), graph, way)


@pytest.mark.usefixtures("small_buffers")
@pytest.mark.parametrize("seed", range(3))
def test_random_programs_are_too(seed: int) -> None:
    engines = [CudaEngine({"share": 0.0, "way": way}) for way in ("pages", "gathered")]
    assert list(disagreements(random_program(seed), seed, *engines, graphs=3, only="sync")) == []


def weighted_sums(graph: dr.Graph, **how: Any) -> Any:
    return dr.spmv(graph, np.arange(graph.num_vertices) % 7.0, **how).y


ALGORITHMS: dict[str, Callable[..., Any]] = {
    "bfs": lambda g, **how: dr.bfs(g, 5, **how).level,
    "sssp": lambda g, **how: dr.sssp(g, 5, **how).distance,
    "pagerank": lambda g, **how: dr.pagerank(g, max_iter=5, tol=0, on_limit="return", **how).rank,
    "spmv": weighted_sums,
}


@pytest.fixture(scope="module")
def large() -> dr.Graph:
    """Some 4 million arcs: several pieces of a megabyte, and half of them on the device."""
    return dr.generators.with_random_weights(dr.generators.rmat(17, 16, seed=3, symmetrize=True), 1, 99, seed=2)


@pytest.fixture(scope="module")
def whole(large: dr.Graph) -> dr.Graph:
    """The same graph, all of which lies on the device."""
    return large.with_weights(large.weights)


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("way", ["auto", "in place", "pages", "gathered"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms(
    name: str, way: str, share: float, large: dr.Graph, whole: dr.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residency, "_MOST_BUFFERS", 3 << 20)
    forget(large)  # a copy of the same share would keep its larger buffers
    found = ALGORITHMS[name](large, device=CudaEngine({"share": share, "way": way}))
    np.testing.assert_allclose(found, ALGORITHMS[name](whole, device="cuda"), rtol=1e-5)


def test_the_quickest_way_is_taken_by_the_rates(
    large: dr.Graph, whole: dr.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sums(dr.Program):
        """The sum of the weights of all in-arcs and of the number before, in every superstep."""

        number = dr.field(np.int64)
        combine = dr.SUM

        def init(self, v: Any) -> Any:
            return 0

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return dr.cast(edge.weight, np.int64)

        def update(self, v: Any, message: Any) -> Any:
            return message + v.number

        def active(self, old: Any, new: Any) -> Any:
            return True

    expected = dr.run(Sums(), whole, device="cuda", max_iter=3)["number"]
    for rates, taken in (
        (LinkRates(in_place=1e3, pages=1e15, gathered=1e3), "pages"),
        (LinkRates(in_place=1e15, pages=1e3, gathered=1e3), "in place"),
    ):
        monkeypatch.setattr(over_link, "link_rates", lambda rates=rates: rates)
        forget(large)
        result = dr.run(Sums(), large, device=CudaEngine({"share": 0.25}), max_iter=3)
        np.testing.assert_array_equal(result["number"], expected)
        assert result.trace[0].way == taken
        assert result.trace[0].predicted is not None
    assert "in place" in repr(result.trace)


@pytest.mark.parametrize("way", ["pages", "gathered"])
def test_buffers_are_part_of_the_memory_of_a_run(way: str, large: dr.Graph, whole: dr.Graph) -> None:
    forget(large)
    found = ALGORITHMS["pagerank"](large, device=CudaEngine({"memory": 48 << 20, "way": way}))
    copy = device_graph(large)
    assert 0 < copy.residency.buffers < 4 << 20
    assert copy.residency.share < 1
    np.testing.assert_allclose(found, ALGORITHMS["pagerank"](whole, device="cuda"), rtol=1e-5)


def test_rows_that_the_host_cannot_read_are_not_gathered(large: dr.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dromos.engines.cuda.row_buffers.host_view", lambda _: None)
    forget(large)
    with pytest.raises(DeviceError, match=r"cannot gather them; use way="):
        dr.sssp(large, 5, path="sync-push-dd", device=CudaEngine({"share": 0.0, "way": "gathered"}))
