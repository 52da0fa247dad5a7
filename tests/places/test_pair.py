"""A device that handles all arcs across the cut, and a host with only the arcs within its part; without a device."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines import GraphShape
from dromos.engines.cpu.claiming_part import ClaimingPart
from dromos.engines.cpu.part import CpuLeaf
from dromos.engines.leading import Led
from dromos.engines.parts import Copies, Leaf, Partial, Phase
from dromos.engines.reference_part import ReferenceLeaf
from dromos.engines.shipping import RowStage
from dromos.engines.vectorised import VectorisedLeaf
from dromos.engines.vectorised.part import VectorisedPart
from dromos.graph import Graph, generators
from dromos.graph.slices import GraphSlice
from dromos.places.hybrid import SPLITS, HybridEngine, SplitGraph, lead, shipping
from dromos.places.hybrid import pair as pair_module
from dromos.places.hybrid.inner import inner_slice
from dromos.plan import Levels, Path
from dromos.program import GraphTypes, Program
from tests.graph.test_partly_held import partly_held
from tests.places.test_cpu import weighted
from tests.places.test_hybrid import AtMost
from tests.places.test_programs import KINDS, check_on
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.small_graphs import graphs
from tests.sizes import examples

_ASKED = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))


class ReachingPart(VectorisedPart):
    """The work of a part on a GPU, done by NumPy."""

    asynchronous = True
    away = adopted = alone = shipped = told = 0

    def copies(self, phase: Phase) -> Copies | None:
        ReachingPart.told += phase == "pull"
        return super().copies(phase)

    def send_away(self, piece: GraphSlice) -> None:
        inside = (piece.targets >= self.first) & (piece.targets < self.last)
        starts = np.concatenate(([0], np.cumsum(~inside)))[piece.offsets - piece.offsets[0]]
        weights = None if piece.weights is None else piece.weights[~inside]
        ReachingPart.away += 1
        self.send(GraphSlice(piece.start, piece.stop, starts, piece.targets[~inside], weights), Path())

    def finish(self, reductions: tuple[Any, ...]) -> None:
        super().finish(reductions)
        self.member[: self.first] = self.member[self.last :] = False  # as on a device, which receives them anew

    def begin_outbox(self, first: int, last: int) -> None:
        assert last <= self.first or self.last <= first

    def adopt(self, led: Led) -> None:
        for name, values in led.rows.items():
            self.state[name][led.ids] = values
        self._frontier = np.sort(led.front)
        ReachingPart.adopted += 1

    def stage_rows(self, rows: int, arcs: int, weight: np.dtype[Any] | None) -> RowStage:
        weights = None if weight is None else np.empty(arcs, weight)
        return RowStage(
            np.empty(rows, self.types.id), np.empty(rows + 1, np.int64), np.empty(arcs, self.types.id), weights
        )

    def push_rows(self, stage: RowStage) -> None:
        lengths = np.zeros(self.shape.num_vertices + 1, np.int64)
        lengths[stage.sources + 1] = np.diff(stage.starts)
        inside = (stage.targets >= self.first) & (stage.targets < self.last)
        starts = np.concatenate(([0], np.cumsum(inside)))[np.cumsum(lengths)]
        weights = None if stage.weights is None else stage.weights[inside]
        own, self._frontier = self._frontier, stage.sources.astype(np.int64)
        self.send(GraphSlice(0, self.shape.num_vertices, starts, stage.targets[inside], weights), Path())
        self._frontier = own
        ReachingPart.shipped += 1

    @property
    def least_alone(self) -> int | None:
        return 5 if self.superstep else None

    def begin_search(self, out: GraphSlice, into: GraphSlice, front: Partial) -> None:
        self.send(into, Path("sync", "pull", "dd"))

    def search_alone(
        self, out: GraphSlice, into: GraphSlice, front: Partial, horizon: int | None
    ) -> tuple[Partial, Levels]:
        sizes, arcs = [front.frontier], [front.out_degree]
        while True:
            self.send(into, Path("sync", "pull", "dd"))
            found = self.settle()
            self.finish(())
            if not found.frontier or len(sizes) == horizon:
                break
            sizes.append(found.frontier)
            arcs.append(found.out_degree)
        ReachingPart.alone += len(sizes)
        return found, Levels(np.array(sizes), np.array(arcs), np.zeros(len(sizes)), np.ones(len(sizes), bool))


class Reaching(VectorisedLeaf):
    """A stand-in for a device."""

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> ReachingPart:
        return ReachingPart(program, shape, types, first, last)


def pair(host: Leaf, share: float, split: str, *, device_first: bool = False) -> HybridEngine:
    return AtMost([Reaching(), host] if device_first else [host, Reaching()], share=share, split=split)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program(kind: type[Program]) -> None:
    @examples(4)
    @given(
        graph=graphs(max_vertices=7),
        host=st.sampled_from([VectorisedLeaf, VectorisedLeaf, ReferenceLeaf]),
        share=st.floats(0, 1),
        split=st.sampled_from(SPLITS),
        device_first=st.booleans(),
    )
    def on_small_graphs(graph: Graph, host: type[Leaf], share: float, split: str, device_first: bool) -> None:
        check_on(kind, graph, pair(host(), share, split, device_first=device_first))

    on_small_graphs()


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSPWithParents], ids=lambda kind: kind.__name__)
def test_compiled_parts(kind: type[Program], split: str) -> None:
    before = ReachingPart.away
    for symmetrize in (False, True):
        graph = weighted(generators.rmat(8, 5, seed=6, symmetrize=symmetrize))
        check_on(kind, graph, pair(CpuLeaf(threads=2), 0.4, split))
        check_on(kind, graph, pair(CpuLeaf(threads=1), 0.7, split, device_first=True))
    assert ReachingPart.away > before


@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSPWithParents], ids=lambda kind: kind.__name__)
def test_rows_are_sent_where_the_host_has_hubs(kind: type[Program]) -> None:
    before = ReachingPart.shipped
    for symmetrize in (False, True):
        graph = weighted(generators.rmat(8, 5, seed=6, symmetrize=symmetrize))
        check_on(kind, graph, pair(CpuLeaf(threads=2), 0.2, "high"))
        check_on(kind, graph, pair(CpuLeaf(threads=1), 0.8, "low", device_first=True))
    assert ReachingPart.shipped > before


@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSPWithParents], ids=lambda kind: kind.__name__)
def test_a_host_with_few_vertices_is_told_who_is_active(kind: type[Program], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a search it then pulls by itself, and the device sends it nothing; other programs continue as before."""
    monkeypatch.setattr(pair_module, "_MANY_ACTIVE", 1)
    monkeypatch.setattr(pair_module, "_FEW", 4)
    monkeypatch.setattr(lead, "_MOST_ARCS", 0)
    before = ReachingPart.told
    for symmetrize in (False, True):
        graph = weighted(generators.rmat(8, 5, seed=6, symmetrize=symmetrize))
        check_on(kind, graph, pair(CpuLeaf(threads=2), 0.2, "high"))
        check_on(kind, graph, pair(VectorisedLeaf(), 0.8, "low", device_first=True))
    assert (ReachingPart.told > before) is (kind is programs.BFS)


@pytest.mark.parametrize("seed", range(max(8, _ASKED // 4)))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # the host is told which vertices are active, however few
        monkeypatch.setattr(pair_module, "_MANY_ACTIVE", 1)
        monkeypatch.setattr(pair_module, "_FEW", 1)
    engines = (
        pair(VectorisedLeaf(), 0.4, SPLITS[seed % 3]),
        pair(VectorisedLeaf(), 0.2, SPLITS[(seed + 1) % 3], device_first=True),
    )
    assert list(disagreements(random_program(seed), seed, *engines, graphs=2, only="sync")) == []


@pytest.mark.parametrize("device_first", [False, True])
def test_a_level_may_push_on_the_host_and_pull_on_the_device(
    device_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lead, "_MOST_ARCS", 0)
    graph = weighted(generators.rmat(11, 8, seed=3, symmetrize=True))
    engine = pair(CpuLeaf(threads=2), 0.5, "random", device_first=device_first)
    for source in np.argsort(graph.out_degree)[[-1, -500, -1200]].tolist():
        found = dr.bfs(graph, source, device=engine, path="sync-pull-td")
        found.verify()
        expected = "numpy pull, cpu push" if device_first else "cpu push, numpy pull"
        assert {row.directions for row in found.trace} == {"", expected}
        assert expected in repr(found.trace)


def test_public_algorithms() -> None:
    graph = weighted(generators.rmat(9, 6, seed=3, symmetrize=True))
    engine = pair(CpuLeaf(threads=2), 0.3, "high")
    dr.bfs(graph, 5, device=engine).verify()
    dr.sssp(graph, 5, device=engine).verify()
    dr.pagerank(graph, device=engine).verify()


@pytest.mark.parametrize("device_first", [False, True])
def test_a_search_begins_on_the_host_and_ends_on_the_device(device_first: bool) -> None:
    graph = weighted(generators.rmat(11, 8, seed=3, symmetrize=True))
    share, split = (0.9, "low") if device_first else (0.1, "high")  # the host has the hubs
    engine = pair(CpuLeaf(threads=2), share, split, device_first=device_first)
    adopted, alone = ReachingPart.adopted, ReachingPart.alone
    for source in np.argsort(graph.out_degree)[[-1, -500, -1200]].tolist():
        found = dr.bfs(graph, source, device=engine)
        found.verify()
        assert found.trace.supersteps == found.level.max() + 1
        limited = dr.bfs(graph, source, device=engine, depth_limit=3)
        assert limited.level.tolist() == np.where(found.level <= 3, found.level, -1).tolist()
    assert ReachingPart.adopted > adopted
    assert ReachingPart.alone > alone


@pytest.mark.parametrize("supersteps", [1, 2, 3, 4])
def test_a_search_that_was_killed_goes_on(supersteps: int, tmp_path: FilePath) -> None:
    """While the host leads, after the device has taken over, and when the device is alone."""
    graph = weighted(generators.rmat(11, 8, seed=3, symmetrize=True))
    source = int(np.argsort(graph.out_degree)[-1200])
    engine = pair(CpuLeaf(threads=2), 0.1, "high")
    how: dict[str, Any] = {"device": engine, "checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    expected = dr.bfs(graph, source, device="numpy")

    def kill(done: int, total: int) -> None:
        if done > supersteps:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        dr.bfs(graph, source, progress=kill, **how)
    found = dr.bfs(graph, source, **how)
    found.verify()
    assert found.level.tolist() == expected.level.tolist()
    assert [row.path for row in found.trace].count("checkpoint") == 1
    assert found.trace.supersteps == expected.trace.supersteps


def test_a_search_that_the_host_runs_to_its_end() -> None:
    engine = pair(CpuLeaf(threads=2), 0.5, "random")
    found = dr.bfs(generators.path(500), 250, device=engine)
    assert found.level.tolist() == np.abs(np.arange(500) - 250).tolist()
    found.verify()


class Lacking(HybridEngine):
    """An engine whose host does not hold the device's rows."""

    def _split(self, graph: Graph, *, arcs: bool = False) -> SplitGraph:
        made = super()._split(graph, arcs=arcs)
        self.graph = partly_held(graph, made, 0)
        return replace(made, graph=self.graph)


def test_a_host_that_lacks_rows_makes_those_that_it_needs() -> None:
    engine = Lacking([CpuLeaf(threads=2), Reaching()], share=0.5, split="random")
    found = dr.bfs(generators.path(500), 250, device=engine)
    assert found.level.tolist() == np.abs(np.arange(500) - 250).tolist()
    assert not engine.graph.is_whole
    graph = weighted(generators.rmat(11, 8, seed=3, symmetrize=True))
    engine = Lacking([CpuLeaf(threads=2), Reaching()], share=0.1, split="high")
    adopted, shipped = ReachingPart.adopted, ReachingPart.shipped
    for source in np.argsort(graph.out_degree)[[-1, -500, -1200]].tolist():
        dr.bfs(graph, source, device=engine).verify()
        dr.sssp(graph, source, device=engine).verify()
        dr.sssp(graph, source, device=engine, path="sync-push-dd").verify()  # its rows are sent in every superstep
    assert ReachingPart.adopted > adopted
    assert ReachingPart.shipped > shipped


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("vertices", [[5], [0, 3, 127], list(range(128)), list(range(1, 128, 2))], ids=len)
def test_rows_are_gathered_one_behind_the_other(
    vertices: list[int], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "_WORTH_A_TEAM", 1)
    graph, taken = weighted(generators.rmat(7, 4, seed=1)), []

    class Taking(ReachingPart):
        def push_rows(self, stage: RowStage) -> None:
            taken.append(stage)

    part = Taking(programs.BFS(source=1), graph, GraphTypes(), 0, 128)
    shipping.ship_rows(graph, np.array(vertices), part, threads)
    assert graph.weights is not None
    rows = [slice(graph.offsets[v], graph.offsets[v + 1]) for v in vertices]
    targets = np.concatenate([graph.targets[row] for row in rows])
    if not len(targets):
        assert not taken
        return
    (stage,) = taken
    assert stage.sources.tolist() == vertices
    assert np.diff(stage.starts).tolist() == [row.stop - row.start for row in rows]
    assert stage.targets.tolist() == targets.tolist()
    assert stage.weights.tolist() == np.concatenate([graph.weights[row] for row in rows]).tolist()


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_arcs_within_a_part(direction: str) -> None:
    graph = weighted(generators.rmat(7, 4, seed=1))
    rows = graph if direction == "push" else graph.transpose
    for first, last in ((0, 128), (0, 40), (40, 90), (128, 128), (60, 60)):
        found = inner_slice(graph, first, last, direction)  # type: ignore[arg-type]
        expected = [
            (u, int(v), float(w))
            for u in range(first, last)
            for v, w in zip(rows.neighbors(u), rows.weights[rows.offsets[u] : rows.offsets[u + 1]], strict=True)
            if first <= v < last
        ]
        assert found.weights is not None
        assert list(zip(found.sources, found.targets, found.weights.astype(float), strict=True)) == expected


@pytest.mark.parametrize(("first", "last"), [(0, 200), (10, 20), (3, 64), (64, 130), (70, 190), (150, 150)])
def test_a_part_knows_that_no_vertex_wants_a_message(first: int, last: int) -> None:
    part = CpuLeaf(threads=1).part(programs.BFS(source=1), generators.path(200), GraphTypes(), first, last)
    assert isinstance(part, ClaimingPart)
    part._wanting[:] = 0
    assert part.wants_none
    for vertex in {0, 9, 10, 19, 20, 63, 64, 69, 129, 130, 189, 190, 199, first, last}:
        if vertex < 200:
            part._wanting[vertex // 64] = np.uint64(1 << vertex % 64)
            assert part.wants_none == (not first <= vertex < last), vertex
            part._wanting[vertex // 64] = 0
