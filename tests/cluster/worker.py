"""Run on every rank: programs and algorithms over the ranks, each against the reference engine on the whole graph.

``python -m tests.cluster.worker DEVICE FOLDER``. The folder keeps what the reference engine has answered, which is the
same for any number of ranks: the jobs of a test ask it once.

Two ranks (one other to talk to) and three (several others, blocks of uneven sizes) take every path and algorithm. One
rank has nobody to talk to, and four bring nothing new but a square grid, more blocks than a small graph fills and more
to gather; each rank costs as much as all the others, so these two run every program as it is planned.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import dromos as dr
from dromos.algorithms import edge_betweenness_programs
from dromos.engines import Engine, graph_types
from dromos.places.cluster import ClusterEngine, RankGraph, collectives, world
from dromos.places.cluster.world import in_place
from dromos.places.operators.communities import steps as community_steps
from dromos.program import analyse
from dromos.runner.devices import engine_for
from dromos.runner.loop import iterate
from tests.cluster.comparing import same
from tests.cluster.random_graphs import check_random_graphs, drawn_graphs
from tests.program.programs import BFS, SSSP, PageRank, examples
from tests.program.running import run


def graphs() -> list[dr.Graph]:
    """Empty, tiny, disconnected, skewed and weighted graphs; the same on every rank."""
    draw = np.random.default_rng(5)
    out = [dr.Graph.from_edges([], [], num_vertices=1), dr.generators.star(9)]
    for n, m, directed in ((12, 9, True), (40, 160, True), (64, 200, False)):
        src, dst, weights = draw.integers(0, n, m), draw.integers(0, n, m), draw.integers(1, 9, m).astype(np.float32)
        out.append(dr.Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed))
    return out


class Expected:
    """Answers of the reference engine by name, kept in a folder; ranks and jobs may ask for the same one at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fields(self, name: str, compute: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        file = self.file(f"{name}.npz", lambda target: np.savez(target, **compute()))
        with np.load(file) as kept:
            return dict(kept)

    def run(self, program: dr.Program, graph: dr.Graph, number: int | str) -> dict[str, Any]:
        """The fields after a run; ``number`` tells the graph."""
        given = {
            name: values.tolist() if hasattr(values, "tolist") else values for name, values in program.params.items()
        }
        name = hashlib.sha256(f"{type(program).__name__} {given}".encode()).hexdigest()[:16]
        return self.fields(f"{number}-{type(program).__name__}-{name}", lambda: run(program, graph, "sync-push-dd")[0])

    def drawn(self, count: int) -> list[dr.Graph]:
        """Graphs that are drawn once."""
        file = self.file("drawn.pickle", lambda target: target.write_bytes(pickle.dumps(drawn_graphs(count))))
        graphs: list[dr.Graph] = pickle.loads(file.read_bytes())
        return graphs

    def file(self, name: str, write: Callable[[Path], object]) -> Path:
        """A file that ``write`` makes, whole or not there."""
        path = self._folder / name
        if not path.exists():
            part = self._folder / f"{os.getpid()}-{name}"
            write(part)
            part.replace(path)
        return path


def takes_every_path() -> bool:
    """Whether the programs run on each path, not only as planned."""
    return world().Get_size() in (2, 3)


def paths_of(engine: Engine, program: dr.Program, graph: Any) -> tuple[str | None, ...]:
    """As planned, and the paths of this number of ranks."""
    return (None, *(map(str, engine.prepare(program, graph).caps.paths) if takes_every_path() else ()))


def programs(device: str, answers: Expected) -> int:
    """Every program of the suite as planned (all ranks have to plan the same) and on the paths."""
    count = 0
    engine = engine_for(device)
    for number, graph in enumerate(graphs()):
        for program in examples(graph.num_vertices):
            facts = analyse(program.typed(graph_types(graph)))
            expected = answers.run(program, graph, number)
            for path in paths_of(engine, program, graph):
                found, _ = run(program, graph, path, engine=engine)
                for name, values in expected.items():
                    if facts.deterministic or name == "level":
                        same(found[name], values, program, path, graph, name)
                count += 1
    return count


def algorithms(device: str, answers: Expected) -> int:
    graph = graphs()[-1]
    calls = {
        "bfs": lambda how: dr.bfs(graph, 1, **how),
        "sssp": lambda how: dr.sssp(graph, 1, **how),
        "pagerank": lambda how: dr.pagerank(graph, **how),
        "components": lambda how: dr.connected_components(graph, **how),
        "k_core": lambda how: dr.k_core(graph, 2, **how),
        "triangles": lambda how: dr.triangles(graph, **how),
        "clustering": lambda how: dr.clustering(graph, **how),
        "clustering by weight": lambda how: dr.clustering(graph, weight="weight", **how),
        "clustering of a directed graph": lambda how: dr.clustering(graphs()[-2], **how),
        "truss_numbers": lambda how: dr.truss_numbers(graph, **how),
        "label_propagation": lambda how: dr.label_propagation(graphs()[-2], **how),
        "multi_source_bfs": lambda how: dr.multi_source_bfs(graph, [0, 3, 5], **how),
        "closeness": lambda how: dr.closeness(graph, **how),
        "betweenness": lambda how: dr.betweenness(dr.generators.star(9), **how),
        "coloring": lambda how: dr.coloring(graph, **how),
        "maximal_matching": lambda how: dr.maximal_matching(graph, **how),
        "unweighted maximal_matching": lambda how: dr.maximal_matching(graph, weight=None, **how),
        "minimum_spanning_forest": lambda how: dr.minimum_spanning_forest(graph, **how),
        "bridges": lambda how: dr.bridges(graph, **how),
        "articulation_points": lambda how: dr.articulation_points(graph, **how),
        "biconnected_components": lambda how: dr.biconnected_components(graph, **how),
        "spmv": lambda how: dr.spmv(graph, np.arange(graph.num_vertices, dtype=float), **how),
    }
    if world().Get_size() > 1:  # one rank does what a process without MPI does
        calls["louvain"] = lambda how: dr.louvain(graph, weight=None, **in_blocks(how))
        calls["leiden"] = lambda how: dr.leiden(graph, weight=None, **in_blocks(how))
        calls["leiden, all levels in blocks"] = lambda how: all_in_blocks(dr.leiden, graph, how)
        calls["louvain, all levels in blocks"] = lambda how: all_in_blocks(dr.louvain, graph, how)
    for name, call in calls.items():
        found = call({"device": device})
        if world().Get_rank() == 0:  # all ranks have the same, as the next lines see to: verifiers import SciPy
            found.verify()
        field = "truss" if "truss" in found else next(iter(found))
        expected = answers.fields(name, lambda call=call, field=field: {field: call({"device": "reference"})[field]})
        same(found[field], expected[field], name, field)
    for one in graphs()[-2:]:
        edge_rows(one, device)  # with self-loops and parallel edges, which each rank takes out
    return len(calls) + 2 + pairs(graph, device, answers) + long_messages(device)


def edge_rows(graph: dr.Graph, device: str) -> None:
    """All columns of an answer with one row per edge, of more sources than go together."""
    with patch.object(edge_betweenness_programs, "_SOURCES", 2):
        found = dr.edge_betweenness(graph, k=3, seed=1, device=device)
    whole = graph.load() if isinstance(graph, dr.StoredGraph) else graph
    expected = dr.edge_betweenness(whole, k=3, seed=1, device="numpy")
    for name in ("source", "target"):
        assert np.array_equal(found[name], expected[name]), (graph, name)
    assert np.allclose(found.centrality, expected.centrality, rtol=1e-9, atol=1e-12), graph


def in_blocks(how: dict[str, Any]) -> dict[str, Any]:
    """What stands in for the reference engine where communities over blocks are others than on the whole graph."""
    return {"device": "numpy", "slices": 1} if how == {"device": "reference"} else how


def all_in_blocks(find: Callable[..., Any], graph: dr.Graph, how: dict[str, Any]) -> Any:
    """As on large graphs, whose graphs of communities are not in every rank."""
    with patch.object(community_steps, "TOGETHER", 0):
        return find(graph, weight=None, **in_blocks(how))


def long_messages(device: str) -> int:
    """Counts that do not reach: rows are counted instead of bytes, or ranks tell all others in turn."""
    comm, count = world(), 0
    rank, size, random = comm.Get_rank(), comm.Get_size(), np.random.default_rng(5)
    for most, width in ((50, 1), (50, 8), (7, 8), (7, 24)):
        with patch.object(collectives, "MOST", most):
            lengths = random.integers(0, 9, size) * width
            whole, ends = random.bytes(int(lengths.sum())), np.cumsum(lengths)
            here = slice(int(ends[rank] - lengths[rank]), int(ends[rank]))
            for given in (np.frombuffer(whole, np.uint8)[here].copy(), in_place()):
                found = np.zeros(len(whole), np.uint8)
                found[here] = np.frombuffer(whole, np.uint8)[here]
                collectives.gather_all(comm, given, found, lengths.tolist())
                assert found.tobytes() == whole, (most, width)
            graph = graphs()[-1]
            same(dr.bfs(graph, 1, device=device).level, dr.bfs(graph, 1, device="reference").level, "bfs", most)
            count += 1
    return count


def pairs(graph: dr.Graph, device: str, answers: Expected) -> int:
    """All distances, in a file that every rank writes alike."""
    from pyarrow import parquet  # which takes a rank a while to import

    comm = world()
    folder = Path(comm.bcast(tempfile.mkdtemp() if comm.Get_rank() == 0 else None))
    own = answers.file("pairs.parquet", lambda target: dr.all_pairs(graph, target, device="reference"))
    dr.all_pairs(graph, folder / "ranks.parquet", device=device)
    comm.Barrier()
    assert parquet.ParquetFile(folder / "ranks.parquet").read().equals(parquet.ParquetFile(own).read())
    comm.Barrier()
    if comm.Get_rank() == 0:
        shutil.rmtree(folder)
    return 1


def stored(device: str, answers: Expected) -> int:
    """Graphs on disk, of which each rank reads its own rows."""
    comm, count = world(), 0
    folder = Path(comm.bcast(tempfile.mkdtemp() if comm.Get_rank() == 0 else None))
    for number, graph in enumerate(graphs()):
        file = folder / f"{number}.drm"
        if comm.Get_rank() == 0:
            dr.write(graph, file, transpose=number % 2 == 0)
        comm.Barrier()
        on_disk = dr.open(file)
        engine = engine_for(device)
        for program in (example for example in examples(graph.num_vertices) if type(example) in (BFS, SSSP, PageRank)):
            expected = answers.run(program, graph, number)
            for path in paths_of(engine, program, on_disk):
                found, _ = run(program, on_disk, path, engine=engine)
                for name in set(expected) - {"parent"}:
                    same(found[name], expected[name], program, path, on_disk, name)
                count += 1
        if graph.num_vertices > 1:
            level = dr.bfs(on_disk, 1, device=device).level
            same(level, answers.run(BFS(source=1), graph, number)["level"], "bfs", on_disk)
        if not graph.directed:
            whole, trusses = dr.truss_numbers(graph, device="numpy"), dr.truss_numbers(on_disk, device=device)
            for name in whole:
                same(trusses[name], whole[name], "truss_numbers", on_disk, name)
        if not graph.directed and comm.Get_size() > 1:
            communities = dr.louvain(on_disk, device=device)
            rounded = dr.louvain(graph, device="numpy", slices=1).modularity  # sums may differ in the last digits
            agree = np.isclose(communities.modularity, rounded, rtol=0.05, equal_nan=True)
            assert agree, (on_disk, communities)
        if on_disk.has_transpose:
            shares = dr.clustering(on_disk, weight="weight", device=device).clustering
            same(shares, dr.clustering(graph, weight="weight", device="reference").clustering, "clustering", on_disk)
    for graph in graphs()[-2:]:
        edges, file = graph.edges(), folder / f"bare, directed={graph.directed}.drm"
        if comm.Get_rank() == 0:
            bare = dr.Graph.from_edges(edges.src, edges.dst, directed=graph.directed, dedupe=True, drop_self_loops=True)
            dr.write(bare, file, transpose=graph.directed)
        comm.Barrier()
        edge_rows(dr.open(file), device)
    comm.Barrier()
    if comm.Get_rank() == 0:
        shutil.rmtree(folder)
    return count


def distributed(answers: Expected) -> int:
    """A graph that no rank has as a whole."""
    comm = world()
    draw = np.random.default_rng(9)
    n, m = 50, 140
    src, dst, weights = draw.integers(0, n, m), draw.integers(0, n, m), draw.integers(1, 9, m).astype(np.int32)
    whole = dr.Graph.from_edges(src, dst, weights, num_vertices=n, directed=False)
    mine = slice(m * comm.Get_rank() // comm.Get_size(), m * (comm.Get_rank() + 1) // comm.Get_size())
    graph = RankGraph.from_edges(comm, src[mine], dst[mine], n, weights[mine])
    assert np.array_equal(graph.offsets, whole.offsets)
    own = slice(int(whole.offsets[graph.first]), int(whole.offsets[graph.last]))
    assert np.array_equal(graph.targets, whole.targets[own])
    for device in ("mpi:numpy", "mpi:numpy:2d"):
        engine = engine_for(device)
        assert isinstance(engine, ClusterEngine)
        for program, field in ((BFS(source=3), "level"), (SSSP(source=3), "distance")):
            execution = engine.prepare(program, graph)
            iterate(execution)
            same(execution.result()[field], answers.run(program, whole, "distributed")[field], field, device)
    return 4


def in_grids(device: str, answers: Expected) -> int:
    """Ranks in rows and columns, on graphs that every rank has whole."""
    size, count = world().Get_size(), 0
    for grid in {2: ("1x2", "2x1"), 4: ("2d",)}.get(size, ()):
        engine = engine_for(f"{device}:{grid}")
        for number, graph in enumerate(graphs()[1:], 1):
            for program in (BFS(source=1), SSSP(source=1), PageRank(damping=0.3)):  # few supersteps
                expected = answers.run(program, graph, number)
                for path in (None, "sync-push-dd", "sync-pull-td"):
                    found, _ = run(program, graph, path, engine=engine)
                    for name in set(expected) - {"parent"}:
                        same(found[name], expected[name], program, path, graph, grid, name)
                    count += 1
    return count


def main() -> None:
    device, answers = sys.argv[1], Expected(Path(sys.argv[2]))
    count = programs(device, answers) + stored(device, answers) + distributed(answers) + in_grids(device, answers)
    if world().Get_size() < 4:
        count += algorithms(device, answers)
    count += check_random_graphs(
        device, 5, answers.drawn, lambda program, graph, number: answers.run(program, graph, f"drawn-{number}")
    )
    if world().Get_rank() == 0:
        print(f"{count} runs agree")


if __name__ == "__main__":
    main()
