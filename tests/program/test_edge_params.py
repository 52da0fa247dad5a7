"""Values given per edge: every engine, path, slice and direction uses the value of the right arc."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.engines.arc_order import in_order
from dromos.errors import InvalidArgumentError, ProgramError
from dromos.program import GraphTypes, analyse

NEVER = 10**9


class Arrivals(dr.Program):
    """The earliest arrival everywhere: a connection can be used if one arrives before it departs."""

    source = dr.param(dr.ID)
    departure = dr.edge_param(np.int64)
    duration = dr.edge_param(np.int32, size=2)
    arrival = dr.field(np.int64)
    combine = dr.MIN

    def init(self, v):
        return dr.where(v.id == self.source, 0, NEVER)

    def start(self, v):
        return v.id == self.source

    def sends(self, u, edge, v):
        return u.arrival <= edge.departure

    def compute(self, u, edge, v):
        return edge.departure + edge.duration[0] + edge.duration[1]

    def update(self, v, message):
        return dr.minimum(v.arrival, message)


@pytest.fixture(scope="module", params=["directed", "undirected", "parallel weights"])
def timetable(request):
    rng = np.random.default_rng(7)
    ends = rng.integers(0, 40, (2, 300))
    if request.param == "parallel weights":  # parallel arcs of different weights are in some order in either direction
        ends = ends % 6
        graph = dr.Graph.from_edges(*ends, rng.integers(1, 9, 300), num_vertices=6, directed=False)
    else:
        graph = dr.Graph.from_edges(*ends, num_vertices=40, directed=request.param == "directed")
    by_arc = rng.integers(0, 60, graph.num_arcs), rng.integers(0, 9, (graph.num_arcs, 2))
    return graph, Arrivals(source=0, departure=by_arc[0], duration=by_arc[1])


def plain_arrivals(graph, program):
    arrival = np.full(graph.num_vertices, NEVER)
    arrival[0] = 0
    sources = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    departure, end = program.departure, program.departure + program.duration.sum(axis=1)
    for _ in range(graph.num_vertices):
        taken = arrival[sources] <= departure
        np.minimum.at(arrival, graph.targets[taken], end[taken])
    return arrival


@pytest.mark.parametrize("how", [{"device": "reference"}, {"device": "numpy"}, {"device": "cpu", "threads": 2}])
@pytest.mark.parametrize("path", ["sync-push-dd", "sync-pull-td", "auto"])
def test_every_engine_and_path_sees_the_value_of_its_arc(timetable, how, path):
    graph, program = timetable
    assert np.array_equal(dr.run(program, graph, path=path, **how).arrival, plain_arrivals(graph, program))


@pytest.mark.parametrize("device", ["reference", "numpy", "cpu"])
@pytest.mark.parametrize("path", ["sync-push-dd", "sync-pull-dd"])
def test_slices_and_parts_see_it_too(timetable, device, path):
    graph, program = timetable
    result = dr.run(program, graph, path=path, device=device, slices=3, parts=2)
    assert np.array_equal(result.arrival, plain_arrivals(graph, program))


@pytest.mark.gpu
@pytest.mark.parametrize("path", ["sync-push-dd", "sync-pull-td", "auto"])
def test_on_a_gpu(timetable, path):
    graph, program = timetable
    result = dr.run(program, graph, path=path, device="cuda")
    assert np.array_equal(result.arrival, plain_arrivals(graph, program))


def test_a_stream_pushes_it(tmp_path):
    graph = dr.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    graph.write(tmp_path / "g.drm")
    program = Arrivals(source=0, departure=[1, 2, 9, 4], duration=[[1, 0], [1, 1], [3, 0], [0, 1]])
    result = dr.run(program, dr.open(tmp_path / "g.drm"), memory="64M")
    assert result.arrival.tolist() == [0, 2, 4, 5]


def test_arcs_of_in_rows_are_those_of_out_rows():
    graph = dr.Graph.from_edges([2, 0, 0, 2, 1], [0, 2, 1, 1, 2], [5, 1, 2, 3, 4])
    order = in_order(graph, graph.transpose)
    assert np.array_equal(graph.weights[order], graph.transpose.weights)
    assert order is in_order(graph, graph.transpose)


def test_what_is_known_of_such_programs():
    facts = analyse(Arrivals.typed(GraphTypes()))
    assert facts.legal["sync-pull-dd"] is None
    assert not facts.source_only
    assert not facts.uniform


def test_errors_say_what_is_expected():
    graph = dr.generators.path(3)
    with pytest.raises(InvalidArgumentError, match="departure has 2 rows, but the graph has 4 arcs; give one row per"):
        dr.run(Arrivals(source=0, departure=[1, 2], duration=[[1, 1]] * 4), graph)
    with pytest.raises(InvalidArgumentError, match=r"duration has shape \(4,\), expected \(num_arcs, 2\)"):
        Arrivals(source=0, departure=[1, 2, 3, 4], duration=[1, 2, 3, 4])

    class Misread(Arrivals):
        def compute(self, u, edge, v):
            return self.departure

    with pytest.raises(ProgramError, match=r"self\.departure has a value for each edge; read edge\.departure"):
        Misread.ir()


@pytest.mark.nvrtc
def test_every_kernel_compiles_for_a_gpu():
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    from tests.cuda.compiling import compile_program

    assert compile_program(Arrivals.typed(GraphTypes()), "sm_80") >= 3
