"""Pages dealt in turn, or to all parts, give the results of the reference engine on the whole graph."""

from __future__ import annotations

import random
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.engines.parts import Leaf
from dromos.engines.reference import ReferenceEngine
from dromos.engines.reference_part import ReferenceLeaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph, generators
from dromos.places import PlacedEngine
from dromos.places.dealing import DEALS
from dromos.plan import Path
from dromos.plan.path import Direction
from dromos.program import Program
from tests.places.test_cpu import Claims, weighted
from tests.places.test_grid import COMPILED, EDGE_VALUES, KINDS
from tests.places.test_programs import check_on
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.small_graphs import graphs
from tests.runner.test_checkpoint import Killed, killed_at
from tests.sizes import examples

NEW = [deal for deal in DEALS if deal != "rows"]


@pytest.mark.parametrize("deal", NEW)
@pytest.mark.parametrize("leaf", [ReferenceLeaf, VectorisedLeaf], ids=lambda leaf: leaf.name)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_on_random_graphs(kind: type[Program], leaf: type[Leaf], deal: str) -> None:
    @examples(2 if leaf is ReferenceLeaf else 4)
    @given(graph=graphs(max_vertices=8), slices=st.integers(1, 3), parts=st.integers(1, 4))
    def on_small_graphs(graph: Graph, slices: int, parts: int) -> None:
        check_on(kind, graph, PlacedEngine(leaf(), slices=slices, parts=parts, deal=deal))

    on_small_graphs()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    kind = random_program(seed)
    if kind.ir().edge_fields or kind.ir().edge_params:
        pytest.skip("arcs have values of their own")
    engines = [PlacedEngine(VectorisedLeaf(), slices=2, parts=3, deal=deal) for deal in NEW]
    assert list(disagreements(kind, seed, *engines, graphs=3, only="sync")) == []


@pytest.mark.parametrize("deal", NEW)
@pytest.mark.parametrize("kind", COMPILED, ids=lambda kind: kind.__name__)
def test_compiled_programs(kind: type[Program], deal: str) -> None:
    for slices, parts in ((1, 2), (3, 2), (2, 4), (1, 1)):
        engine = PlacedEngine(CpuLeaf(threads=2), slices=slices, parts=parts, deal=deal)
        check_on(kind, weighted(generators.uniform(150, 500, seed=2)), engine)
        check_on(kind, weighted(generators.star(9)), engine)


@pytest.mark.parametrize("first", [0, -1], ids=["claimed", "open start"])
def test_claims_in_any_order_of_directions(first: int) -> None:
    draw = random.Random(first)
    for number in range(24):
        n = draw.choice((1, 3, 40, 64, 200, 700))
        graph = weighted(generators.uniform(n, draw.choice((0, n, 3 * n)), seed=number, directed=draw.random() < 0.5))
        program = Claims(source=draw.randrange(n), first=first)
        expected = ReferenceEngine().prepare(program, graph)
        cut: dict[str, Any] = {"slices": draw.randrange(1, 4), "parts": draw.randrange(1, 5), "deal": draw.choice(NEW)}
        found = PlacedEngine(CpuLeaf(threads=draw.choice((1, 2))), **cut).prepare(program, graph)
        while not expected.stats.finished:
            expected.step(Path())
            found.step(draw.choice((Path(), Path(direction="pull"))))
            for name in ("frontier", "out_degree", "superstep", "finished"):
                assert getattr(found.stats, name) == getattr(expected.stats, name)
        for name, values in expected.result().items():
            assert np.array_equal(found.result()[name], values), name


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("deal", DEALS)
def test_each_arc_is_dealt_once(deal: str, direction: Direction) -> None:
    """Pages in turn go to any part, equally many to each; by targets, to the owner of the arc's end vertex."""
    graph = weighted(generators.rmat(8, 8, seed=1))
    run = PlacedEngine(VectorisedLeaf(), slices=3, parts=4, deal=deal).prepare(programs.SSSP(source=0), graph)
    found = []
    for part, feed in zip(run.parts, run.feeds, strict=True):
        pieces = list(feed.fetch(feed.holding(None, direction), direction))
        near, far = (np.concatenate(ends) for ends in zip(*((p.sources, p.targets) for p in pieces), strict=True))
        weights = np.concatenate([piece.weights for piece in pieces if piece.weights is not None])
        sources, targets = (near, far) if direction == "push" else (far, near)
        if deal == "pages":
            assert abs(len(near) - graph.num_arcs / 4) <= 3
        else:
            owned = targets if deal == "targets" or direction == "pull" else sources
            assert part.first <= owned.min() <= owned.max() < part.last
        found += list(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))
    whole = graph.slice(0, graph.num_vertices)
    assert whole.weights is not None
    given_arcs = zip(whole.sources.tolist(), whole.targets.tolist(), whole.weights.tolist(), strict=True)
    assert sorted(found) == sorted(given_arcs)


@pytest.mark.parametrize("deal", NEW)
@pytest.mark.parametrize("device", ["cpu+numpy", "numpy+reference+numpy"])
def test_several_devices(device: str, deal: str) -> None:
    graph = weighted(generators.rmat(6, 6, seed=2, symmetrize=True))
    how: dict[str, Any] = {"device": device, "deal": deal, "slices": 2}
    found = dr.bfs(graph, 3, **how)
    found.verify()
    told = found.trace[0].parts
    assert all(name in told for name in [*device.split("+"), "exchange"])
    dr.pagerank(graph, **how).verify()
    dr.sssp(graph, 3, **how).verify()
    dr.connected_components(graph, **how).verify()
    assert dr.triangles(graph, **how).total == dr.triangles(graph).total


@pytest.mark.parametrize("deal", NEW)
def test_goes_on_from_a_checkpoint(deal: str, tmp_path: FilePath) -> None:
    graph = generators.path(40)
    how: dict[str, Any] = {"device": "numpy", "parts": 3, "slices": 2, "deal": deal, "path": "sync-push-dd"}
    saved = {"checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    whole = dr.bfs(graph, 0, **how)
    with pytest.raises(Killed):
        dr.bfs(graph, 0, progress=killed_at(4), **how, **saved)
    again = dr.bfs(graph, 0, **how, **saved)
    assert again.trace[0].path == "checkpoint"
    assert again.level.tobytes() == whole.level.tobytes()


@pytest.mark.parametrize("deal", NEW)
@pytest.mark.parametrize("kind", EDGE_VALUES, ids=lambda kind: kind.__name__)
def test_values_of_arcs_are_refused(kind: type[Program], deal: str) -> None:
    graph = weighted(generators.path(5))
    program = next(program for program in programs.examples(5) if type(program) is kind)
    with pytest.raises(InvalidArgumentError, match=r"has a value for each arc, and with deal=.*leave deal out"):
        dr.run(program, graph, device="numpy", parts=2, deal=deal)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"parts": 2, "deal": "P"}, "'P' is not one of 'rows', 'pages', 'targets'"),
        ({"deal": "pages"}, "name several devices.*parts=2"),
        ({"deal": "pages", "parts": 2, "memory": "1G"}, "for graphs in memory"),
        ({"deal": "pages", "device": "cpu+numpy", "share": 0.5}, "leave share, split and parts out"),
        ({"deal": "pages", "device": "cpu+numpy", "memory": "1G"}, "names none; leave memory out"),
        ({"deal": "pages", "device": "cpu+cuda", "memory": "1G", "slices": 2}, "leave one of them out"),
        ({"deal": "pages", "device": "mpi", "parts": 2}, "leave slices, parts and memory out"),
    ],
)
def test_what_cannot_be_dealt(how: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        dr.bfs(generators.path(4), 0, **{"device": "numpy", **how})
