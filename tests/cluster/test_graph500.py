"""The Graph 500 benchmark: its validator refuses what is wrong, and the command runs over ranks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.graph500.shortest_paths import find_distance_fault
from dromos.graph500.validation import find_fault, traversed_edges, tree_levels
from dromos.places.cluster.graph import RankGraph
from tests.cluster.jobs import run_job


class OneRank:
    """A communicator of one rank, as far as a validator asks."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def allgather(self, value: object) -> list[object]:
        return [value]

    def allreduce(self, value: object) -> object:
        return value


def _graph() -> tuple[dr.Graph, RankGraph]:
    """0-1-2-3 and 1-3 with a loop at 2; 4-5 apart; 6 alone."""
    whole = dr.Graph.from_edges([0, 1, 2, 1, 2, 4], [1, 2, 3, 3, 2, 5], num_vertices=7, directed=False)
    return whole, RankGraph(OneRank(), [0, 7], whole.offsets, whole.targets)


def test_a_right_tree_is_accepted() -> None:
    whole, graph = _graph()
    parent = dr.bfs(whole, 0, device="reference").parent
    assert find_fault(graph, 0, parent) == ""
    assert traversed_edges(graph, parent) == 5


@pytest.mark.parametrize(
    ("parent", "rule"),
    [
        ([0, 0, 1, 1, 5, 4, -1], "rule 1: the parents of vertex 4"),  # two unreached vertices, each the other's parent
        ([0, 0, 3, 2, -1, -1, -1], "rule 1"),  # a cycle
        ([1, 0, 1, 1, -1, -1, -1], "rule 1: the root"),
        ([0, 0, 9, 1, -1, -1, -1], "rule 1: a parent is not a vertex"),
        ([0, 0, 1, -1, -1, -1, -1], "rule 4"),  # vertex 3 is left out
        ([0, 0, 1, 2, -1, -1, -1], "rule 3"),  # 1-3 spans two levels
        ([0, 0, 0, 1, -1, -1, -1], "rule 5"),  # there is no edge 2-0
        ([0, 0, 1, 1, -1, -1, 6], "rule 1"),  # an isolated vertex that is its own parent
    ],
)
def test_wrong_trees_are_refused(parent: list[int], rule: str) -> None:
    assert find_fault(_graph()[1], 0, np.array(parent)).startswith(rule)


def test_levels_of_a_long_path_and_of_cycles() -> None:
    n = 1000
    assert tree_levels(np.maximum(np.arange(n) - 1, 0), 0).tolist() == list(range(n))
    assert tree_levels((np.arange(n) + 1) % n, n - 1)[0] == n - 1
    assert (tree_levels(np.array([0, 2, 1]), 0) == [0, -1, -1]).all()


def _weighted() -> RankGraph:
    """0-1 of 0.25, 1-2 of 0.5, 0-2 of 1, 2-3 of 1; 4 alone."""
    weights = np.array([0.25, 0.5, 1, 1], np.float32)
    whole = dr.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3], weights, num_vertices=5, directed=False)
    return RankGraph(OneRank(), [0, 5], whole.offsets, whole.targets, whole.weights)


@pytest.mark.parametrize(
    ("parent", "distance", "rule"),
    [
        ([0, 0, 1, 2, -1], [0, 0.25, 0.75, 1.75, np.inf], ""),
        ([0, 0, 0, 2, -1], [0, 0.25, 1.0, 2.0, np.inf], "rule 3: the edge 1-2 is a shortcut"),
        ([0, 0, 1, 2, -1], [0, 0.25, 0.75, 1.5, np.inf], "rule 4: vertex 3"),  # too near
        ([0, 0, 0, 2, -1], [0, 0.25, 0.75, 1.75, np.inf], "rule 4: vertex 2"),  # the wrong parent
        ([0, 0, 1, 1, -1], [0, 0.25, 0.75, 1.75, np.inf], "rule 4: vertex 3"),  # no edge to the parent
        ([0, 0, 1, -1, -1], [0, 0.25, 0.75, np.inf, np.inf], "rule 3: the edge 2-3 leaves the tree"),
        ([0, 0, 1, 2, 4], [0, 0.25, 0.75, 1.75, np.inf], "rule 1: the parents of vertex 4"),
        ([0, 0, 1, 2, -1], [0, 0.25, 0.75, np.inf, np.inf], "rule 2: vertex 3"),
        ([1, 0, 1, 2, -1], [0, 0.25, 0.75, 1.75, np.inf], "rule 1: the root"),
    ],
)
def test_wrong_distances_are_refused(parent: list[int], distance: list[float], rule: str) -> None:
    found = find_distance_fault(_weighted(), 0, np.array(parent), np.array(distance))
    assert found.startswith(rule)
    assert bool(found) == bool(rule)


@pytest.mark.parametrize(("ranks", "device"), [(1, "mpi:numpy"), (3, "mpi")])
def test_the_command(ranks: int, device: str) -> None:
    call = "from dromos.cli import main; main()"
    words = ["graph500", "--scale", "6", "--searches", "4", "--device", device, "--sssp"]
    done = run_job("-c", call, *words, "--json", ranks=ranks)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    assert (said["ranks"], said["searches"], said["validated"]) == (ranks, 4, True)
    assert said["harmonic_mean_teps"] > 0
    assert said["sssp_harmonic_mean_teps"] > 0


def test_an_algorithm_by_the_command_line(tmp_path: Path) -> None:
    graph = tmp_path / "g.el"
    graph.write_text("0 1\n1 2\n2 3\n")
    out = tmp_path / "levels.csv"
    words = ["bfs", str(graph), "--source", "0", "--device", "mpi:numpy", "-o", str(out)]
    done = run_job("-c", "from dromos.cli import main; main()", *words, ranks=2)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(out.read_text().splitlines()) == 5
    words[3] = "77"
    done = run_job("-c", "from dromos.cli import main; main()", *words, ranks=2)
    assert done.returncode != 0
    assert "77" in done.stderr
