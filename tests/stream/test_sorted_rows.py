"""In-rows that stay in memory are sorted into blocks, in the place of their pages."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cpu import arc_blocks, sorted_slice
from dromos.engines.cpu.part import CpuLeaf
from dromos.graph.graph import Flags
from dromos.graph.store.paged.ways import READS
from dromos.places.stream import StreamEngine, sorted_rows
from tests.stream.sorting import PULL, Mixing, graph_of_two_tiles, least_memory, sort_any_graph
from tests.stream.stores import PAGE, stored

pytestmark = pytest.mark.usefixtures("way_to_read")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def graph() -> dr.Graph:
    return graph_of_two_tiles()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sort_any_graph(monkeypatch, spill=False)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("cached_pages", [0, 40, 60, 1_000])
def test_sorted_rows_give_what_pages_give(cached_pages: int, graph: dr.Graph, tmp_path: Path) -> None:
    """With room for none of the 59 pages, for less than half of them, for more, and for all."""
    file = stored(graph, tmp_path)
    # a third of it is for buffers
    engine = StreamEngine(CpuLeaf(2), least_memory(file) + cached_pages * PAGE, page_bytes=PAGE)
    execution = engine.prepare(Mixing(), file)
    expected = dr.run(Mixing(), graph, device="numpy", max_iter=7)
    try:
        read = [execution.step(PULL).read for _ in range(7)]
        piece = execution.feed._sorted.piece
        for name in ("heard", "rounds"):
            np.testing.assert_array_equal(execution.state[name], expected[name], err_msg=name)
    finally:
        execution.close()
    assert (piece is not None) == (cached_pages > 40)
    assert read[0] >= 4 * graph.num_arcs
    assert read[-1] == read[-2]
    if cached_pages == 1_000:
        assert piece.stop == graph.num_vertices
        assert not any(read[1:])
    elif piece is not None:
        assert graph.num_arcs / 2 <= piece.num_arcs < graph.num_arcs
        assert piece.offsets[-1] % (PAGE // 4)  # a page has rows on both sides
        assert 0 < read[-1] < read[0] / 2


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (sorted_rows, "LEAST_SHARE", 1.1),
        (arc_blocks, "LEAST_VALUES", 1 << 30),
        (sorted_slice, "LEAST_ARCS", 1 << 20),
        (None, arc_blocks.BLOCKS_VARIABLE, "0"),
    ],
)
def test_rows_are_left_in_pages_where_sorting_is_not_worth_it(
    module: Any, name: str, value: Any, graph: dr.Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if module is None:
        monkeypatch.setenv(name, value)
    else:
        monkeypatch.setattr(module, name, value)
    execution = StreamEngine(CpuLeaf(2), 16 << 20, page_bytes=PAGE).prepare(Mixing(), stored(graph, tmp_path))
    try:
        for _ in range(5):
            execution.step(PULL)
        assert execution.feed._sorted.piece is None
    finally:
        execution.close()


_MEASURED = """
import sys
import numpy as np
import dromos as dr
from dromos.algorithms.pagerank import pagerank_program
from dromos.engines.cpu import arc_blocks
from dromos.engines.cpu.initial import only_compiled
from dromos.engines.cpu.part import CpuLeaf
from dromos.places.stream import StreamEngine, scratch_file, sorted_rows

scratch_file.lies_in_memory = lambda folder: False  # where the test keeps its files
arc_blocks.LEAST_VALUES = 0
sorted_rows.LEAST_SPILLED = 0 if int(sys.argv[4]) else 1 << 40

def peak():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["VmHWM"].split()[0]) << 10

def run(graph, memory):
    program = pagerank_program(False, False, np.dtype(np.float64))(alpha=0.85, tolerance=0.0)
    execution = StreamEngine(CpuLeaf(2), memory).prepare(program, graph)
    for _ in range(5):
        execution.step(dr.plan.Path.parse("sync-pull-td"))
    found = execution.feed._sorted
    spilled = found.spilled._slices if found.spilled else []
    pieces = [each.places[name].length for each in spilled for name in ("words", "long_sources")]
    execution.close()
    return found.piece.num_arcs if found.piece else sum(pieces)

with only_compiled():  # as larger graphs are initialized
    run(dr.open(sys.argv[1]), int(sys.argv[3]) // 4)  # a quarter of the graph in a quarter of the memory
try:
    open("/proc/self/clear_refs", "w").write("5")
except OSError:
    pass  # then the first run's peak counts, which is the smaller one
before = peak()
arcs = run(dr.open(sys.argv[2]), int(sys.argv[3]))
print(arcs, peak() - before)
"""


def circulant(vertices: int, degree: int) -> dr.Graph:
    """Every vertex with arcs to those around it: a graph that is quickly made."""
    around = np.delete(np.arange(-degree // 2, degree // 2 + 1), degree // 2)
    targets = (np.arange(vertices, dtype=np.int32)[:, None] + around.astype(np.int32)) % vertices
    flags = Flags(directed=False, symmetric=True, sorted=False, parallel_edges=False, self_loops=False)
    offsets = np.arange(vertices + 1, dtype=np.int64) * degree
    return dr.Graph._make(offsets, targets.astype(np.int32).reshape(-1), flags=flags)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are told by Linux")
@pytest.mark.parametrize("spill", [False, True], ids=["in memory", "in a file"])
def test_sorting_stays_within_the_budget(spill: bool, tmp_path: Path) -> None:
    small, large, memory = tmp_path / "small.drm", tmp_path / "large.drm", 64 << 20
    dr.write(circulant(20_000, 200), small)
    vertices = 200_000 if spill else 80_000  # a scratch file does not count as memory
    dr.write(circulant(vertices, 200), large)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(small), str(large), str(memory), str(int(spill))],
        check=True, capture_output=True, text=True, timeout=900, cwd=ROOT, env=os.environ | {READS: "compiled"},
    )  # fmt: skip
    arcs, grown = map(int, done.stdout.split())
    assert vertices * 100 < arcs <= vertices * 200
    assert (arcs == vertices * 200) == spill
    assert memory // 2 < grown < memory + (4 << 20)


@pytest.mark.parametrize("numbered", [False, True])
def test_blocks_of_a_slice_are_as_few_as_they_may_be(numbered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No block has more numbered rows than a word can distinguish: all of its rows, or those with arcs."""
    monkeypatch.setattr(sorted_slice, "MOST_ROWS", 100)
    draw = np.random.default_rng(7)
    for number in range(40):
        lengths = draw.integers(0, 9, draw.integers(1, 900))
        lengths = np.where(draw.random(len(lengths)) < number / 39, 0, lengths)
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.uint32)
        threads = 1 + number % 4
        firsts = sorted_slice._even_bounds(offsets, threads, numbered=numbered)
        assert firsts[0] == 0
        assert firsts[-1] == len(lengths)
        assert (np.diff(firsts) > 0).all()
        counts = (lengths > 0) if numbered else np.ones(len(lengths), dtype=bool)
        counted = [int(counts[first:last].sum()) for first, last in pairwise(firsts)]
        assert max(counted) <= 100
        assert len(counted) <= threads + sum(counted) // 100
