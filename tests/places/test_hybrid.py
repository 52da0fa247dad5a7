"""A graph split over processors: every program on 2 to 5 parts and random splits agrees with the reference engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.engines.parts import Copies, Leaf, Phase
from dromos.engines.reference_part import ReferenceLeaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import DeviceError, DromosError, InvalidArgumentError
from dromos.graph import Graph, generators
from dromos.places import PlacedEngine
from dromos.places.hybrid import SPLITS, HybridEngine, split_graph
from dromos.places.hybrid.model import choose, predicted
from dromos.places.hybrid.rates import Rates
from dromos.program import Program
from tests.places.test_cpu import weighted
from tests.places.test_programs import KINDS, check_on
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.small_graphs import graphs
from tests.sizes import examples

LEAVES: dict[str, Callable[[], Leaf]] = {"numpy": VectorisedLeaf, "reference": ReferenceLeaf}
_ASKED = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_on_random_parts(kind: type[Program]) -> None:
    @examples(4)
    @given(
        graph=graphs(max_vertices=7),
        leaves=st.lists(st.sampled_from(["numpy", "numpy", "reference"]), min_size=2, max_size=5),
        share=st.floats(0, 1),
        split=st.sampled_from(SPLITS),
    )
    def on_small_graphs(graph: Graph, leaves: list[str], share: float, split: str) -> None:
        check_on(kind, graph, AtMost([LEAVES[name]() for name in leaves], share=share, split=split))

    on_small_graphs()


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSPWithParents, programs.Hebb], ids=lambda k: k.__name__)
def test_programs_on_two_parts_of_the_cpu(kind: type[Program], split: str) -> None:
    engine = HybridEngine([CpuLeaf(threads=2), CpuLeaf(threads=1)], share=0.3, split=split)
    check_on(kind, weighted(generators.rmat(7, 4, seed=2)), engine)


@pytest.mark.parametrize("split", SPLITS)
def test_leaves_that_work_otherwise_understand_each_other(split: str) -> None:
    """The CPU's part of a search applies messages as they come and sends frontiers as bits; the others do neither."""
    graph = weighted(generators.rmat(8, 5, seed=6, symmetrize=split == "low"))
    for leaves in ([CpuLeaf(threads=2), VectorisedLeaf()], [VectorisedLeaf(), CpuLeaf(threads=1), ReferenceLeaf()]):
        check_on(programs.BFS, graph, HybridEngine(leaves, share=0.4, split=split))


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    from dromos.engines.cpu import tiles

    monkeypatch.setattr(tiles, "LEAST_ARCS", 1)
    monkeypatch.setattr(tiles, "LEAST_SEGMENT", 0)


@pytest.mark.usefixtures("small_tiles")
def test_offers_are_posted_and_gathered_in_tiles() -> None:
    """An offer carries all of a rank; a label is offered by active vertices, and may improve nothing."""
    graph = generators.rmat(17, 2, seed=7, symmetrize=True)  # two tiles of sources
    only = {"max_iter": 5, "tol": 0, "on_limit": "return"}
    ranks = dr.pagerank(graph, device="numpy", **only).rank  # type: ignore[arg-type]
    labels = dr.connected_components(graph, device="cpu").label
    for split, device in (("high", "cpu+cpu"), ("low", "cpu+cpu"), ("random", "cpu+cpu+cpu")):
        how = {"device": device, "share": 0.3, "split": split}
        found = dr.pagerank(graph, **only, **how).rank  # type: ignore[arg-type]
        np.testing.assert_allclose(found, ranks, rtol=1e-12)
        found = dr.connected_components(graph, path="sync-pull-td", **how).label  # type: ignore[arg-type]
        np.testing.assert_array_equal(found, labels)


@pytest.mark.parametrize("directed", [False, True])
def test_components_by_one_forest(directed: bool) -> None:
    found = [
        generators.rmat(9, 2, seed=1, symmetrize=not directed),
        generators.uniform(600, 300, seed=2, directed=directed),  # without a large tree
        generators.path(5),
        generators.uniform(4, 0, seed=1),
    ]
    for graph in found:
        expected = dr.connected_components(graph, device="numpy").label
        for share, split, leaves in ((0.0, "high", 2), (0.3, "high", 2), (0.6, "low", 3), (0.5, "random", 4)):
            engine = AtMost([CpuLeaf(threads=2)] * leaves, share=share, split=split)
            np.testing.assert_array_equal(dr.connected_components(graph, device=engine).label, expected)


class Blocks(VectorisedLeaf):
    """Sends the rows of all vertices with the frontier in bits, as a GPU does if many vertices are active."""

    def part(self, *args):  # type: ignore[no-untyped-def]
        part = super().part(*args)
        told = part.copies

        def copies(phase: Phase) -> Copies | None:
            found = told(phase)
            if phase != "pull" or found is None or found.ids is None:
                return found
            first, last = part.first, part.last
            member = np.zeros(-(-last // 64) * 64, bool)
            member[found.ids] = True
            marks = np.packbits(member, bitorder="little").view(np.uint64)[first // 64 :]
            rows = {name: part.state[name][first:last] for name in found.fields}
            return Copies(first, last, None, rows, active=True, marks=marks, all_rows=True)

        part.copies = copies  # type: ignore[method-assign]
        return part


@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSPWithParents, programs.Hebb], ids=lambda k: k.__name__)
def test_all_rows_may_be_told(kind: type[Program]) -> None:
    graph = weighted(generators.rmat(8, 5, seed=6))
    check_on(kind, graph, HybridEngine([Blocks(), VectorisedLeaf(), Blocks()], share=0.4, split="random"))
    if kind is programs.SSSPWithParents:
        check_on(kind, graph, HybridEngine([Blocks(), CpuLeaf(threads=2), Blocks()], share=0.4, split="random"))


class AtMost(HybridEngine):
    """Uses as many parts as there are vertices, if those are fewer than leaves."""

    def prepare(self, program, graph):  # type: ignore[no-untyped-def]
        used = self.leaves[: max(graph.num_vertices, 1)]
        if len(used) == 1:
            return PlacedEngine(used[0]).prepare(program, graph)
        return HybridEngine(used, share=self.share, split=self.split).prepare(program, graph)


@pytest.mark.parametrize("seed", range(max(8, _ASKED // 4)))
def test_random_programs(seed: int) -> None:
    engines = (
        AtMost([VectorisedLeaf()] * 2, share=0.4, split=SPLITS[seed % 3]),
        AtMost([VectorisedLeaf()] * 3, share=0.1, split=SPLITS[(seed + 1) % 3]),
    )
    assert list(disagreements(random_program(seed), seed, *engines, graphs=2, only="sync")) == []


@pytest.mark.parametrize("split", SPLITS)
def test_ids_in_answers_are_the_given_ones(split: str) -> None:
    graph = weighted(generators.rmat(8, 4, seed=3, symmetrize=True))
    how = {"device": "numpy+numpy", "share": 0.2, "split": split}
    found = dr.bfs(graph, 5, **how)  # type: ignore[arg-type]
    found.verify()  # parents too
    assert found.level[5] == 0
    expected = dr.connected_components(graph, device="reference").label
    np.testing.assert_array_equal(dr.connected_components(graph, **how).label, expected)  # type: ignore[arg-type]
    dr.pagerank(graph, **how).verify()  # type: ignore[arg-type]
    dr.sssp(graph, 5, **how).verify()  # type: ignore[arg-type]


def test_labels_stay() -> None:
    graph = Graph.from_edges(["b", "a", "c"], ["a", "c", "d"])
    found = dr.bfs(graph, "b", device="numpy+numpy", share=0.5, split="high")
    assert found.level[[graph.vertex_id(name) for name in "bacd"]].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("share", [0.0, 0.25, 0.6, 1.0])
def test_parts_have_their_share(share: float, split: str) -> None:
    graph = generators.uniform(1000, 20_000, seed=1)
    made = split_graph(graph, (share, 1 - share), split)  # type: ignore[arg-type]
    assert made.shares[0] == pytest.approx(share, abs=0.01)
    np.testing.assert_array_equal(made.given_ids[made.new_ids], np.arange(1000))
    assert split_graph(graph, (share, 1 - share), split) is made  # type: ignore[arg-type]
    for first, last in zip(made.bounds, made.bounds[1:], strict=False):
        assert (np.diff(made.graph.in_degree[first:last]) <= 0).all()
    if 0 < share < 1 and split != "random":
        first, second = np.split(made.graph.out_degree, [made.bounds[1]])
        assert first.min() >= second.max() if split == "high" else first.max() <= second.min()


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_split_graph_is_the_same_graph(symmetric: bool) -> None:
    graph = generators.watts_strogatz(200, 6, 0.3, seed=1) if symmetric else generators.uniform(200, 900, seed=5)
    graph = weighted(graph)
    assert (graph.known_flags.symmetric and graph.known_flags.parallel_edges is False) == symmetric
    made = split_graph(graph, (0.3, 0.7), "low")
    src = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    expected = np.lexsort((made.new_ids[graph.targets], made.new_ids[src]))
    np.testing.assert_array_equal(made.graph.targets, made.new_ids[graph.targets][expected])
    assert graph.weights is not None
    np.testing.assert_array_equal(made.graph.weights, graph.weights[expected])


def test_arcs_are_found_again() -> None:
    graph = weighted(generators.uniform(50, 300, seed=4))
    made = split_graph(graph, (0.5, 0.5), "random", arcs=True)
    np.testing.assert_array_equal(made.restored_arcs(made.graph.weights), graph.weights)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"share": -0.1}, "from 0 to 1"),
        ({"share": 1.5}, "from 0 to 1"),
        ({"share": True}, "from 0 to 1"),
        ({"share": "half"}, "from 0 to 1"),
        ({"split": "middle"}, "'high', 'low', 'random'"),
        ({"device": "numpy+abacus"}, "'abacus' is not a device"),
        ({"device": "numpy+"}, "'' is not a device"),
        ({"device": "numpy:1+numpy"}, "'numpy:1' is not a device"),
        ({"device": "numpy", "share": 0.5}, "name them"),
        ({"device": "numpy", "split": "low"}, "name them"),
        ({"memory": "2G"}, "names none"),
        ({"slices": 2}, "leave slices"),
        ({"parts": 2}, "leave slices"),
        ({"device": "+".join(["numpy"] * 9)}, "3 vertices cannot be split into 9 parts"),
        ({"path": "async-push-dd"}, "no path is asynchronous"),
    ],
)
def test_bad_input_is_refused(how: dict[str, object], text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        dr.sssp(generators.path(3), 0, **{"device": "numpy+numpy", "share": 0.5, "split": "high", **how})  # type: ignore[arg-type]


def test_without_a_gpu_the_reason_is_told() -> None:
    from dromos.engines.cuda import is_available

    if is_available():
        with pytest.raises(DromosError, match="there are"):
            dr.bfs(generators.path(3), 0, device="cpu+cuda:99", share=0.5, split="high")
    else:
        with pytest.raises(DromosError, match="device='cuda'"):
            dr.bfs(generators.path(3), 0, device="cpu+cuda")


def test_what_is_no_program_says_so() -> None:
    with pytest.raises(InvalidArgumentError, match="no such kernel"):
        dr.triangles(generators.complete(4), device="numpy+numpy")


def test_a_processor_that_fails_ends_the_run() -> None:
    class Failing(VectorisedLeaf):
        def part(self, *args):  # type: ignore[no-untyped-def]
            part = super().part(*args)
            part.settle = Mock(side_effect=MemoryError("out of memory"))  # type: ignore[method-assign]
            return part

    engine = HybridEngine([VectorisedLeaf(), Failing()], share=0.5, split="low")
    with pytest.raises(DeviceError, match=r"'numpy\+numpy': a processor failed in superstep 0 \(MemoryError: out of"):
        dr.bfs(generators.path(9), 0, device=engine)


# ---- the model -----------------------------------------------------------------------------------------------------

SLOW, FAST = Rates(1e9, 2e8, 1e10), Rates(4e9, 4e9, 1e10)


class Named(VectorisedLeaf):
    """A leaf whose rates are given by the test."""

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> None:
    from dromos.places.hybrid import model

    monkeypatch.setattr(model, "measured", lambda leaf: SLOW if leaf.name == "slow" else FAST)


@pytest.mark.usefixtures("rates")
def test_the_faster_processor_gets_more() -> None:
    graph = generators.uniform(1000, 50_000, seed=1)
    share, _ = choose(graph, [Named("slow"), Named("fast")])
    assert share == pytest.approx(0.2, abs=0.051)
    share, _ = choose(graph, [Named("fast"), Named("slow")])
    assert share == pytest.approx(0.8, abs=0.051)


@pytest.mark.usefixtures("rates")
def test_what_is_given_stays() -> None:
    graph = generators.uniform(1000, 5_000, seed=1)
    assert choose(graph, [Named("slow"), Named("fast")], share=0.7)[0] == 0.7
    assert choose(graph, [Named("slow"), Named("fast")], split="low")[1] == "low"


@pytest.mark.usefixtures("rates")
def test_the_slower_processor_gets_few_vertices() -> None:
    graph = generators.rmat(10, 8, seed=1, symmetrize=True)  # hubs hold many arcs
    assert choose(graph, [Named("slow"), Named("fast")])[1] == "high"


def test_the_exchange_counts() -> None:
    alone = predicted([1e6, 1e6], [0, 0], [SLOW, FAST])
    assert predicted([1e6, 1e6], [1e6, 1e6], [SLOW, FAST]) > alone
    assert predicted([1e6, 1e6], [1e6, 1e6], [SLOW, FAST], crossing=8) < predicted(
        [1e6, 1e6], [1e6, 1e6], [SLOW, FAST], crossing=80
    )
