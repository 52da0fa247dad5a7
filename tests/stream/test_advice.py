"""What the error for a graph on disk advises is correct, and sufficient."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app
from dromos.errors import AlgorithmError, InvalidArgumentError, ResourceError
from dromos.graph.summary import enough_bytes
from dromos.places.stream.budget import plan_memory
from dromos.sizes import as_bytes


def test_sizes_that_are_advised_are_rounded_up() -> None:
    random = np.random.default_rng(1)
    for size in [*range(1, 3000), *(int(2**power) for power in random.uniform(0, 45, 3000))]:
        advised = as_bytes(enough_bytes(size))
        assert size <= advised <= 1.1 * size + 1


def weighted_clustering(graph: dr.Graph, memory: str) -> Any:
    return dr.clustering(graph, weight="weight", memory=memory)


def edge_betweenness(graph: dr.Graph, memory: str) -> Any:
    return dr.edge_betweenness(graph, k=3, seed=1, memory=memory)


def betweenness(graph: dr.Graph, memory: str) -> Any:
    return dr.betweenness(graph, k=2, seed=1, memory=memory)


def weighted_betweenness(graph: dr.Graph, memory: str) -> Any:
    return dr.betweenness(graph, k=2, seed=1, weight="weight", memory=memory)


def coloring_on_numpy(graph: dr.Graph, memory: str) -> Any:
    return dr.coloring(graph, device="numpy", memory=memory)


@pytest.mark.parametrize(
    "call",
    [
        dr.bridges,
        dr.coloring,
        coloring_on_numpy,
        dr.louvain,
        weighted_clustering,
        dr.clustering,
        edge_betweenness,
        betweenness,
        weighted_betweenness,
        dr.truss_numbers,
    ],
)
def test_a_budget_that_is_advised_suffices(call: Callable[..., Any], tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    source, target = random.integers(0, 3000, (2, 9000))
    made = dr.Graph.from_edges(source, target, random.random(9000), directed=False, dedupe=True, drop_self_loops=True)
    dr.write(made, tmp_path / "g.drm")
    graph = dr.open(tmp_path / "g.drm")
    with pytest.raises(ResourceError, match="memory=1K is too little") as refused:
        call(graph, memory="1K")
    advised = re.search(r"this run needs ([\d.]+ [KM]iB)", str(refused.value))
    assert advised is not None
    assert "streamed" in call(graph, memory=advised[1]).device


@pytest.mark.parametrize("name", [int, "vertex {}".format])
def test_labels_take_nothing_of_a_budget(
    name: Callable[[int], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels are released before a run, and count if a kernel reads the rows of single vertices."""
    names = [name(number) for number in range(10**9, 10**9 - 20_000, -1)]
    dr.write(dr.Graph.from_edges(names[:1] * 19_999, names[1:], directed=False, labels=True), tmp_path / "g.drm")
    graph = dr.open(tmp_path / "g.drm")
    with pytest.raises(ResourceError, match=r"for row offsets, [\d.]+ MiB for buffers") as refused:
        dr.bfs(graph, names[7], memory="1K")
    advised = re.search(r"this run needs ([\d.]+ [KM]iB)", str(refused.value))
    assert advised is not None
    assert dr.bfs(graph, names[7], memory=advised[1]).level.max() == 2
    assert set(graph.held_bytes()) == {"row offsets"}  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(type(graph), "_read_labels", None)  # the source is already known
        result = dr.bfs(graph, names[7], memory=advised[1])
    assert result.path_to(names[9]) == [names[7], names[0], names[9]]
    with pytest.raises(ResourceError, match=r"for row offsets, [\d.]+ KiB for labels, "):
        dr.random_walks(graph, 2, sources=[names[9]], memory="1K")
    for unknown in ("nobody", 3, [names[7]]):
        with pytest.raises(dr.DromosError, match="no vertex"):
            dr.bfs(graph, unknown, memory="64M")


@pytest.mark.parametrize("find", [dr.louvain, dr.leiden])
def test_budgets_that_are_advised_for_graphs_of_communities(find: Callable[..., Any], tmp_path: Path) -> None:
    """Their size is known only while vertices move: the first error gives an upper bound, the second the real size."""
    random = np.random.default_rng(1)
    source, target = random.integers(0, 60_000, (2, 120_000))
    dr.write(dr.Graph.from_edges(source, target, random.random(120_000), directed=False), tmp_path / "g.drm")
    graph = dr.open(tmp_path / "g.drm")
    with pytest.raises(ResourceError) as first:
        find(graph, memory=1000, threads=2)
    sizes = re.search(r"needs ([\d.]+ MiB) .* at most about ([\d.]+ MiB) more for the graph of comm", str(first.value))
    assert sizes is not None
    least, more = as_bytes(sizes[1]), as_bytes(sizes[2])
    found = find(graph, memory=least + more, threads=2)
    with pytest.raises(ResourceError, match=r"graph of .*communities .*takes more than .*; give") as second:
        find(graph, memory=least, threads=2)
    assert second.value.needed is not None
    assert second.value.needed < least + more
    again = find(graph, memory=second.value.needed, threads=2)
    assert again.modularity == pytest.approx(found.modularity, abs=0.02)  # Leiden has two answers


class _Costs(dr.Program):
    """Distances along edges of given costs."""

    cost = dr.edge_param(np.float64)
    d = dr.field(np.float64)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        return dr.where(v.id == 0, 0.0, np.inf)

    def start(self, v: Any) -> Any:
        return v.id == 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.d + edge.cost

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.d, message)


@pytest.mark.parametrize("call", [dr.core_numbers, dr.k_core, dr.maximal_independent_set])
def test_stores_that_are_not_simple(call: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "g.drm"
    dr.write(dr.Graph.from_edges([0, 0, 1], [1, 1, 1], directed=False), file)
    with pytest.raises(InvalidArgumentError, match=r"has self-loops and parallel edges.*--dedupe --drop-self-loops IN"):
        call(dr.open(file))
    dr.write(dr.Graph.from_edges([0, 0], [1, 1]), file)
    with pytest.raises(InvalidArgumentError, match=r"is directed.*--symmetrize --dedupe --drop"):
        call(dr.open(file))


@pytest.mark.parametrize("transpose", [False, True])
def test_values_of_edges_are_not_pulled_from_disk(tmp_path: Path, transpose: bool) -> None:
    graph, file = dr.Graph.from_edges([0, 1], [1, 2]), tmp_path / "g.drm"
    dr.write(graph, file, transpose=transpose)
    program = _Costs(cost=np.ones(2))
    assert dr.run(program, dr.open(file), memory="64M").d.tolist() == [0, 1, 2]
    with pytest.raises(InvalidArgumentError, match=r"values of edges, which are in the order of the out-.*dr\.read"):
        dr.run(program, dr.open(file), memory="64M", path="sync-pull-td")


def test_stores_with_more_than_one_path_along_an_edge(tmp_path: Path) -> None:
    file, made = tmp_path / "g.drm", tmp_path / "simple.drm"
    graph = dr.Graph.from_edges([0, 0, 0, 1, 1], [1, 1, 2, 2, 1], [5.0, 1.0, 2.0, 1.0, 1.0], num_vertices=3)
    dr.write(graph, file, transpose=True)
    for weight in (None, "weight"):
        with pytest.raises(InvalidArgumentError, match=r"parallel edges.*convert --transpose") as refused:
            dr.betweenness(dr.open(file), weight=weight)
        options = re.search("`dromos (.*) IN", str(refused.value))
        assert options is not None
        assert CliRunner().invoke(app, [*options[1].split(), str(file), str(made)]).exit_code == 0
        found = dr.betweenness(dr.open(made), weight=weight, normalized=False)
        assert found.centrality.tolist() == dr.betweenness(graph, weight=weight, normalized=False).centrality.tolist()


@pytest.mark.parametrize("call", [dr.topological_levels, dr.longest_paths])
def test_a_cycle_on_disk_is_named(call: Callable[..., Any], tmp_path: Path) -> None:
    dr.write(dr.Graph.from_edges([3, 0, 1, 2], [0, 1, 2, 0]), tmp_path / "g.drm", transpose=True)
    with pytest.raises(AlgorithmError, match="the cycle 0 -> 1 -> 2 -> 0"):
        call(dr.open(tmp_path / "g.drm"), device="numpy")


def test_the_least_budget_has_buffers_in_proportion(tmp_path: Path) -> None:
    """A graph with many vertices is not read page by page, each of which costs the host as much as a megabyte."""
    dr.write(dr.generators.uniform(2000, 200_000, seed=1), tmp_path / "g.drm")
    rows = dr.open(tmp_path / "g.drm").paged_rows("", weights=False)
    fields, offsets = 8 << 20, 1 << 20
    with pytest.raises(ResourceError) as refused:
        plan_memory(1, fields, {"row offsets": offsets}, [rows])
    needed = refused.value.needed
    assert needed is not None
    plan = plan_memory(needed, fields, {"row offsets": offsets}, [rows])
    assert plan.room.buffers == (fields + offsets) // 16 < rows.num_pages * rows.page_bytes
