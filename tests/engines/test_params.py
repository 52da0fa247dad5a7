"""Parameters that are vertices: one that the graph does not have is refused before anything runs."""

from __future__ import annotations

import pytest

import dromos as dr
from dromos.errors import UnknownVertexError
from tests.algorithms.support import on_every_device
from tests.program import programs as p

LINE = dr.generators.path(4)


class Several(p.Reach):
    """From two vertices, declared as such and compared in a way that nobody could guess."""

    source = dr.param(dr.ID, size=2)

    def init(self, v):
        return (v.id - self.source[0]) * (v.id - self.source[1]) == 0

    def start(self, v):
        return v.reached


class Declared(p.Reach):
    source = dr.param(dr.ID)


class Weighed(p.Reach):
    """A whole number that is no vertex, though an id is compared with it."""

    def init(self, v):
        return v.id < self.source

    def start(self, v):
        return v.id < self.source


@on_every_device
@pytest.mark.parametrize("source", [-1, 4, 10**12])
@pytest.mark.parametrize("program", [p.BFS, p.SSSP, Declared])
def test_a_vertex_that_is_not_there_is_refused(device, program, source):
    with pytest.raises(UnknownVertexError, match=rf"source={source} is not a vertex of the graph, .* 0\.\.3"):
        dr.run(program(source=source), LINE, device=device)


@on_every_device
def test_each_of_several_vertices_is_looked_at(device):
    with pytest.raises(UnknownVertexError, match="source=7 is not a vertex"):
        dr.run(Several(source=[1, 7]), LINE, device=device)


def test_a_graph_without_vertices_has_none():
    empty = dr.Graph.from_edges([], [], num_vertices=0)
    with pytest.raises(UnknownVertexError, match="which has none"):
        dr.run(Declared(source=0), empty, device="reference")


def test_other_numbers_may_be_anything():
    assert Weighed.ir().vertex_params == frozenset()
    assert dr.run(Weighed(source=99), LINE, device="reference").reached.all()
    assert dr.run(Several(source=[1, 3]), dr.Graph.from_edges([1], [2], num_vertices=5), device="reference")[
        "reached"
    ].tolist() == [False, True, True, True, False]
