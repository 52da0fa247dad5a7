"""A pull along arcs in blocks means what a pull along rows means, and its digits depend on the graph alone."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
import dromos.program as pr
from dromos.algorithms.pagerank import pagerank_program
from dromos.engines.cpu import CpuEngine, arc_blocks
from dromos.engines.cpu.execution import CpuExecution
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.source_order import BY_ID, better_order
from dromos.engines.cpu.topology import HUB_LENGTH, Hubs
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph, generators
from dromos.plan import Path
from dromos.runner.loop import iterate
from tests.stream.sorting import put_hubs_first

(SPAN,), (FOLD,) = constants("block_tiles", "SPAN"), constants("common", "FOLD")
PULL = Path.parse("sync-pull-td")
HUB = 40_000


@pytest.fixture
def graph() -> Graph:
    """Rows over three tiles, some with many arcs in one; parallel edges, loops, isolated vertices, a sink, a hub."""
    n = (2 << SPAN) + 1000
    random = np.random.default_rng(5)
    edges = generators.rmat(13, 8, seed=3).edges()
    many, some = np.arange(0, n, 50), np.arange(300)
    hub = random.integers(0, n, HUB_LENGTH + 4000)
    src = np.concatenate([edges.src * 8 + 3, random.integers(0, n, 20_000), many, hub, some])
    dst = np.concatenate([edges.dst * 8 + 1, random.integers(0, n, 20_000), many * 0 + 77, hub * 0 + HUB, some])
    return Graph.from_edges(src, dst, num_vertices=n)


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every graph is worth blocks; the sizes of those that were made."""
    for name in ("LEAST_VALUES", "LEAST_ARCS", "LEAST_DEGREE"):
        monkeypatch.setattr(arc_blocks, name, 0)
    made: list[int] = []
    sort = arc_blocks._made

    def counted(*args: object) -> arc_blocks.ArcBlocks:
        found = sort(*args)  # type: ignore[arg-type]
        made.append(len(found.firsts) - 1)
        return found

    monkeypatch.setattr(arc_blocks, "_made", counted)
    return made


@pytest.fixture(params=[False, True], ids=["by id", "hubs first"])
def hubs_first(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The order of sources in tiles."""
    put_hubs_first(monkeypatch, always=request.param)
    return bool(request.param)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("together", [None, 2])
def test_blocks_hold_every_arc_once_in_the_order_of_its_row(
    graph: Graph, threads: int, together: int | None, hubs_first: bool
) -> None:
    back = graph.transpose
    offsets, sources = back.offsets.astype(np.uint32), back.targets.astype(np.uint32)
    order = better_order(graph.offsets.astype(np.uint32), offsets, sources, threads)
    hubs = Hubs(offsets, HUB_LENGTH)
    firsts = arc_blocks._first_rows(arc_blocks._without(offsets, hubs), threads, numbered=hubs_first)
    done: list[int] = []
    found = arc_blocks.sort_arcs(
        offsets, sources, graph.num_vertices, firsts, hubs, threads,
        longest=HUB_LENGTH, order=order, numbered=hubs_first, together=together, after=done.append,
    )  # fmt: skip
    assert done == sorted(done)
    assert done[-1] == graph.num_vertices
    placed = order.places[sources] if hubs_first else sources
    if hubs_first:
        degree = np.diff(graph.offsets)
        by_place = np.argsort(order.places, kind="stable")[: order.count]
        assert order.count == np.count_nonzero(degree)
        assert (degree[by_place][:-1] * 1.25 + 1 >= degree[by_place][1:]).all()  # about falling
    assert found.firsts[0] == 0
    assert found.firsts[-1] == graph.num_vertices
    assert (found.firsts[:-1] % FOLD == 0).all()
    assert found.tiles == (-(-order.count >> SPAN) if hubs_first else 3)
    assert len(found.words)
    assert len(found.segment_rows)
    rows: list[list[int]] = [[] for _ in range(graph.num_vertices)]
    for block, first in enumerate(found.firsts[:-1].tolist()):
        row_of = first + np.arange(found.firsts[block + 1] - first)
        if hubs_first:
            row_of = first + np.argsort(found.row_places[row_of], kind="stable")[: found.row_counts[block]]
            lengths = np.diff(offsets)[row_of]
            assert (lengths[:-1] * 1.25 + 1 >= lengths[1:]).all()  # about falling
            assert lengths.min(initial=1) > 0
            own = np.diff(offsets)[first : found.firsts[block + 1]]
            assert len(row_of) == np.count_nonzero((own > 0) & (own <= HUB_LENGTH)) < found.rows
        for tile in range(found.tiles):
            at, base = block * found.tiles + tile, tile << SPAN
            begin = int(found.long_starts[at])
            for segment in range(int(found.segment_starts[at]), int(found.segment_starts[at + 1])):
                end = int(found.segment_ends[segment])
                row = rows[row_of[found.segment_rows[segment]]]
                row += [base + source for source in found.long_sources[begin:end].tolist()]
                begin = end
            assert begin == found.long_starts[at + 1]
            for word in found.words[found.word_starts[at] : found.word_starts[at + 1]].tolist():
                rows[row_of[word >> SPAN]].append(base + (word & ((1 << SPAN) - 1)))
    assert found.hubs.vertices.tolist() == [HUB]
    assert rows[HUB] == []
    for v in range(graph.num_vertices):
        expected = placed[offsets[v] : offsets[v + 1]]
        if hubs_first:  # within a tile in the order of the row
            expected = expected[np.argsort(expected >> SPAN, kind="stable")]
        assert v == HUB or rows[v] == expected.tolist()


class Gossip(pr.Program):
    """A message of two numbers, vertices that want none, a state that sending changes, and an exact answer."""

    heard = pr.field(np.int64)
    teller = pr.field(np.int64, init=-1)
    told = pr.field(np.int32, init=0)
    combine = pr.ARGMAX
    update_on = "all"

    @pr.reduction(pr.SUM)
    def loud(self, v):
        return pr.cast(v.heard % 7, np.int64)

    def init(self, v):
        return {"heard": (v.id * 7919) % 1009}

    def wants(self, v):
        return v.id % 3 != 0

    def compute(self, u, edge, v):
        return u.heard + u.id % 11, pr.cast(u.id, np.int64)

    def sent(self, u):
        return {"told": u.told + 1}

    def update(self, v, message):
        heard, teller = message
        more = heard > v.heard
        return {
            "heard": pr.where(more, heard, v.heard) - pr.cast(self.loud % 2, np.int64),
            "teller": pr.where(more, teller, v.teller),
        }

    def active(self, old, new):
        return True


@pytest.mark.usefixtures("hubs_first")
def test_messages_of_any_program(graph: Graph, in_blocks: list[int]) -> None:
    expected = dr.run(Gossip(), graph, device="numpy", max_iter=6)
    found = dr.run(Gossip(), graph, device="cpu", threads=2, path=str(PULL), max_iter=6)
    assert in_blocks
    for name in ("heard", "teller", "told"):
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@pytest.mark.usefixtures("hubs_first")
def test_ranks_are_the_same_bytes_for_any_number_of_threads_and_of_calls(graph: Graph, in_blocks: list[int]) -> None:
    program = pagerank_program()(alpha=0.85, tolerance=1e-7)
    expected = dr.run(program, graph, device="numpy")
    ends = []
    for threads, horizon in ((1, None), (2, 1), (2, 3), (3, None), (5, None)):
        execution = CpuEngine(threads=threads).prepare(program, graph)
        while not execution.stats.finished:
            execution.step(PULL, horizon)
        np.testing.assert_allclose(execution.state["rank"], expected["rank"], rtol=1e-9)
        ends.append((execution.stats.superstep, execution.state["rank"].tobytes(), dict(execution.reductions)))
    assert ends[1:] == ends[:-1]
    assert len(in_blocks) == 4  # kept until another number of threads asks


@pytest.mark.usefixtures("hubs_first")
def test_a_run_taken_up_again_has_the_same_digits(graph: Graph, in_blocks: list[int]) -> None:
    program = pagerank_program()(alpha=0.85, tolerance=0.0)
    whole, first, second = (CpuExecution(program, graph, 2) for _ in range(3))
    for execution, steps in ((whole, 5), (first, 3)):
        while execution.superstep < steps:
            execution.step(PULL, 1)
    second.restore(first.save(), first.stats)
    while second.superstep < 5:
        second.step(PULL, 1)
    assert second.state["rank"].tobytes() == whole.state["rank"].tobytes()


def test_small_graphs_and_short_runs_go_by_rows(graph: Graph, in_blocks: list[int]) -> None:
    offsets, sources = graph.offsets.astype(np.uint32), graph.targets.astype(np.uint32)
    assert arc_blocks.is_worth_blocks(offsets, sources, 8)
    assert not arc_blocks.is_worth_blocks(offsets, sources.astype(np.uint64), 8)
    for name in ("LEAST_VALUES", "LEAST_ARCS", "LEAST_DEGREE"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(arc_blocks, name, 1 << 40)
            assert not arc_blocks.is_worth_blocks(offsets, sources, 8)
    dr.run(Gossip(), graph, device="cpu", threads=2, path=str(PULL), max_iter=arc_blocks.LEAST_PULLS - 1)
    assert not in_blocks
    dr.run(Gossip(), graph, device="cpu", threads=2, path=str(PULL), max_iter=arc_blocks.LEAST_PULLS)
    assert in_blocks


@pytest.mark.usefixtures("hubs_first")
def test_digits_do_not_depend_on_how_many_supersteps_run_in_one_call(graph: Graph, in_blocks: list[int]) -> None:
    """Not in a short run along rows, nor in one that sorts, whether or not somebody watches it."""
    for steps in (arc_blocks.LEAST_PULLS - 1, arc_blocks.LEAST_PULLS + 1):
        found = []
        for every in (None, 1, 2):
            execution = CpuEngine(threads=2).prepare(pagerank_program()(alpha=0.85, tolerance=0.0), graph)
            watch = None if every is None else lambda execution, stats: None
            iterate(execution, PULL, max_iter=steps, watch=watch, every=every or 1)
            found.append(execution.state["rank"].tobytes())
        assert found[1:] == found[:-1]
    assert in_blocks


def test_blocks_may_be_forbidden(graph: Graph, in_blocks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    offsets, sources = graph.offsets.astype(np.uint32), graph.targets.astype(np.uint32)
    for value, taken in (("0", False), ("1", True), ("", True)):
        monkeypatch.setenv(arc_blocks.BLOCKS_VARIABLE, value)
        assert arc_blocks.is_worth_blocks(offsets, sources, 8) is taken
    monkeypatch.setenv(arc_blocks.BLOCKS_VARIABLE, "no")
    with pytest.raises(InvalidArgumentError, match="DROMOS_ARC_BLOCKS='no' is neither 0 nor 1"):
        arc_blocks.is_worth_blocks(offsets, sources, 8)


def test_hubs_come_first_where_that_brings_arcs_together() -> None:
    """A skewed graph whose ids say nothing; not one in that order, one without hubs, or one with near neighbours."""
    kron = generators.rmat(19, 8, seed=2)
    cases = {
        "kron": (kron, True), "by degree": (kron.relabel_by_degree().graph, False),
        "uniform": (generators.uniform(scale=18, edge_factor=8, seed=2), False), "near": (_near(), False),
    }  # fmt: skip
    for name, (graph, expected) in cases.items():
        offsets, targets = graph.offsets.astype(np.uint32), graph.targets.astype(np.uint32)
        orders = [better_order(offsets, offsets, targets, threads) for threads in (1, 3)]
        assert (orders[0] is not BY_ID) is expected, name
        np.testing.assert_array_equal(orders[0].places, orders[1].places, err_msg=name)


def _near() -> Graph:
    """Half of the vertices have many arcs, to those that are near."""
    n = 1 << 17
    src = np.repeat(np.arange(0, n, 2), 12)
    dst = (src + np.random.default_rng(1).integers(1, 40, len(src))) % n
    return Graph.from_edges(src, dst, num_vertices=n, directed=False)
