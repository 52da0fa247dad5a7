"""Vertices settled in the order of a field: no weight, however great or rare, may lose a vertex."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.sssp import sssp_program
from dromos.engines.cpu import CpuEngine
from dromos.engines.cpu.ordering import Ordering
from dromos.engines.reference import ReferenceEngine
from dromos.program import GraphTypes, analyse
from dromos.program.forms import is_ordered
from tests.algorithms.support import on_every_device
from tests.program.running import run
from tests.sizes import examples

TYPES = (np.int32, np.float32, np.float64)
ORDERED = "async-push-dd"


def clique_with_a_tail(heavy: float, dtype: type) -> dr.Graph:
    """A clique of edges that weigh 1, then one heavy edge, then one that weighs 1."""
    edges = dr.generators.complete(70).edges()
    weights = np.append(np.ones(len(edges.src), dtype), np.array([heavy, 1], dtype))
    return dr.Graph.from_edges(
        np.append(edges.src, [0, 70]), np.append(edges.dst, [70, 71]), weights, directed=False, threads=1
    )


@on_every_device
@pytest.mark.parametrize("heavy", [10**3, 10**5, 10**7])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_vertices_behind_a_heavy_edge_are_reached(device, dtype, heavy):
    result = dr.sssp(clique_with_a_tail(heavy, dtype), 0, device=device)
    assert device == "reference" or set(result.trace.paths) == {ORDERED}
    assert result.distance[-2:].tolist() == [heavy, heavy + 1]
    result.verify()


def test_a_great_weight_that_a_sample_misses(monkeypatch):
    """Two graphs joined by one edge that weighs four times what all others do."""
    edges = dr.generators.rmat(10, 8, seed=1).edges()
    rng = np.random.default_rng(1)
    src, dst = (np.concatenate([ends, ends + 1024, [joint]]) for ends, joint in ((edges.src, 0), (edges.dst, 1024)))
    weights = np.append(rng.integers(1, 255, len(src) - 1), 1000).astype(np.int32)
    graph = dr.Graph.from_edges(src, dst, weights, directed=False)
    sampled = Ordering._bin_width
    monkeypatch.setattr(Ordering, "_bin_width", lambda self: (sampled(self)[0], 4))  # as if only small ones were seen
    found = dr.sssp(graph, 0, device="cpu")
    assert found.distance.tolist() == dr.sssp(graph, 0, device="cpu", path="sync-push-dd").distance.tolist()
    assert np.isfinite(found.distance[1024:]).sum() > 500


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@examples(20)
@given(data=st.data())
def test_heavy_tailed_weights(dtype, data):
    n = data.draw(st.integers(2, 12))
    ends = st.integers(0, n - 1)
    weights = st.sampled_from([0, 1, 1, 2, 3, 250, 10**3, 10**5, 10**7])
    edges = data.draw(st.lists(st.tuples(ends, ends, weights), min_size=1, max_size=40))
    columns = np.array(edges)
    graph = dr.Graph.from_edges(
        columns[:, 0], columns[:, 1], columns[:, 2].astype(dtype), num_vertices=n, directed=data.draw(st.booleans()),
        threads=1,
    )  # fmt: skip
    program = sssp_program(np.dtype(dtype))(source=0)
    expected, _ = run(program, graph, "sync-push-dd")
    for threads in (1, 2):
        found, _ = run(program, graph, ORDERED, engine=CpuEngine(threads=threads))
        assert found["distance"].tolist() == expected["distance"].tolist()


class Ages(dr.Program):
    """Every vertex has a value from the beginning, but only one of them sends it at first; weights may be negative."""

    value = dr.field(np.float64)
    combine = dr.MIN
    priority = "value"

    def init(self, v):
        return dr.where(v.id == 0, 3.0, 3.0 + 1e-3 * v.id)

    def start(self, v):
        return v.id == 0

    def compute(self, u, edge, v):
        return u.value + edge.weight

    def update(self, v, message):
        return dr.minimum(v.value, message)


@pytest.mark.parametrize("weight", [0.0, 1e-3, -1.0, -1e300, 1e300])
def test_values_from_the_beginning_and_values_that_fall_along_edges(weight):
    """A vertex that was never sent is not taken for one that waits; what falls below the current bin is sent on."""
    n = 60
    src, dst = np.arange(n - 1), np.arange(1, n)
    weights = np.where(src % 3 == 2, weight, 5e-4)
    long_way = dr.Graph.from_edges([*src, 0, 0], [*dst, 20, 40], [*weights, -0.5, 7.0], num_vertices=n)
    expected, _ = run(Ages(), long_way, "sync-push-dd")
    for path in (ORDERED, None):
        found, _ = run(Ages(), long_way, path, engine=CpuEngine(threads=2))
        assert found["value"].tolist() == expected["value"].tolist()


def test_a_pool_that_is_too_small_forgets_nobody(monkeypatch):
    monkeypatch.setattr("dromos.engines.cpu.ordering._ENTRIES_A_VERTEX", 0.1)
    monkeypatch.setattr("dromos.engines.cpu.ordering._SPARE_BLOCKS", 0)
    n = 3000
    src, dst = np.zeros(n - 1, np.int64), np.arange(1, n)
    graph = dr.Graph.from_edges([*src, *dst[:-1]], [*dst, *dst[1:]], np.linspace(0.5, 40, 2 * n - 3), threads=1)
    expected, _ = run(Ages(), graph, "sync-push-dd")
    found, _ = run(Ages(), graph, ORDERED, engine=CpuEngine(threads=1))
    assert found["value"].tolist() == expected["value"].tolist()


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
def test_the_default_activity_is_known_for_every_type(dtype):
    weight = np.dtype(dtype)
    typed = sssp_program(weight).typed(GraphTypes(weight=weight))
    assert is_ordered(typed, analyse(typed))


def test_messages_of_another_type_than_the_field_are_not_applied_by_an_atomic():
    typed = sssp_program(np.dtype(np.float32)).typed(GraphTypes(weight=np.dtype(np.float64)))
    assert not is_ordered(typed, analyse(typed))


def test_the_reference_engine_agrees_on_the_first_example():
    graph = clique_with_a_tail(100_000, np.int32)
    found, _ = run(sssp_program(np.dtype(np.int32))(source=0), graph, ORDERED, engine=ReferenceEngine())
    assert found["distance"][-2:].tolist() == [100_000, 100_001]


class Falling(dr.Program):
    """Values that fall along every edge, on a cycle for ever: there is no order to settle vertices in."""

    x = dr.field(np.int32)
    combine = dr.MIN
    priority = "x"

    def init(self, v):
        return dr.where(v.id == 0, -3, -1)

    def start(self, v):
        return v.id == 0

    def compute(self, u, edge, v):
        return u.x - 1

    def update(self, v, message):
        return dr.minimum(v.x, message)


@pytest.mark.parametrize("how", [{"threads": 1}, {"threads": 3}, {"parts": 2}], ids=str)
def test_values_that_fall_for_ever_stop_at_the_limit(how):
    assert is_ordered(Falling.typed(GraphTypes()), analyse(Falling.typed(GraphTypes())))
    result = dr.run(Falling(), dr.generators.complete(9), max_iter=5, path=ORDERED, device="cpu", **how)
    assert result.iterations == 5
    assert not result.finished
    assert (result.x < -3).all()


@pytest.mark.parametrize("how", [{"threads": 1}, {"threads": 3}, {"parts": 2}], ids=str)
def test_values_that_fall_to_an_end_are_those_of_the_reference_engine(how):
    near, far = np.arange(299), np.arange(298)  # edges to the next vertex and to the one behind it
    graph = dr.Graph.from_edges(np.append(near, far), np.append(near + 1, far + 2))
    expected = dr.run(Falling(), graph, device="reference").x
    assert dr.run(Falling(), graph, path=ORDERED, device="cpu", **how).x.tolist() == expected.tolist()


class Capped(dr.Program):
    """Every vertex sends at first, also those whose value is the greatest there is: what they send may be small."""

    x = dr.field(np.int32)
    combine = dr.MIN
    priority = "x"

    def init(self, v):
        return dr.where(v.id == 0, -3, np.iinfo(np.int32).max)

    def start(self, v):
        return v.id >= 0

    def compute(self, u, edge, v):
        return dr.minimum(u.x, 100)

    def update(self, v, message):
        return dr.minimum(v.x, message)


class CappedFloats(Capped):
    x = dr.field(np.float64)

    def init(self, v):
        return dr.where(v.id == 0, -np.inf, np.inf)


@on_every_device
@pytest.mark.parametrize("program", [Capped, CappedFloats])
def test_vertices_with_the_greatest_value_of_the_type_send_too(device, program):
    """Two paths, of which one begins at vertex 0; all others have only what their neighbours cap."""
    ends = np.delete(np.arange(199), 99)
    graph = dr.Graph.from_edges(ends, ends + 1)
    typed = program.typed(GraphTypes())
    assert is_ordered(typed, analyse(typed))
    result = dr.run(program(), graph, path=ORDERED, device=device)
    expected = dr.run(program(), graph, path="sync-push-dd", device="reference")
    assert result.x.tolist() == expected.x.tolist()
