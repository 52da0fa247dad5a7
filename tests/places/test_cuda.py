"""Slices and parts on the GPU's kernels: every program of the tests, and random ones, against the reference engine."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda import dividing, permuting
from dromos.engines.cuda import rows as device_rows
from dromos.engines.cuda.part import CudaLeaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import DeviceError, FieldOverflowError, ResourceError
from dromos.graph import generators, transform
from dromos.graph.partly_held import PartlyHeldGraph
from dromos.places import PlacedEngine
from dromos.places.grid import Grid
from dromos.places.hybrid import SPLITS, HybridEngine, lead, pair
from dromos.places.hybrid import split as splitting
from dromos.plan import Path
from dromos.program import Program
from tests.places.test_cpu import weighted
from tests.places.test_hybrid import AtMost
from tests.places.test_programs import KINDS, Narrow, WideStart, check, check_on
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.running import run

pytestmark = pytest.mark.gpu
IN_GRIDS = [kind for kind in KINDS if not (kind.ir().edge_fields or kind.ir().edge_params)]
_ASKED = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))


@pytest.fixture(autouse=True)
def _split_by_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the GPU split small graphs too."""
    monkeypatch.setattr(splitting, "_WORTH_A_DEVICE", 0)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_programs_over_slices_and_parts(kind: type[Program]) -> None:
    check(kind, weighted(generators.uniform(120, 400, seed=2)), CudaLeaf(), slices=1, parts=1)
    check(kind, weighted(generators.uniform(120, 400, seed=2)), CudaLeaf(), slices=3, parts=1)
    check(kind, weighted(generators.uniform(90, 300, seed=3, directed=False)), CudaLeaf(), slices=2, parts=3)
    check(kind, weighted(generators.rmat(7, 6, seed=4)), CudaLeaf(), slices=1, parts=5)
    check(kind, weighted(generators.path(3)), CudaLeaf(), slices=4, parts=4)


@pytest.mark.parametrize("kind", IN_GRIDS, ids=lambda kind: kind.__name__)
def test_programs_in_a_grid(kind: type[Program]) -> None:
    for rows, columns in ((2, 2), (1, 3), (3, 1)):
        engine = PlacedEngine(CudaLeaf(), grid=Grid(rows, columns))
        check_on(kind, weighted(generators.uniform(120, 400, seed=2)), engine)
        check_on(kind, weighted(generators.uniform(90, 300, seed=3, directed=False)), engine)
    check_on(kind, weighted(generators.path(3)), PlacedEngine(CudaLeaf(), grid=Grid(2, 3)))


@pytest.mark.parametrize("deal", ["pages", "targets"])
@pytest.mark.parametrize("kind", IN_GRIDS, ids=lambda kind: kind.__name__)
def test_programs_with_pages_dealt(kind: type[Program], deal: str) -> None:
    for slices, parts in ((1, 2), (3, 2), (2, 4)):
        engine = PlacedEngine(CudaLeaf(), slices=slices, parts=parts, deal=deal)
        check_on(kind, weighted(generators.uniform(120, 400, seed=2)), engine)
        check_on(kind, weighted(generators.uniform(90, 300, seed=3, directed=False)), engine)
    check_on(kind, weighted(generators.path(3)), PlacedEngine(CudaLeaf(), parts=5, deal=deal))
    both = PlacedEngine([VectorisedLeaf(), CudaLeaf(), CudaLeaf()], slices=2, deal=deal)
    check_on(kind, weighted(generators.rmat(7, 6, seed=4, symmetrize=True)), both)


@pytest.mark.parametrize("deal", ["pages", "targets"])
@pytest.mark.parametrize("device", ["cpu+cuda", "cuda:0+cuda:0"])
def test_public_algorithms_with_pages_dealt(device: str, deal: str) -> None:
    graph = weighted(generators.rmat(13, 8, seed=4, symmetrize=True))
    for how in ({"slices": 3}, {"memory": "3M"}):
        given: dict[str, Any] = {"device": device, "deal": deal, **how}
        dr.bfs(graph, 0, **given).verify()
        dr.pagerank(graph, **given).verify()
        dr.sssp(graph, 0, **given).verify()
        dr.connected_components(graph, **given).verify()


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_programs_on_a_host_and_a_gpu(kind: type[Program], split: str) -> None:
    graph = weighted(generators.rmat(8, 6, seed=5, symmetrize=split == "high"))
    check_on(kind, graph, HybridEngine([VectorisedLeaf(), CudaLeaf()], share=0.3, split=split))
    check_on(kind, graph, HybridEngine([CudaLeaf(), VectorisedLeaf(), CudaLeaf()], share=0.5, split=split))


@pytest.mark.parametrize("device", ["cpu+cuda", "cuda+cpu", "cuda:0+cuda:0"])
def test_public_algorithms_on_several_processors(device: str) -> None:
    graph = weighted(generators.rmat(13, 8, seed=4, symmetrize=True))
    for split in SPLITS:
        how = {"device": device, "share": 0.25, "split": split}
        dr.bfs(graph, 0, **how).verify()  # type: ignore[arg-type]
        dr.pagerank(graph, **how).verify()  # type: ignore[arg-type]
        dr.sssp(graph, 0, **how).verify()  # type: ignore[arg-type]
        dr.connected_components(graph, **how).verify()  # type: ignore[arg-type]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("device", ["cpu+cuda", "cuda+cpu"])
def test_a_search_begins_on_the_host_and_ends_on_the_gpu(device: str, directed: bool) -> None:
    graph = generators.rmat(14, 12, seed=3, symmetrize=not directed)
    share, split = (0.9, "low") if device == "cuda+cpu" else (0.1, "high")  # the host has the hubs
    how = {"device": device, "share": share, "split": split}
    for source in np.argsort(graph.out_degree)[[-1, -100, -1000, -5000]].tolist():
        found = dr.bfs(graph, source, **how)  # type: ignore[arg-type]
        found.verify()
        assert found.trace.supersteps == found.level.max() + 1
        limited = dr.bfs(graph, source, depth_limit=3, **how)  # type: ignore[arg-type]
        assert limited.level.tolist() == np.where(found.level <= 3, found.level, -1).tolist()
    if not directed:
        assert "by itself" in " ".join(row.reason for row in found.trace)


@pytest.mark.parametrize("device", ["cpu+cuda", "cuda+cpu"])
def test_a_host_with_few_vertices_is_told_who_is_active(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair, "_MANY_ACTIVE", 1)
    monkeypatch.setattr(lead, "_MOST_ARCS", 0)
    graph = generators.rmat(13, 8, seed=4, symmetrize=True)
    share, split = (0.9, "low") if device == "cuda+cpu" else (0.1, "high")
    for source in np.argsort(graph.out_degree)[[-1, -900, -3000]].tolist():
        dr.bfs(graph, source, device=device, share=share, split=split).verify()


def test_a_level_may_push_on_the_host_and_pull_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lead, "_MOST_ARCS", 0)
    graph = weighted(generators.rmat(13, 8, seed=3, symmetrize=True))
    directions: set[str] = set()
    for source in np.argsort(graph.out_degree)[[-1, -500, -1200]].tolist():
        found = dr.bfs(graph, source, device="cpu+cuda", share=0.5, split="random", path="sync-pull-td")
        found.verify()
        directions |= {row.directions for row in found.trace}
    assert "cpu push, cuda pull" in directions


@pytest.mark.parametrize("device", ["cpu+cuda", "cuda+cpu", "cuda:0+cuda:0"])
def test_a_run_that_was_killed_goes_on(device: str, tmp_path: FilePath) -> None:
    """While the host leads, after the GPU has taken over, and when the GPU is alone."""
    graph = weighted(generators.rmat(13, 8, seed=3, symmetrize=True))
    source = int(np.argsort(graph.out_degree)[-4000])
    share, split = (0.9, "low") if device == "cuda+cpu" else (0.1, "high")
    calls: dict[str, Callable[..., Any]] = {
        "bfs": lambda **how: dr.bfs(graph, source, **how),
        "sssp": lambda **how: dr.sssp(graph, source, **how),
        "pagerank": lambda **how: dr.pagerank(graph, **how),
    }
    for name, call in calls.items():
        how: dict[str, Any] = {"device": device, "share": share, "split": split}
        whole = call(**how)
        for supersteps in range(1, 5):
            saved = {"checkpoint": tmp_path / f"{name}-{supersteps}", "checkpoint_every": 0}

            def kill(done: int, total: int, last: int = supersteps) -> None:
                if done > last:
                    raise InterruptedError

            with pytest.raises(InterruptedError):
                call(progress=kill, **saved, **how)
            again = call(**saved, **how)
            again.verify()
            assert again.trace[0].path == "checkpoint"
            if name == "pagerank":
                np.testing.assert_allclose(again.rank, whole.rank, rtol=1e-9)
            else:
                field = "level" if name == "bfs" else "distance"
                assert again[field].tolist() == whole[field].tolist()


def test_a_part_that_reads_some_of_its_rows_in_the_hosts_memory() -> None:
    graph = weighted(generators.rmat(17, 16, seed=3, symmetrize=True))
    memory = 100 * graph.num_vertices + (8 << 20)
    execution = HybridEngine([VectorisedLeaf(), CudaLeaf(memory=memory)], share=0.1, split="high").prepare(
        programs.BFS(source=0), graph
    )
    execution.step(Path())
    rows = execution.parts[1].kernels._slice.rows  # type: ignore[attr-defined]
    assert 0 < rows.targets_on_host < rows.targets.nbytes
    assert rows.nbytes - rows.offsets.nbytes <= 8 << 20
    for budget in (memory, 100 * graph.num_vertices + (1 << 20)):
        how = {"device": "cpu+cuda", "share": 0.1, "split": "high", "memory": budget}
        dr.bfs(graph, 0, **how).verify()  # type: ignore[arg-type]
        dr.pagerank(graph, **how).verify()  # type: ignore[arg-type]
        dr.sssp(graph, 0, **how).verify()  # type: ignore[arg-type]
        dr.connected_components(graph, **how).verify()  # type: ignore[arg-type]
    directed = weighted(generators.rmat(12, 8, seed=4))
    dr.bfs(directed, 0, device="cpu+cuda", memory="1M", share=0.2, split="low").verify()
    with pytest.raises(ResourceError, match="too little"):
        dr.bfs(graph, 0, device="cpu+cuda", memory="1M", share=0.1, split="high")


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_processor_may_have_nothing_to_do(share: float) -> None:
    graph = weighted(generators.rmat(9, 8, seed=4, symmetrize=True))
    how = {"device": "cpu+cuda", "share": share, "split": "high"}
    dr.bfs(graph, 0, **how).verify()  # type: ignore[arg-type]
    dr.pagerank(graph, **how).verify()  # type: ignore[arg-type]
    dr.sssp(graph, 0, **how).verify()  # type: ignore[arg-type]
    dr.connected_components(graph, **how).verify()  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(max(12, _ASKED // 5)))
def test_random_programs(seed: int) -> None:
    kind = random_program(seed)
    engines = [
        PlacedEngine(CudaLeaf(), slices=3),
        PlacedEngine(CudaLeaf(), slices=2, parts=3),
        AtMost([VectorisedLeaf(), CudaLeaf(), CudaLeaf()], share=0.4, split=SPLITS[seed % 3]),
    ]
    if not (kind.ir().edge_fields or kind.ir().edge_params):
        engines.append(PlacedEngine(CudaLeaf(), grid=Grid(2, 2)))
    assert list(disagreements(kind, seed, *engines, graphs=3, only="sync")) == []


@pytest.mark.parametrize("path", ["sync-push-dd", "sync-pull-td"])
@pytest.mark.parametrize("parts", [1, 2])
def test_hubs_are_walked_by_blocks_and_by_the_grid(path: str, parts: int) -> None:
    star = weighted(generators.star(150_000))
    for engine in (PlacedEngine(CudaLeaf(), slices=2, parts=parts), PlacedEngine(CudaLeaf(), grid=Grid(2, parts))):
        found, _ = run(programs.BFS(source=1), star, path, engine=engine)
        assert found["level"][:3].tolist() == [1, 0, 2]
        assert (found["level"][3:] == 2).all()


@pytest.mark.parametrize("kind", [Narrow, WideStart])
def test_an_overflow_is_an_error(kind: type[Program]) -> None:
    engine = PlacedEngine(CudaLeaf(), parts=2)
    with pytest.raises(FieldOverflowError, match="wider type"):
        engine.prepare(kind(), generators.path(3)).step(Path())


def test_a_gpu_without_room_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy

    from dromos.engines.cuda import device_slices

    def full(*args: object) -> None:
        raise cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30)

    monkeypatch.setattr(device_slices, "_uploaded", full)
    execution = PlacedEngine(CudaLeaf(), parts=2).prepare(programs.BFS(source=0), generators.path(9))
    with pytest.raises(DeviceError, match="smaller part"):
        execution.step(Path())


def test_public_algorithms() -> None:
    graph = weighted(generators.rmat(12, 8, seed=4, symmetrize=True))
    for place in ({"slices": 8}, {"parts": 2}, {"slices": 3, "parts": 3}):
        dr.bfs(graph, 0, device="cuda", **place).verify()
        dr.sssp(graph, 0, device="cuda", **place).verify()
        dr.pagerank(graph, device="cuda", **place).verify()
        dr.connected_components(graph, device="cuda", **place).verify()


def test_rows_in_falling_order_are_gathered_by_classes() -> None:
    graph = weighted(generators.rmat(10, 16, seed=1, symmetrize=True))
    order = np.argsort(-graph.in_degree, kind="stable")
    new_ids = np.empty_like(order)
    new_ids[order] = np.arange(len(order))
    rows = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    sorted_graph = dr.Graph.from_edges(new_ids[rows], new_ids[graph.targets], graph.weights)
    for kind in (programs.PageRank, programs.BFS, programs.SSSP):
        check(kind, sorted_graph, CudaLeaf(), slices=1, parts=2)


@pytest.mark.parametrize("weight", [None, np.int32, np.float64], ids=str)
@pytest.mark.parametrize("directed", [False, True])
def test_a_gpu_splits_a_graph_as_the_host_does(
    directed: bool, weight: type | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of hubs, empty rows, and parallel arcs, which keep their order; in pieces, the last of them small."""
    monkeypatch.setattr(permuting, "_PIECE", 1 << 12)
    for name in ("_LEAST_PIECE", "_ARRIVING"):
        monkeypatch.setattr(device_rows, name, 1 << 12)
    if weight is None:  # arcs are copied beside other work
        monkeypatch.setattr(device_rows, "_WORTH_A_THREAD", 0)
    draw = np.random.default_rng(3)
    src, dst = draw.integers(0, 3000, (2, 40_000)) ** 2 // 3000
    src[:9000] = 7
    weights = None if weight is None else np.arange(len(src)).astype(weight)
    graph = dr.Graph.from_edges(src, dst, weights, num_vertices=3000, directed=directed)
    for kind, stay in itertools.product(SPLITS, ((), (1,), (0, 2), (0, 1, 2), None)):
        again = dr.Graph._make(graph.offsets, graph.targets, graph.weights, flags=graph.known_flags)
        first = splitting.split_graph(graph, (0.25, 0.5, 0.25), kind)
        with monkeypatch.context() as patch:
            if stay is None:  # a device without room for all arcs
                patch.setattr(dividing, "can_divide", lambda *given: False)
            second = splitting.split_graph(again, (0.25, 0.5, 0.25), kind, device=0, stay=stay or ())
        assert isinstance(second.graph, PartlyHeldGraph) == (bool(stay) and not directed)
        assert first.bounds == second.bounds
        assert first.graph.known_flags == second.graph.known_flags
        assert transform.same_arrays(first.graph, second.graph)
        assert first.given_ids.tolist() == second.given_ids.tolist()
        assert first.new_ids.tolist() == second.new_ids.tolist()


@pytest.mark.parametrize("device", ["cpu+cuda", "cuda+cpu", "cuda:0+cuda:0", "cpu+cuda:0+cuda:0"])
def test_rows_of_the_gpus_part_are_on_the_gpu_alone(device: str) -> None:
    """Searches that the host begins, pulls, pushes, weights, and one forest; then with less memory, from the host's."""
    graph = weighted(generators.rmat(12, 8, seed=4, symmetrize=True))
    how: dict[str, Any] = {"device": device, "share": 0.3, "split": "high"}
    calls: list[Callable[..., Any]] = [
        lambda **how: dr.bfs(graph, 0, **how), lambda **how: dr.sssp(graph, 0, **how),
        lambda **how: dr.pagerank(graph, **how), lambda **how: dr.connected_components(graph, **how),
    ]  # fmt: skip
    for call in calls:
        call(**how).verify()
    (made,) = (found for found in splitting._kept.of(graph).values())
    assert isinstance(made.graph, PartlyHeldGraph)
    assert not made.graph.is_whole
    for call in calls:
        call(**how, memory="600K").verify()


def test_a_gpu_without_room_leaves_splitting_to_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (dividing, permuting):
        monkeypatch.setattr(module, "free_bytes", lambda: 1 << 10)
    graph = generators.path(5)
    assert splitting.split_graph(graph, (0.5, 0.5), "high", device=0).graph.num_arcs == graph.num_arcs
