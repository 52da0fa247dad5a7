"""Every program over random slices and parts gives the results of the reference engine on the whole graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.dtypes import Array
from dromos.engines import Engine, graph_types
from dromos.engines.parts import Leaf
from dromos.engines.reference_part import ReferenceLeaf
from dromos.engines.vectorised import VectorisedLeaf, arcs
from dromos.errors import FieldOverflowError, IllegalPathError, InvalidArgumentError
from dromos.graph import Graph, generators
from dromos.places import MemoryFeed, PlacedEngine
from dromos.places.feed import holding
from dromos.plan import History, Path
from dromos.program import Program
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.running import run
from tests.program.small_graphs import graphs
from tests.sizes import examples

PLAIN: dict[str, Callable[[], Leaf]] = {"reference": ReferenceLeaf, "numpy": VectorisedLeaf}
KINDS = [type(program) for program in programs.examples(3)]
_ASKED = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))


def check(kind: type[Program], graph: Graph, leaf: Leaf, slices: int, parts: int) -> None:
    """Run :func:`check_on` on slices and parts in memory."""
    check_on(kind, graph, PlacedEngine(leaf, slices=slices, parts=parts))


_expected: dict[tuple[object, ...], tuple[Mapping[str, Array], History]] = {}


def _by_the_reference(program: Program, graph: Graph) -> tuple[Mapping[str, Array], History]:
    """The fields and the steps; cached, since a program runs on the same graph on several engines.

    The program is the fixture program of its class, whose parameters follow from the number of vertices.
    """
    weights = b"" if graph.weights is None else graph.weights.tobytes()
    key = (type(program), graph_types(graph), graph.directed, graph.offsets.tobytes(), graph.targets.tobytes(), weights)
    if key not in _expected:
        _expected[key] = run(program, graph, "sync-push-dd")
    return _expected[key]


def check_on(kind: type[Program], graph: Graph, engine: Engine) -> None:
    """Every offered path, and the planner's, gives the reference engine's results.

    Synchronous paths do so in as many supersteps.
    """
    program = next(program for program in programs.examples(graph.num_vertices) if type(program) is kind)
    expected, steps = _by_the_reference(program, graph)
    for path in (None, *engine.prepare(program, graph).caps.paths):
        found, taken = run(program, graph, None if path is None else str(path), engine=engine)
        if all(row.decision.path.sync == "sync" for row in taken):
            assert len(taken) == len(steps), f"{program} {path}"
        for name in expected:
            if name != "parent":  # a choice among equals
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=1e-6, atol=1e-9, err_msg=f"{program} {path} {name}"
                )


@pytest.mark.parametrize("leaf", PLAIN)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_over_random_slices_and_parts(kind: type[Program], leaf: str) -> None:
    @examples(3 if leaf == "reference" else 6)
    @given(graph=graphs(max_vertices=6), slices=st.integers(1, 4), parts=st.integers(1, 4))
    def on_small_graphs(graph: Graph, slices: int, parts: int) -> None:
        check(kind, graph, PLAIN[leaf](), slices, parts)

    on_small_graphs()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_arcs_come_in_blocks(kind: type[Program], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arcs, "BLOCK", 7)  # a row spans several
    graph = generators.with_random_weights(generators.uniform(40, 120, seed=2), 1, 9, seed=2)
    graph = graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]
    check(kind, graph, VectorisedLeaf(), 2, 2)


@pytest.mark.parametrize("seed", range(max(25, _ASKED)))
def test_random_programs(seed: int) -> None:
    kind = random_program(seed)
    engines = (
        PlacedEngine(VectorisedLeaf()),
        PlacedEngine(VectorisedLeaf(), slices=3, parts=2),
        PlacedEngine(ReferenceLeaf(), slices=2, parts=3),
    )
    assert list(disagreements(kind, seed, *engines[: 3 if seed < 6 else 2], graphs=3, only="sync")) == []


class Narrow(Program):
    """Sums that soon overflow."""

    total = dr.field(np.int8, init=100)
    combine = dr.SUM

    def compute(self, u, edge, v):  # type: ignore[no-untyped-def]
        return u.total

    def update(self, v, message):  # type: ignore[no-untyped-def]
        return v.total + message


class WideStart(Program):
    """An initial value that does not fit for some vertices."""

    total = dr.field(np.int8)
    combine = dr.SUM

    def init(self, v):  # type: ignore[no-untyped-def]
        return v.id * 200

    def compute(self, u, edge, v):  # type: ignore[no-untyped-def]
        return u.total

    def update(self, v, message):  # type: ignore[no-untyped-def]
        return v.total


@pytest.mark.parametrize("leaf", PLAIN)
@pytest.mark.parametrize("kind", [Narrow, WideStart])
def test_an_overflow_is_an_error_in_every_part(kind: type[Program], leaf: str) -> None:
    engine = PlacedEngine(PLAIN[leaf](), parts=2)
    with pytest.raises(FieldOverflowError, match="wider type"):
        engine.prepare(kind(), generators.path(3)).step(Path())


def test_only_slices_with_something_to_do_are_fetched() -> None:
    path = generators.path(100)
    execution = PlacedEngine(VectorisedLeaf(), slices=10).prepare(programs.BFS(source=0), path)
    fetched: list[int] = []

    class Counted(MemoryFeed):
        def fetch(self, numbers, direction):  # type: ignore[no-untyped-def]
            fetched.append(len(numbers))
            return super().fetch(numbers, direction)

    execution.feeds = [Counted(path, 0, 100, 10)]
    for _ in range(5):
        execution.step(Path())
    assert fetched == [1] * 5
    execution.step(Path.parse("sync-pull-dd"))  # reaches six vertices that the last slices do not have
    assert fetched[-1] == 10


def test_slices_that_hold_a_vertex_are_found_from_either_side() -> None:
    first, last = np.array([0, 3, 3, 3, 6]), np.array([3, 3, 3, 5, 9])
    assert holding(first, last, np.array([3])).tolist() == [0, 1, 2, 3]
    assert holding(first, last, np.array([4, 7])).tolist() == [3, 4]
    assert holding(first, last, np.array([0, 1, 2, 7, 8, 9])).tolist() == [0, 4]
    assert holding(first, last, np.array([], dtype=np.int64)).tolist() == []


def test_asynchronous_paths_are_refused_with_the_reason() -> None:
    graph = generators.path(4)
    engine = PlacedEngine(VectorisedLeaf(), slices=2)
    with pytest.raises(InvalidArgumentError, match="no path is asynchronous"):
        engine.prepare(programs.Components(), graph).step(Path.parse("async-push-dd"))
    with pytest.raises(IllegalPathError, match="superstep number"):
        engine.prepare(programs.BFS(source=0), graph).step(Path.parse("async-push-dd"))
    with pytest.raises(InvalidArgumentError, match="no path is asynchronous"):
        dr.sssp(graph, 0, device="numpy", path="async-push-dd")


@pytest.mark.parametrize("option", ["slices", "parts"])
@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_counts_are_checked(option: str, count: object) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{option}="):
        dr.bfs(generators.path(3), 0, device="numpy", **{option: count})  # type: ignore[arg-type]
