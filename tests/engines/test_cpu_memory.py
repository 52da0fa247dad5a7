"""What the CPU engine keeps between runs, memory and facts about graphs; and how it takes long rows and many arcs."""

from __future__ import annotations

import gc
import mmap
import threading
import weakref

import numpy as np
import pytest

import dromos as dr
import dromos.program as pr
from dromos.algorithms.bfs import BFS
from dromos.algorithms.sssp import sssp_program
from dromos.engines.cpu import CpuEngine, memory, topology
from dromos.graph import Graph, generators
from dromos.plan import Path
from dromos.runner.loop import iterate
from tests.program.running import run


class Mass(pr.Program):
    """Sums along in-arcs, in an order that depends on the graph alone."""

    mass = pr.field(np.float64)
    combine = pr.SUM

    def init(self, v):  # type: ignore[no-untyped-def]
        return 1 / (v.id + 3)

    def compute(self, u, edge, v):  # type: ignore[no-untyped-def]
        return u.mass / (u.out_degree + 1)

    def update(self, v, message):  # type: ignore[no-untyped-def]
        return 0.5 * v.mass + message

    def active(self, old, new):  # type: ignore[no-untyped-def]
        return True


def masses(graph: Graph, threads: int, steps: int = 3) -> np.ndarray:
    return dr.run(Mass(), graph, max_iter=steps, path="sync-pull-td", threads=threads).mass  # type: ignore[no-any-return]


def by_numpy(graph: Graph, steps: int = 3) -> np.ndarray:
    n = graph.num_vertices
    mass, src = 1 / (np.arange(n) + 3.0), np.repeat(np.arange(n), graph.out_degree)
    for _ in range(steps):
        mass = 0.5 * mass + np.bincount(graph.targets, (mass / (graph.out_degree + 1))[src], minlength=n)
    return mass


def test_memory_is_used_again_but_never_while_somebody_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_kept", memory._Kept())  # what earlier tests left might fit, and be larger
    size = 3 << 20
    first = memory.reused_empty(size, np.uint8)
    view = first.view(np.float32)[5:].reshape(-1, 1)
    address = first.ctypes.data
    del first
    gc.collect()
    other = memory.reused_empty(size, np.uint8)
    assert other.ctypes.data != address, "a view still lies on it"
    del view
    gc.collect()
    kept = memory.kept_bytes()
    again = memory.reused_zeros(size, np.uint8)
    assert again.ctypes.data == address
    assert memory.kept_bytes() == kept - size
    assert not again.any()


def test_memory_that_is_kept_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_most", lambda: 5 << 20)
    for _ in range(2):
        arrays = [memory.reused_empty(2 << 20, np.uint8) for _ in range(4)]
        del arrays
        gc.collect()
    assert memory.kept_bytes() <= 5 << 20


def test_a_result_is_not_changed_by_the_next_run() -> None:
    graph = generators.uniform(1 << 16, 1 << 17, seed=1)
    first = dr.bfs(graph, 0, threads=2)
    level = first.level.copy()
    dr.bfs(graph, 1, threads=2)
    np.testing.assert_array_equal(first.level, level)


def test_facts_about_a_graph_go_with_it() -> None:
    graph = generators.cycle(5)
    known = weakref.ref(topology.topology(graph))
    assert topology.topology(graph) is known()
    del graph
    gc.collect()
    assert known() is None


def test_a_hub_is_pulled_in_pieces_with_the_same_sum_whatever_the_threads() -> None:
    star = generators.star(50_000)
    assert topology.topology(star).hubs.pieces.tolist() == [0, -(-49_999 // topology.PIECE_LENGTH)]
    one, two, three = (masses(star, threads) for threads in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(one, by_numpy(star), rtol=1e-12)


def test_narrow_offsets_give_the_same_answers() -> None:
    graph = generators.rmat(12, seed=3)
    assert topology.topology(graph).rows[0].dtype == np.uint32
    source = int(graph.out_degree.argmax())
    for path in ("auto", "sync-push-dd", "sync-pull-td"):
        dr.bfs(graph, source, path=path, threads=2).verify()
    np.testing.assert_allclose(masses(graph, 2), by_numpy(graph), rtol=1e-10)


def test_offers_made_early_are_made_anew_after_another_path() -> None:
    graph = generators.rmat(8, seed=3)
    execution = CpuEngine(threads=2).prepare(Mass(), graph)
    for path in ("sync-pull-td", "sync-push-td", "sync-pull-td"):
        execution.step(pr_path(path))
    np.testing.assert_allclose(execution.result()["mass"], by_numpy(graph), rtol=1e-12)


def pr_path(text: str):  # type: ignore[no-untyped-def]
    from dromos.plan import Path

    return Path.parse(text)


def test_programs_are_compiled_in_two_python_threads_at_once() -> None:
    class Twice(Mass):
        def update(self, v, message):  # type: ignore[no-untyped-def]
            return 0.5 * v.mass + 2 * message

    class Thrice(Mass):
        def update(self, v, message):  # type: ignore[no-untyped-def]
            return 0.5 * v.mass + 3 * message

    graph = generators.rmat(6, seed=1)
    found: dict[type, np.ndarray] = {}

    def work(kind: type) -> None:
        found[kind] = run_steps(kind(), graph)

    threads = [threading.Thread(target=work, args=(kind,)) for kind in (Twice, Thrice)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kind in (Twice, Thrice):
        expected = dr.run(kind(), graph, max_iter=2, device="reference")
        np.testing.assert_allclose(found[kind], expected.mass, rtol=1e-12)


def run_steps(program: pr.Program, graph: Graph) -> np.ndarray:
    return dr.run(program, graph, max_iter=2, device="cpu", threads=2).mass  # type: ignore[no-any-return]


def test_an_array_may_be_dropped_in_the_middle_of_a_search_for_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = memory._Kept()
    monkeypatch.setattr(memory, "_most", lambda: 3 << 20)

    class Meddling(mmap.mmap):
        """While its length is asked for, the collector drops other arrays, so that it is pushed out itself."""

        def __len__(self) -> int:
            if not meddled:
                meddled.append(True)
                for _ in range(3):
                    kept.put(mmap.mmap(-1, 1 << 20))
            return super().__len__()

    meddled: list[bool] = [True]
    old = Meddling(-1, 1 << 20)
    kept.put(old)
    meddled.clear()
    assert kept.take(1 << 20) is None
    assert kept.size == 3 << 20
    assert kept.take(1 << 20) is not old
    assert kept.size == 2 << 20


@pytest.mark.parametrize(("path", "threads"), [("sync-push-dd", 3), ("sync-push-dd", 7), ("auto", 2)])
def test_a_fused_run_of_levels_has_a_row_for_each(path: str, threads: int) -> None:
    grid = generators.grid(40, 60)
    result = dr.bfs(grid, 0, path=path, threads=threads, device="cpu")
    rows, counts = list(result.trace), np.bincount(result.level)
    assert [row.frontier for row in rows] == counts.tolist()
    assert [row.superstep for row in rows] == list(range(99))
    degrees = np.bincount(result.level, grid.out_degree)
    assert [row.out_degree for row in rows] == degrees.tolist()
    assert sum(row.seconds for row in rows) == pytest.approx(result.trace.seconds)
    assert all(row.seconds >= 0 and row.supersteps == 1 for row in rows)
    expected, _ = run(_bfs(), grid, "sync-push-dd")
    np.testing.assert_array_equal(result.level, expected["level"])


def _bfs() -> pr.Program:
    from dromos.algorithms.bfs import BFS

    return BFS(source=0)


@pytest.mark.parametrize(
    ("program", "path"),
    [(BFS(source=0), None), (sssp_program(np.dtype(np.int64))(source=0), "async-push-dd"), (Mass(), "sync-pull-td")],
    ids=["claiming", "ordered", "offering"],
)
def test_a_run_that_is_over_needs_no_garbage_collector(program, path):  # type: ignore[no-untyped-def]
    """Otherwise the next run finds none of its memory, and all pages of new memory have to be cleared."""
    graph = generators.with_random_weights(generators.path(50), 1, 9, seed=1)
    gc.disable()
    try:
        execution = CpuEngine(threads=1).prepare(program, graph)
        iterate(execution, None if path is None else Path.parse(path), max_iter=3)
        gone = weakref.ref(execution)
        del execution
        assert gone() is None
    finally:
        gc.enable()
