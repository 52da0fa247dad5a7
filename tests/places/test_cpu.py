"""Slices and parts on the CPU engine's kernels: a few programs, since each takes seconds to compile."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cpu.claiming_part import ClaimingPart
from dromos.engines.cpu.part import CpuLeaf, CpuPart
from dromos.engines.reference import ReferenceEngine
from dromos.errors import FieldOverflowError
from dromos.graph import Graph, generators
from dromos.places import PlacedEngine
from dromos.places.grid import Grid
from dromos.plan import Path
from dromos.program import Program
from tests.places.test_programs import Narrow, check
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.running import run

KINDS = [  # votes with a derived wish, `sent`, edge fields, keyed messages, update on all and a read of targets
    programs.BFS,
    programs.DeltaPageRank,
    programs.Hebb,
    programs.SSSPWithParents,
    programs.BCBackward,
]


def weighted(graph: Graph) -> Graph:
    graph = generators.with_random_weights(graph, 1, 9, seed=1)
    return graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_programs_over_slices_and_parts(kind: type[Program]) -> None:
    check(kind, weighted(generators.uniform(120, 400, seed=2)), CpuLeaf(threads=2), slices=3, parts=1)
    check(kind, weighted(generators.uniform(90, 300, seed=3, directed=False)), CpuLeaf(threads=2), slices=2, parts=3)


def test_a_program_that_reads_no_weights_has_the_same_kernels_for_all_weights() -> None:
    graph = generators.uniform(120, 400, seed=2)
    for program, reads in ((programs.BFS(source=1), False), (programs.SSSPWithParents(source=1), True)):
        prepared = PlacedEngine(CpuLeaf(threads=2)).prepare(program, weighted(graph))
        assert [part.typed.types.weight is not None for part in prepared.parts] == [reads]


@pytest.mark.parametrize("seed", range(1, 2 + int(os.environ.get("DROMOS_TEST_EXAMPLES", 0)) // 20))
def test_random_programs(seed: int) -> None:
    engines = PlacedEngine(CpuLeaf(threads=2), slices=3), PlacedEngine(CpuLeaf(threads=1), slices=2, parts=3)
    assert list(disagreements(random_program(seed), seed, *engines, only="sync")) == []


class Claims(Program):
    """A vertex takes one message; messages read fields of both ends, one of which changes."""

    source, first = dr.param(int), dr.param(int)
    level = dr.field(np.int32)
    depth = dr.field(np.int64)
    bias = dr.field(np.int64)
    combine = dr.ANY

    def init(self, v):  # type: ignore[no-untyped-def]
        return {"level": dr.where(v.id == self.source, self.first, -1), "depth": 5, "bias": v.id % 3}

    def start(self, v):  # type: ignore[no-untyped-def]
        return v.id == self.source

    def compute(self, u, edge, v):  # type: ignore[no-untyped-def]
        return u.depth - u.bias + 10 + v.bias + dr.cast(edge.weight * 0, np.int64)

    def update(self, v, message):  # type: ignore[no-untyped-def]
        new = v.level < 0
        return {"level": dr.where(new, self.superstep + 1, v.level), "depth": dr.where(new, message, v.depth)}

    def active(self, old, new):  # type: ignore[no-untyped-def]
        return new.level != old.level


@pytest.mark.parametrize("first", [0, -1], ids=["claimed", "open start"])
def test_claims_in_any_order_of_directions(first: int) -> None:
    """Pushes and pulls in random order; an active vertex that still wants a message has not been claimed."""
    draw = random.Random(first)
    for number in range(30):
        n = draw.choice((1, 3, 40, 64, 200, 700))
        graph = weighted(generators.uniform(n, draw.choice((0, n, 3 * n)), seed=number, directed=draw.random() < 0.5))
        program = Claims(source=draw.randrange(n), first=first)
        expected = ReferenceEngine().prepare(program, graph)
        leaf = CpuLeaf(threads=draw.choice((1, 2)))
        cut: dict[str, Any] = {"slices": draw.randrange(1, 4), "parts": draw.randrange(1, 5)}
        if number % 3 == 0:
            cut = {"grid": Grid(draw.randrange(1, 4), draw.randrange(1, 4))}
        found = PlacedEngine(leaf, **cut).prepare(program, graph)
        assert isinstance(found.parts[0], ClaimingPart if first == 0 else CpuPart)
        while not expected.stats.finished:
            expected.step(Path())
            found.step(draw.choice((Path(), Path(direction="pull"))))
            for name in ("frontier", "out_degree", "superstep", "finished"):
                assert getattr(found.stats, name) == getattr(expected.stats, name)
        for name, values in expected.result().items():
            assert np.array_equal(found.result()[name], values), name


def test_distances_in_order() -> None:
    """Delta-stepping over parts, perhaps with ordinary supersteps before or between; whole and fractional weights."""
    draw = random.Random(3)
    for number in range(30):
        n = draw.choice((1, 3, 40, 64, 200, 700))
        graph = generators.uniform(n, draw.choice((0, n, 3 * n)), seed=number, directed=draw.random() < 0.5)
        graph = graph.with_weights(draw_weights(draw, graph.num_arcs) if graph.directed else None)
        graph = weighted(graph) if graph.weights is None else graph
        program = programs.SSSP(source=draw.randrange(n))
        expected = ReferenceEngine().prepare(program, graph)
        while not expected.stats.finished:
            expected.step(Path())
        found = PlacedEngine(CpuLeaf(threads=draw.choice((1, 2))), parts=draw.randrange(1, 5)).prepare(program, graph)
        assert found.caps.ordered
        while not found.stats.finished:
            mixed = draw.random() < 0.2
            found.step(Path() if mixed else Path("async", "push", "dd"), draw.choice((1, 3, None)))
        np.testing.assert_allclose(found.result()["distance"], expected.result()["distance"], rtol=1e-6)


def draw_weights(draw: random.Random, count: int) -> np.ndarray:
    """Weights of which a few are large, and a few are zero."""
    return np.array([draw.choice((0, 0.25, 1, 7, 1000)) for _ in range(count)], np.float32)


def test_slices_have_no_order() -> None:
    execution = PlacedEngine(CpuLeaf(threads=1), slices=2).prepare(
        programs.SSSP(source=0), weighted(generators.path(9))
    )
    assert not execution.caps.ordered
    assert len(execution.caps.paths) == 8


def test_messages_to_several_parts_wait_for_the_end_of_a_superstep() -> None:
    execution = PlacedEngine(CpuLeaf(threads=1), slices=2, parts=2).prepare(
        programs.SSSP(source=0), weighted(generators.path(9))
    )
    assert all(path.sync == "sync" for path in execution.caps.paths)


@pytest.mark.parametrize("path", ["sync-push-dd", "sync-pull-td"])
def test_a_hub_goes_over_slices_and_threads(path: str) -> None:
    star = weighted(generators.star(50_000))
    found, _ = run(programs.BFS(source=1), star, path, engine=PlacedEngine(CpuLeaf(threads=2), slices=2, parts=2))
    assert found["level"][:3].tolist() == [1, 0, 2]
    assert (found["level"][3:] == 2).all()


def test_an_overflow_is_an_error() -> None:
    engine = PlacedEngine(CpuLeaf(threads=1), parts=2)
    with pytest.raises(FieldOverflowError, match="wider type"):
        engine.prepare(Narrow(), weighted(generators.path(3))).step(Path())


def test_public_algorithms() -> None:
    graph = weighted(generators.uniform(200, 900, seed=4))
    place = {"device": "cpu", "threads": 2, "slices": 3, "parts": 2}
    dr.bfs(graph, 0, **place).verify()
    dr.pagerank(graph, **place).verify()


def test_the_parts_and_their_skeletons_agree_on_the_layout_of_what_they_share() -> None:
    from dromos.engines.cpu import claiming_part, general_part, launching
    from dromos.engines.cpu.skeletons import claiming_slices, supersteps
    from dromos.jit import LINE

    assert launching.LINE == LINE
    assert general_part.MESSAGES == supersteps.MESSAGES
    words = (claiming_part.CLAIMED, claiming_part.OUT_DEGREES, claiming_part.OPEN_STARTS, launching.OVERFLOWS)
    skeleton = claiming_slices
    assert words == (skeleton.CLAIMED, skeleton.OUT_DEGREES, skeleton.OPEN_STARTS, skeleton.OVERFLOWS)
