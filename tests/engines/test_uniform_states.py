"""First states that are the same at all vertices but a few: what NumPy writes is what the reference engine says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines import graph_types
from dromos.engines.vectorised.part import VectorisedPart
from dromos.errors import FieldOverflowError
from dromos.runner.devices import engine_for

GRAPH = dr.generators.path(9)


class Few(dr.Program):
    """All ways in which ids are compared."""

    source = dr.param(int)
    other = dr.param(int)
    level = dr.field(np.int32)
    parent = dr.field(dr.ID)
    pair = dr.field(np.int32, size=2)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        here, there = v.id == self.source, self.other != v.id
        return {
            "level": dr.where(here, v.id + v.out_degree, dr.where(there, -1, v.id * 3)),
            "parent": dr.where(v.id == 4, v.id, dr.where((v.id == 1 << 20) | (v.id == -1) | (v.id != 9), -1, 7)),
            "pair": (dr.where(here & there, 5, 6), self.source),
        }

    def start(self, v: Any) -> Any:
        return (v.level >= 0) | (v.id == 4)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.level

    def update(self, v: Any, message: Any) -> Any:
        return {"level": dr.minimum(v.level, message)}


class Most(Few):
    def start(self, v: Any) -> Any:
        return v.id != self.source


class ByPlace(Few):
    """No few: what a branch for all others makes of the id."""

    def init(self, v: Any) -> Any:
        return {"level": dr.where(v.id == self.source, 0, v.id), "parent": v.out_degree, "pair": (0, 0)}


def _parts(program: dr.Program, cut: int) -> list[VectorisedPart]:
    types = graph_types(GRAPH)
    return [VectorisedPart(program, GRAPH, types, *ends) for ends in ((0, cut), (cut, 9))]


@pytest.mark.parametrize("kind", [Few, Most, ByPlace])
@pytest.mark.parametrize(("source", "other"), [(0, 1), (3, 3), (8, 0), (4, 5)])
def test_states_and_frontiers(kind: type[dr.Program], source: int, other: int) -> None:
    program = kind(source=source, other=other)
    expected: Any = engine_for("reference").prepare(program, GRAPH)
    parts = _parts(program, 4)
    assert (parts[0]._few() is None) == (kind is ByPlace)
    started = [vertex for part in parts for vertex in part.initialise().tolist()]
    for name, values in expected.state.items():
        for part in parts:
            assert np.array_equal(part.state[name], values), name
    assert len(started) == expected.stats.frontier
    fields = dr.run(program, GRAPH, device="numpy", max_iter=1)
    assert np.array_equal(fields.level, dr.run(program, GRAPH, device="reference", max_iter=1).level)


def test_a_graph_of_few_vertices() -> None:
    single = dr.Graph.from_edges([0], [0], num_vertices=1)
    assert dr.bfs(single, 0, device="numpy").level.tolist() == [0]
    assert dr.run(Few(source=0, other=0), single, device="numpy").pair.tolist() == [[6, 0]]


class TooLarge(dr.Program):
    source = dr.param(int)
    level = dr.field(np.int8)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        return dr.where(v.id == self.source, 0, self.source + 1000)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.level

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.level, message)


@pytest.mark.parametrize("device", ["numpy", "reference"])
def test_a_value_that_does_not_fit_names_the_first_vertex_that_has_it(device: str) -> None:
    with pytest.raises(FieldOverflowError, match=r"TooLarge.init: 1000 does not fit field 'level'.* 1\)"):
        dr.run(TooLarge(source=0), GRAPH, device=device)
