"""Slices and parts on the CPU engine's kernels: a few programs, since each takes seconds to compile."""

from __future__ import annotations

import os

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import FieldOverflowError
from dromos.graph import Graph, generators
from dromos.places import PlacedEngine
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


@pytest.mark.parametrize("seed", range(1, 2 + int(os.environ.get("DROMOS_TEST_EXAMPLES", 0)) // 20))
def test_random_programs(seed: int) -> None:
    engines = PlacedEngine(CpuLeaf(threads=2), slices=3), PlacedEngine(CpuLeaf(threads=1), slices=2, parts=3)
    assert list(disagreements(random_program(seed), seed, *engines, only="sync")) == []


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


def test_the_part_and_its_skeleton_agree_on_the_layout_of_what_they_share() -> None:
    from dromos.engines.cpu import part
    from dromos.engines.cpu.skeletons import common, slices, supersteps
    from dromos.jit import LINE

    assert (part.LINE, part.BLOCK, part.SUMMED) == (LINE, common.BLOCK, slices.SUMMED)
    assert (part.MESSAGES, part.OVERFLOWS) == (supersteps.MESSAGES, supersteps.OVERFLOWS)
    assert (part.QUEUE, part.TOUCHED, part.STOP) == (common.QUEUE, common.TOUCHED, common.STOP)
