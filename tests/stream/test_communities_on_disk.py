"""Louvain and Leiden on graphs on disk: properties of their results, whatever the budget and the threads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.louvain import verify
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.graph.store import write
from dromos.graph.store.paged.ways import READS
from dromos.places.stream import StreamEngine, budget, row_blocks
from dromos.places.stream.community_pairs import estimated_pairs
from dromos.places.stream.row_blocks import RowBlock
from tests.algorithms.support import examples, graphs
from tests.stream.stores import PAGE, no_thread_stays

pytestmark = pytest.mark.usefixtures("way_to_read")

ROOT = Path(__file__).parents[2]
either = pytest.mark.parametrize("find", [dr.louvain, dr.leiden])


def tiny(memory: int | None = 8 << 20, threads: int = 2) -> StreamEngine:
    return StreamEngine(CpuLeaf(threads), memory, page_bytes=PAGE)


def opened(graph: dr.Graph, folder: Path, *, compress: bool = False) -> dr.StoredGraph:
    packs: dict[str, Any] = {"compress": True, "pack_arcs": 256} if compress else {}
    write(graph, folder / "g.drm", chunk_bytes=PAGE, **packs)
    return dr.open(folder / "g.drm")


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use many blocks, some of which are cut by windows."""
    monkeypatch.setattr(row_blocks, "LEAST_ARCS", 3000)
    monkeypatch.setattr(row_blocks, "LEAST_ROWS", 400)


def check(graph: dr.Graph, found: Any, gamma: float = 1.0, *, connected: bool) -> None:
    verify(graph, found.community, found.hierarchy, found.modularity, gamma, connected=connected)
    assert found.device == "cpu, streamed"
    if graph.num_arcs:
        expected = dr.modularity(graph, found.community, gamma).modularity
        assert found.modularity == pytest.approx(expected, abs=1e-12, nan_ok=True)


def same(found: Any, expected: Any) -> None:
    assert found.hierarchy.tobytes() == expected.hierarchy.tobytes()
    assert found.modularity == pytest.approx(expected.modularity, nan_ok=True)


def needed_by(call: Callable[[StreamEngine], Any]) -> int:
    with pytest.raises(ResourceError, match="is too little") as caught:
        call(tiny(1000))
    assert caught.value.needed is not None
    return caught.value.needed


def graph_with_weights(kind: type | None, scale: int = 11) -> dr.Graph:
    graph = dr.generators.rmat(scale, 8, seed=5)
    assert graph.has_self_loops
    if kind is None:
        return graph
    weights = dr.generators.with_random_weights(graph, 0, 4, seed=3).weights
    assert weights is not None
    return graph.with_weights(weights.astype(kind))


@either
@examples(8)
@given(
    graph=graphs(high=12, directed=False, weights=(0.0, 1.0, 2.5)), gamma=st.sampled_from((0.5, 1.0, 1.7)),
    compress=st.booleans(), rows=st.sampled_from((2, 5)),
)  # fmt: skip
def test_divisions_of_small_graphs(
    find: Callable[..., Any],
    graph: dr.Graph,
    gamma: float,
    compress: bool,
    rows: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    file = opened(graph, tmp_path_factory.mktemp("communities"), compress=compress)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "LEAST_ROWS", rows)
        patch.setattr(row_blocks, "LEAST_ARCS", 6)
        found = find(file, gamma, seed=1, rounds=2, tries=1, device=tiny())
        check(graph, found, gamma, connected=find is dr.leiden)
    plain = find(file, gamma, weight=None, rounds=2, device=tiny())
    check(graph.with_weights(None), plain, gamma, connected=find is dr.leiden)


@either
@pytest.mark.parametrize(("kind", "compress"), [(None, True), (np.float64, False)])
@pytest.mark.usefixtures("small_blocks")
def test_the_same_within_any_budget(
    find: Callable[..., Any], kind: type | None, compress: bool, tmp_path: Path
) -> None:
    graph = graph_with_weights(kind)
    file = opened(graph, tmp_path, compress=compress)
    least = needed_by(lambda engine: find(file, seed=3, device=engine))
    told: list[tuple[int, int]] = []
    with no_thread_stays():
        found = find(file, seed=3, tries=1, rounds=2, device=tiny(least), progress=lambda *done: told.append(done))
        file.kept_reader.clear()
    check(graph, found, connected=find is dr.leiden)
    assert told[-1] == (len(told), 0) == (len(found.trace), 0)
    assert found.trace.read > 0
    for engine in (tiny(least + 9 * PAGE, 1), tiny(256 << 20)):
        same(find(file, seed=3, tries=1, rounds=2, device=engine), found)
    assert found.modularity > 0.93 * find(graph, seed=3).modularity


@either
@pytest.mark.usefixtures("small_blocks")
def test_options_mean_what_they_mean_in_memory(find: Callable[..., Any], tmp_path: Path) -> None:
    graph = dr.generators.grid(30, 30)
    file = opened(graph, tmp_path)
    once = find(file, rounds=1, tries=1, memory="64M")
    often = find(file, rounds=3, tries=3, memory="64M")
    fine = find(file, resolution=4.0, rounds=1, seed=2, memory="64M")
    for found, gamma in ((once, 1.0), (often, 1.0), (fine, 4.0)):
        check(graph, found, gamma, connected=find is dr.leiden)
    assert once.modularity < often.modularity
    assert fine.count > 1.5 * often.count
    assert often.hierarchy.shape[1] >= 2
    assert often.modularity == pytest.approx(find(graph).modularity, rel=0.01)


def test_passes_read_only_what_may_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a small world few vertices move in late passes."""
    monkeypatch.setattr(budget, "LEAST_BUFFER_SHARE", 1 << 40)  # small windows: short gaps between pages are read over
    file = opened(dr.generators.watts_strogatz(8000, 16, 0.02, seed=1), tmp_path)
    least = needed_by(lambda engine: dr.louvain(file, device=engine))
    found = dr.louvain(file, tries=1, rounds=1, device=tiny(least))
    read = [row.read for row in found.trace if "move" in row.reason]
    assert read[-1] < read[0] // 2


def community_graph_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets with almost no room beside the vertices."""
    monkeypatch.setattr(budget, "_LEAST_WORK", 40_000)
    monkeypatch.setattr(budget, "WORK_SHARE", 1 << 40)


@pytest.mark.usefixtures("small_blocks")
def test_a_graph_of_communities_that_does_not_fit_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    community_graph_bytes(monkeypatch)
    graph = graph_with_weights(np.float64, scale=12)
    file = opened(graph, tmp_path)
    call = lambda engine: dr.louvain(file, 3.0, tries=1, device=engine)  # noqa: E731
    least = needed_by(call)
    with pytest.raises(ResourceError, match=r"the graph of the .* communities of the first level, .* give") as caught:
        call(tiny(least))
    assert caught.value.needed is not None
    found = call(tiny(caught.value.needed))
    check(graph, found, 3.0, connected=False)
    same(call(tiny(256 << 20)), found)


@pytest.mark.usefixtures("small_blocks")
def test_where_parts_do_not_fit_pieces_of_communities_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    community_graph_bytes(monkeypatch)
    graph = graph_with_weights(None, scale=12)
    file = opened(graph, tmp_path)
    least = needed_by(lambda engine: dr.leiden(file, device=engine))
    given = ((least, 1), (least, 2), (1 << 28, 2))
    found = [dr.leiden(file, tries=1, device=tiny(memory, threads)) for memory, threads in given]
    for one in found:
        check(graph, one, connected=True)
    same(found[0], found[1])
    reasons = ["pieces" in " ".join(row.reason for row in one.trace) for one in found]
    assert reasons == [True, True, False]
    assert found[2].modularity > found[0].modularity > 0.95 * found[2].modularity


def test_pairs_are_estimated() -> None:
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 3000, (2, 200_000))
    graph = dr.Graph.from_edges(src, dst, num_vertices=3000, directed=False)
    group = (np.arange(3000) % 1000).astype(graph.targets.dtype)

    def blocks() -> Iterator[RowBlock]:
        yield RowBlock(0, 0, graph.offsets, graph.targets, np.empty(0, np.int32))

    ends = group[np.repeat(np.arange(3000), graph.out_degree)].astype(np.int64), group[graph.targets]
    exact = len(np.unique((ends[0] * 1000 + ends[1])[ends[0] < ends[1]]))
    assert estimated_pairs(group, 1000, blocks(), graph.num_arcs) == pytest.approx(exact, rel=0.01)


@either
def test_an_interruption_ends_it(find: Callable[..., Any], tmp_path: Path) -> None:
    file = opened(graph_with_weights(None), tmp_path)
    first = find(file, tries=1, device=tiny())

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with no_thread_stays():
        file.kept_reader.clear()
        with pytest.raises(KeyboardInterrupt):
            find(file, tries=1, device=tiny(), progress=interrupt)
    same(find(file, tries=1, device=tiny()), first)


@either
def test_what_is_refused(find: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="undirected"):
        find(opened(dr.Graph.from_edges([0], [1]), tmp_path), memory="64M")
    with pytest.raises(InvalidArgumentError, match="is negative"):
        find(opened(dr.Graph.from_edges([0], [1], [-1.0], directed=False), tmp_path), memory="64M")
    mapped = opened(dr.generators.path(5), tmp_path).load()
    with pytest.raises(InvalidArgumentError, match=r"leave memory out, or use dr\.open\(path\)"):
        find(mapped, memory="64M")
    with pytest.raises(InvalidArgumentError, match=r"device='numpy': .* use device='cpu'"):
        find(opened(dr.generators.path(5), tmp_path), memory="64M", device="numpy")


_MEASURED = """
import sys
import dromos as dr

def peak():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["VmHWM"].split()[0]) << 10

def run(path):
    graph = dr.open(path)
    dr.louvain(graph, tries=1, rounds=2, memory=int(sys.argv[3]))
    dr.leiden(graph, tries=1, rounds=1, memory=int(sys.argv[3]))

run(sys.argv[1])
open("/proc/self/clear_refs", "w").write("5")
before = peak()
run(sys.argv[2])
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are told by Linux")
def test_a_run_stays_within_its_budget(tmp_path: Path) -> None:
    memory = 12 << 20
    for name, graph in (("small", dr.generators.rmat(11, 8)), ("large", dr.generators.rmat(15, 64, seed=1))):
        dr.write(graph, tmp_path / f"{name}.drm")
    assert (tmp_path / "large.drm").stat().st_size > memory
    words = [sys.executable, "-c", _MEASURED, str(tmp_path / "small.drm"), str(tmp_path / "large.drm"), str(memory)]
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, timeout=900, cwd=ROOT, env=os.environ | {READS: "compiled"}
    )
    assert memory // 4 < int(done.stdout) < memory + (12 << 20)
