"""The compiled kernels over pages: few programs, since each is compiled for this; and measured memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos import program as pr
from dromos.compiler.machine import require_compiler
from dromos.engines.cpu.part import CpuLeaf
from dromos.graph.store.paged.ways import READS
from dromos.jit import kernel
from dromos.places.stream import StreamEngine
from dromos.places.stream.compiler_pages import release_compiler_pages
from tests.stream.stores import PAGE, random_graph, stored

pytestmark = pytest.mark.usefixtures("way_to_read")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("directed", [False, True])
def test_compiled_kernels_over_pages_give_what_they_give_in_memory(directed: bool, tmp_path: Path) -> None:
    graph = random_graph(9, directed=directed)
    file = stored(graph, tmp_path)
    engine = StreamEngine(CpuLeaf(2), 3 << 20, page_bytes=PAGE)
    tiny = StreamEngine(CpuLeaf(2), 2 << 20 | 330_000, page_bytes=PAGE)
    for how in ({"device": engine}, {"device": tiny}, {"memory": "8M"}):
        np.testing.assert_array_equal(dr.bfs(file, 7, **how).level, dr.bfs(graph, 7, device="numpy").level)
        found = dr.pagerank(file, weight=None, **how).rank
        np.testing.assert_allclose(found, dr.pagerank(graph, weight=None, device="numpy").rank, rtol=1e-9)
    assert dr.bfs(file, 7, memory="8M").device == "cpu, streamed"


class NearestOfTwo(pr.Program):
    """Distances to two vertices at once: a message is a vector, and who has nothing new sends none."""

    steps = pr.field(np.int32, size=2)
    combine = pr.MIN

    def init(self, v):
        return {"steps": [pr.where(v.id == 7, 0, 99), pr.where(v.id == 9, 0, 99)]}

    def start(self, v):
        return (v.id == 7) | (v.id == 9)

    def compute(self, u, edge, v):
        return [u.steps[0] + 1, u.steps[1] + 1]

    def update(self, v, message):
        return {"steps": [pr.minimum(v.steps[0], message[0]), pr.minimum(v.steps[1], message[1])]}


def test_messages_that_are_vectors_are_pulled_from_pages_and_slices(tmp_path: Path) -> None:
    graph = random_graph(9, directed=False)
    expected = np.stack([dr.bfs(graph, source, device="numpy").level for source in (7, 9)], axis=1)
    file = stored(graph, tmp_path)
    for on, how in ((file, {"memory": "8M"}), (graph, {"slices": 3})):
        found = dr.run(NearestOfTwo(), on, device="cpu", path="sync-pull-dd", **how)
        np.testing.assert_array_equal(found["steps"], np.where(expected < 0, 99, expected))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("by_degree", [False, True])
def test_components_are_found_in_one_pass_over_the_pages(directed: bool, by_degree: bool, tmp_path: Path) -> None:
    """Sparse ids, several trees of some size, and hubs that make the largest tree known early (or late)."""
    draw = np.random.default_rng(4)
    src, dst = draw.integers(0, 30_000, (2, 28_000))
    src[:6_000], dst[6_000:9_000] = 17, 29_000
    graph = dr.Graph.from_edges(src, dst, num_vertices=30_000, directed=directed)
    if by_degree:
        graph = graph.relabel_by_degree().graph
    file = stored(graph, tmp_path)
    engine = StreamEngine(CpuLeaf(2), 4 << 20, page_bytes=PAGE)
    found = dr.connected_components(file, device=engine)
    np.testing.assert_array_equal(found.label, dr.connected_components(graph, device="cpu").label)
    section = file.header.section("targets")
    assert section is not None
    assert 0 < found.trace.read <= section.nbytes + 5 * PAGE


@pytest.mark.skipif(sys.platform != "linux", reason="the system's own books are read there")
def test_a_run_gives_the_compilers_pages_back_and_can_compile_afterwards(tmp_path: Path) -> None:
    @kernel
    def answer(x):  # type: ignore[no-untyped-def]
        return 3 * x + 1

    require_compiler()  # if all kernels are on disk, nothing else loads it
    dr.bfs(stored(random_graph(9), tmp_path), 7, memory="8M", device="cpu")
    assert release_compiler_pages() > 1 << 20
    assert answer(5) == 16


_MEASURED = """
import sys
import numpy as np
import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.algorithms.pagerank import pagerank_program
from dromos.graph.store.paged.ways import READS
from dromos.places.stream import StreamEngine

def leaf():
    if sys.argv[1] == "numpy":
        from dromos.engines.vectorised import VectorisedLeaf
        return VectorisedLeaf()
    from dromos.engines.cpu.part import CpuLeaf
    return CpuLeaf(2)

def peak():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["VmHWM"].split()[0]) << 10

def run(graph, memory):
    kind = pagerank_program(False, False, np.dtype(np.float64))
    dr.run(kind(alpha=0.85, tolerance=0.0), graph, device=StreamEngine(leaf(), memory), max_iter=2)
    dr.run(BFS(source=0), graph, device=StreamEngine(leaf(), memory), max_iter=3)

run(dr.open(sys.argv[2]), int(sys.argv[4]))
try:
    open("/proc/self/clear_refs", "w").write("5")
except OSError:
    pass  # then the first run's peak counts, which is the smaller one
before = peak()
run(dr.open(sys.argv[3]), int(sys.argv[4]))
print(peak() - before)
"""


def wide_graph(vertices: int, degree: int) -> dr.Graph:
    """A graph that is quickly made: every vertex has arcs to ``degree`` random ones."""
    from dromos.graph.graph import Flags

    targets = np.random.default_rng(1).integers(0, vertices, vertices * degree, dtype=np.int32)
    flags = Flags(directed=True, symmetric=False, sorted=False, parallel_edges=True, self_loops=True)
    return dr.Graph._make(np.arange(vertices + 1, dtype=np.int64) * degree, targets, flags=flags)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are told by Linux")
@pytest.mark.parametrize(("leaf", "memory"), [("numpy", 48 << 20), ("cpu", 24 << 20)])
def test_a_run_stays_within_its_budget(leaf: str, memory: int, tmp_path: Path) -> None:
    small, large = tmp_path / "small.drm", tmp_path / "large.drm"
    dr.write(wide_graph(20_000, 250), small)  # as wide as the other, so that the same kernels are loaded
    dr.write(wide_graph(100_000, 250), large)
    assert large.stat().st_size > 2 * memory - (1 << 20)
    words = [sys.executable, "-c", _MEASURED, leaf, str(small), str(large), str(memory)]
    environment = os.environ | {READS: "compiled" if leaf == "cpu" else "threads"}  # whatever the sizes of the files
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, timeout=900, cwd=ROOT, env=environment
    )  # fmt: skip
    assert memory // 4 < int(done.stdout) < memory + (4 << 20)
