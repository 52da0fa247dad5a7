"""Modularity of Louvain's and Leiden's communities beside igraph's, leidenalg's and NetworKit's, on ten graphs.

Every figure is the mean over seeds of a whole call. Leiden runs as many rounds in each library as Dromos uses by
default; Louvain uses its defaults. All memberships are judged by ``dr.modularity``. ``louvain_ahead`` and
``leiden_ahead`` are Dromos' mean minus the best mean of the others for the same method; ``spread`` is the standard
deviation over seeds of Dromos' Leiden. Seconds are means of processor time, without the first call, which compiles. A
library that is not installed has no columns; leidenalg, which takes ten times as long as the others, has fewer seeds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.record import say

KEY = ("graph",)
_DATA = Path(__file__).parent.parent / "tests" / "data"
_SEEDS = 16
_SLOW_SEEDS = 2
_ROUNDS = 6  # of Leiden


def _file(name: str, **options: Any) -> dr.Graph:
    graph = dr.read(_DATA / name, **options).with_weights(None)
    return graph.symmetrized() if graph.directed else graph


def _real() -> dict[str, Callable[[], dr.Graph]]:
    return {
        "mail": lambda: _file("email-Enron.txt.gz"),
        "friends": lambda: _file("ego-Facebook.txt.gz", directed=False),
        "trust": lambda: _file("PGPgiantcompo.graph.gz"),
        "mesh": lambda: _file("4elt.graph.gz"),
        "votes": lambda: _file("wiki-Vote.txt.gz"),
        "peers": lambda: _file("p2p-Gnutella31.v.gz"),
    }


def _made(size: int) -> dict[str, Callable[[], dr.Graph]]:
    n, side = 1 << size, round(2 ** (size / 2))
    make = dr.generators
    return {
        "kron": lambda: make.rmat(size, 8, dedupe=True, drop_self_loops=True, seed=1),
        "preferential": lambda: make.barabasi_albert(n, 4, seed=2),
        "small world": lambda: make.watts_strogatz(n, 8, 0.1, seed=3),
        "grid": lambda: make.grid(side, side),
    }


def run(
    quick: bool = False, graphs: Collection[str] = (), done: Collection[tuple[Any, ...]] = ()
) -> Iterator[dict[str, Any]]:
    """A row for each graph."""
    every = _made(8) if quick else {**_real(), **_made(14)}
    for name, make in every.items():
        if chosen(name, graphs) and (name,) not in done:
            say(name)
            yield _row(name, make(), 2 if quick else _SEEDS)


def _row(name: str, graph: dr.Graph, seeds: int) -> dict[str, Any]:
    row: dict[str, Any] = {"graph": name, "vertices": graph.num_vertices, "edges": graph.num_edges}
    dr.louvain(graph)
    dr.leiden(graph)
    means: dict[str, float] = {}
    for method, call in {**_ours(graph), **_igraph(graph), **_leidenalg(graph), **_networkit(graph)}.items():
        times = min(seeds, _SLOW_SEEDS) if method == "leidenalg_leiden" else seeds
        begin = time.process_time()
        members = [call(seed) for seed in range(times)]
        row[f"{method}_s"] = (time.process_time() - begin) / times
        found = [dr.modularity(graph, np.asarray(member)).modularity for member in members]
        row[method] = means[method] = float(np.mean(found))
        if method == "leiden":
            row["spread"] = float(np.std(found))
    for method in ("louvain", "leiden"):
        others = [value for key, value in means.items() if key.endswith(f"_{method}")]
        row[f"{method}_ahead"] = means[method] - max(others, default=np.nan)
    return row


Call = Callable[[int], Any]


def _ours(graph: dr.Graph) -> dict[str, Call]:
    return {
        "louvain": lambda seed: dr.louvain(graph, seed=seed).community,
        "leiden": lambda seed: dr.leiden(graph, rounds=_ROUNDS, seed=seed).community,
    }


def _igraph(graph: dr.Graph) -> dict[str, Call]:
    if find_spec("igraph") is None:
        return {}
    other = _as_igraph(graph)

    def seeded(seed: int, find: Callable[[], Any]) -> Any:
        random.seed(seed)  # igraph draws from Python's generator
        return find().membership

    return {
        "igraph_louvain": lambda seed: seeded(seed, other.community_multilevel),
        "igraph_leiden": lambda seed: seeded(seed, lambda: other.community_leiden("modularity", n_iterations=_ROUNDS)),
    }


def _as_igraph(graph: dr.Graph) -> Any:
    import igraph

    edges = graph.edges()
    return igraph.Graph(n=graph.num_vertices, edges=np.stack([edges.src, edges.dst], axis=1))


def _leidenalg(graph: dr.Graph) -> dict[str, Call]:
    if find_spec("leidenalg") is None:
        return {}
    import leidenalg

    other, kind = _as_igraph(graph), leidenalg.ModularityVertexPartition

    def find(seed: int) -> Any:
        return leidenalg.find_partition(other, kind, n_iterations=_ROUNDS, seed=seed).membership

    return {"leidenalg_leiden": find}


def _networkit(graph: dr.Graph) -> dict[str, Call]:
    if find_spec("networkit") is None:
        return {}
    import networkit as nk

    edges = graph.edges()
    ends = edges.src.astype(np.uint64), edges.dst.astype(np.uint64)
    other = nk.GraphFromCoo((np.ones(len(edges.src)), ends), n=graph.num_vertices, directed=False, weighted=False)

    def seeded(seed: int, make: Callable[[], Any]) -> Any:
        nk.setSeed(seed, True)
        return make().run().getPartition().getVector()

    return {
        "networkit_louvain": lambda seed: seeded(seed, lambda: nk.community.PLM(other, refine=True)),
        "networkit_leiden": lambda seed: seeded(seed, lambda: nk.community.ParallelLeiden(other, iterations=_ROUNDS)),
    }
