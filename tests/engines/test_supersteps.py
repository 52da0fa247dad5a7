"""What only supersteps define: when a run is over, where a limit cuts it off, and which edges are written."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.algorithms.connected_components import Components
from dromos.algorithms.sssp import sssp_program
from tests.algorithms.support import on_every_device
from tests.program import programs as p

LINE = dr.generators.path(12)


class UntilLevel(p.BFS):
    """Vertices are claimed, level by level, until one is deep enough."""

    depth = dr.param(int)

    def converged(self):
        return self.superstep + 1 >= self.depth


class OnlyOnce(p.Components):
    """Would run asynchronously, if it were not over after one superstep."""

    def converged(self):
        return True


@on_every_device
@pytest.mark.parametrize("path", ["auto", "sync-push-dd", "sync-pull-td"])
@pytest.mark.parametrize("depth", [1, 3, 40])
def test_a_program_is_asked_after_every_superstep(device, path, depth):
    result = dr.run(UntilLevel(source=0, depth=depth), LINE, device=device, path=path)
    expected = dr.run(UntilLevel(source=0, depth=depth), LINE, device="reference", path="sync-push-dd")
    assert result.finished == expected.finished == ("converged" if depth < 12 else "frontier empty")
    assert result.trace.supersteps == expected.trace.supersteps
    assert result.level.tolist() == expected.level.tolist()


@on_every_device
def test_a_program_that_is_always_over_runs_one_superstep(device):
    result = dr.run(OnlyOnce(), LINE, device=device)
    assert (result.finished, result.trace.supersteps) == ("converged", 1)
    assert result.label.tolist() == [0, *range(11)]


@on_every_device
@pytest.mark.parametrize("limit", [0, 1, 3, 40])
def test_a_limit_counts_supersteps(device, limit):
    labels = dr.run(Components(), LINE, max_iter=limit, device=device)
    assert labels.label.tolist() == [max(0, v - limit) for v in range(12)]
    assert set(labels.trace.paths) <= {"sync-push-dd", "sync-push-td", "sync-pull-td"}
    program = sssp_program(np.dtype(np.int32))(source=0)
    far = np.iinfo(np.int32).max
    distance = dr.run(program, LINE, max_iter=limit, device=device).distance
    assert distance.tolist() == [v if v <= limit else far for v in range(12)]


@on_every_device
def test_a_path_that_the_caller_fixes_is_taken_in_spite_of_a_limit(device):
    result = dr.run(Components(), LINE, max_iter=1, device=device, path="async-push-td")
    assert set(result.trace.paths) == {"async-push-td"}


class Traffic(dr.Program):
    """How often a message went along an edge: vertices send whenever their level falls; some edges are shut."""

    level = dr.field(np.int32)
    crossed = dr.edge_field(np.int32, init=0)
    combine = dr.MIN

    def init(self, v):
        return {"level": dr.where(v.id == 0, 0, 1000)}

    def start(self, v):
        return v.id == 0

    def compute(self, u, edge, v):
        return u.level + dr.cast(edge.weight, np.int32)

    def sends(self, u, edge, v):
        return v.id != 3

    def update(self, v, message):
        return {"level": dr.minimum(v.level, message)}

    def edge_update(self, u, edge, v):
        return {"crossed": edge.crossed + 1}


@on_every_device
@pytest.mark.parametrize("path", ["auto", "sync-push-dd", "sync-push-td"])
def test_edges_are_written_for_those_who_sent(device, path):
    """Not for those who are active only from then on."""
    ends = np.array([(0, 1), (1, 2), (2, 4), (0, 4), (4, 5), (5, 3), (5, 6), (6, 0), (1, 5)])
    graph = dr.Graph.from_edges(ends[:, 0], ends[:, 1], [1, 1, 1, 9, 1, 1, 1, 1, 7], num_vertices=8)
    result = dr.run(Traffic(), graph, device=device, path=path)
    expected = dr.run(Traffic(), graph, device="reference", path="sync-push-dd")
    assert result.level.tolist() == expected.level.tolist()
    assert result["crossed"].tolist() == expected["crossed"].tolist()
    assert sorted(set(expected["crossed"].tolist())) == [0, 1, 2]


class SilentFalls(p.SSSP):
    """Distances that fall by less than 10 are told to nobody: who hears of what depends on the order."""

    def active(self, old, new):
        return old.distance - new.distance >= 10


class NearestOwner(dr.Program):
    """The nearest of two vertices, and what it owns: a payload that other messages change."""

    distance = dr.field(np.float64)
    owner = dr.field(dr.ID)
    combine = dr.ARGMIN

    def init(self, v):
        own = v.id < 2
        return {"distance": dr.where(own, 0.0, np.inf), "owner": dr.where(own, v.id, -1)}

    def start(self, v):
        return v.id < 2

    def compute(self, u, edge, v):
        return u.distance + edge.weight, u.owner

    def update(self, v, message):
        distance, owner = message
        nearer = distance < v.distance
        return {
            "distance": dr.where(nearer, distance, v.distance),
            "owner": dr.where(nearer, owner, v.owner),
        }


@on_every_device
@pytest.mark.parametrize("kind", [SilentFalls, NearestOwner])
def test_programs_whose_answer_depends_on_the_order_run_in_supersteps(device, kind):
    edges = dr.generators.uniform(60, 240, directed=True, seed=4).edges()
    weights = np.random.default_rng(4).integers(1, 30, len(edges.src)).astype(np.float32)
    graph = dr.Graph.from_edges(edges.src, edges.dst, weights, num_vertices=60)
    given = {"source": 0} if kind is SilentFalls else {}
    result = dr.run(kind(**given), graph, device=device)
    expected = dr.run(kind(**given), graph, device="reference", path="sync-push-dd")
    assert all(path.startswith("sync") for path in result.trace.paths)
    for name in expected:
        assert result[name].tolist() == expected[name].tolist()
