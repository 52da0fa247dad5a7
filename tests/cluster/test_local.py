"""``with dr.cluster(…)``: ranks that are started for the calls of a block, and end with it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.errors import ClusterError, InvalidArgumentError, NegativeCycleError, UnknownVertexError
from tests.cluster.jobs import mpirun


def _weighted() -> dr.Graph:
    draw = np.random.default_rng(3)
    n, m = 2_000, 60_000  # large enough for files
    weights = draw.integers(1, 99, m).astype(np.float32)
    return dr.Graph.from_edges(draw.integers(0, n, m), draw.integers(0, n, m), weights, num_vertices=n)


def _is_there(pid: int) -> bool:
    """Whether a process lives; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_calls_faults_and_the_end(tmp_path: Path) -> None:
    """One block for all: starting ranks takes seconds."""
    mpirun()
    graph = _weighted()

    class Doubled(dr.Program):  # a class that no rank can import
        factor = dr.vertex_param(np.float64)
        x = dr.field(np.float64, init=0.0)
        combine = dr.SUM

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return u.factor * edge.weight

        def update(self, v: Any, message: Any) -> Any:
            return message

        def active(self, old: Any, new: Any) -> Any:
            return False

    factor = np.random.default_rng(1).random(graph.num_vertices)
    with dr.cluster(ranks=2, device="numpy") as ranks:
        assert dr.bfs(graph, 0).device == "numpy on 2 ranks"
        for name in ("sssp", "pagerank"):
            call = getattr(dr, name)
            more = {"source": 1} if name == "sssp" else {}
            found, expected = call(graph, **more), call(graph, device="numpy", **more)
            assert np.allclose(found[next(iter(found))], expected[next(iter(found))], rtol=1e-5)
        assert np.allclose(
            dr.run(Doubled(factor=factor), graph).x, dr.run(Doubled(factor=factor), graph, device="numpy").x
        )
        dr.write(graph, tmp_path / "g.drm", transpose=True)
        on_disk = dr.open(tmp_path / "g.drm")
        assert (dr.bfs(on_disk, 0).level == dr.bfs(graph, 0, device="numpy").level).all()
        # views of a store: against its arcs, and without its weights
        assert (dr.bfs(on_disk.transpose, 0).level == dr.bfs(graph.transpose, 0, device="numpy").level).all()
        steps = dr.sssp(on_disk, 0, weight=None)
        assert (steps.distance == dr.bfs(graph, 0, device="numpy").level).all()

        both_ways = graph.symmetrized()
        assert dr.triangles(both_ways).total == dr.triangles(both_ways, device="numpy").total
        shares = dr.edge_betweenness(both_ways, sources=[1, 2])
        assert shares.device == "numpy on 2 ranks"
        assert np.allclose(shares.centrality, dr.edge_betweenness(both_ways, sources=[1, 2], device="numpy").centrality)
        assert not dr.triangles(dr.generators.path(9000)).triangles.any()  # an answer that comes in a file
        dense = dr.generators.rmat(6, seed=1)
        assert (dr.truss_numbers(dense).truss == dr.truss_numbers(dense, device="numpy").truss).all()
        communities = dr.louvain(dense, device="numpy", slices=1)
        assert (dr.louvain(dense).hierarchy == communities.hierarchy).all()

        # what the caller did wrong is an error like any other, and the ranks stay
        before = list(ranks.job._pids)
        with pytest.raises(UnknownVertexError):
            dr.bfs(graph, 77_777)
        circle = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([1, 1, -5], np.float32))
        with pytest.raises(NegativeCycleError):
            dr.sssp(circle, 0)
        assert dr.bfs(graph, 0).level[0] == 0
        assert ranks.job._pids == before

        # a rank that is killed ends the others, and the next call has new ones
        def kill(done: int, total: int) -> None:
            os.kill(before[1], signal.SIGKILL)

        with pytest.raises(ClusterError, match="rank 1 of 2 has ended"):
            dr.pagerank(graph, progress=kill)
        assert not any(map(_is_there, before))
        assert dr.bfs(graph, 0).level[0] == 0
        after = list(ranks.job._pids)

        # a run that such a fault cut off goes on with the new ranks
        last = list(ranks.job._pids)

        def kill_later(done: int, total: int) -> None:
            if done == 3:
                os.kill(last[0], signal.SIGKILL)

        saved: dict[str, Any] = {"checkpoint": tmp_path / "saved", "checkpoint_every": 0, "path": "sync-pull-td"}
        with pytest.raises(ClusterError, match="rank 0 of 2 has ended"):
            dr.pagerank(graph, progress=kill_later, **saved)
        again = dr.pagerank(graph, **saved)
        assert again.trace[0].path == "checkpoint"
        assert again.rank.tobytes() == dr.pagerank(graph, path="sync-pull-td").rank.tobytes()
        after = list(ranks.job._pids)

        # Ctrl-C ends the ranks, which may be anywhere
        def interrupt(done: int, total: int) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            dr.pagerank(graph, progress=interrupt)
        assert dr.bfs(graph, 0).level[0] == 0
        rooms = ranks.rooms
        last = list(ranks.job._pids)
    assert not any(map(_is_there, {*after, *last}))
    assert not rooms.memory.exists()
    assert not rooms.disk.exists()
    assert dr.bfs(graph, 0, device="numpy").device == "numpy"


def test_wrong_arguments() -> None:
    mpirun()
    with pytest.raises(InvalidArgumentError, match="ranks=0"):
        dr.cluster(0)
    with pytest.raises(InvalidArgumentError, match="device='abacus'"):
        dr.cluster(2, device="abacus")
