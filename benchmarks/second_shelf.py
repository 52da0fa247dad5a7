"""The second shelf of algorithms against igraph, or NetworkX if igraph has no such function, and NetworKit.

A row is a graph and an algorithm; ``ratio`` is our time over the peer's (below 1: we are faster). Each time is the best
of its rounds; calls alternate. Ours is the public function, after a call that compiles. ``answer`` states what was
compared: the modularity, the number of colors, the weight of a forest, or the greatest difference of two centralities.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dromos as dr
from benchmarks.cases import GRAPHS, chosen
from benchmarks.record import say
from dromos.algorithms.arguments import simple
from dromos.parallel import num_threads

KEY = ("graph", "row", "peer")
_DATA = Path(__file__).parent.parent / "tests" / "data"
_ENOUGH = 4.0  # seconds of calls, ours and the peer's, after which no further round starts
_ROUNDS = 3
_PAUSE = 0.005  # seconds before a call, during which threads of the previous one may still spin
_LEAST = 0.5  # seconds for which calls of milliseconds are repeated, since three of them say little
_SLOW_ARCS = 1 << 20  # the most arcs for a peer that is written in Python or goes over all pairs
_LARGE_ARCS = 1 << 22  # above this number of arcs a walk of igraph takes milliseconds
_SEEDS = 16
_WALKS, _WALKS_ON_LARGE = 1 << 16, 1 << 12
_SMALL_SCALE = 16  # of the R-MAT graph that all rows are run on
_ON_LARGE = (
    "coloring", "bridges", "topological_levels", "eigenvector", "hits", "biconnected_components",
    "minimum_spanning_forest", "louvain",
)  # fmt: skip
"""The rows that igraph finishes in about a minute on an R-MAT graph of scale 20; others only if named."""


class Case(NamedTuple):
    """One of our graphs, with weights, and the peers' versions of it."""

    graph: dr.Graph
    weighted: dr.Graph
    downward: dr.Graph
    peers: dict[str, Callable[[], Any]]


class Row(NamedTuple):
    """Our call, the peer's, how they are compared, and whether the peer is only for small graphs."""

    ours: Callable[[Case], Any]
    peer: str
    theirs: Callable[[Any, Case], Any]
    told: Callable[[Any, Any], str]
    slow: bool = False


def _difference(field: str) -> Callable[[Any, Any], str]:
    return lambda ours, theirs: f"differs by {np.abs(_unit(ours[field]) - _unit(theirs)).max():.1e}"


def _unit(values: Any) -> Any:
    column = np.array(list(values.values()) if isinstance(values, dict) else values, dtype=np.float64)
    return column / np.linalg.norm(column)


def _both(ours: str) -> Callable[[Any, Any], str]:
    return lambda a, b: f"{getattr(a, ours):.5g} against {b if isinstance(b, int | float) else b.modularity:.5g}"


def _nothing(ours: Any, theirs: Any) -> str:
    return ""


def _walk(other: Any, case: Case) -> None:
    for v in _starts(case):
        other.random_walk(v, 20)


def _starts(case: Case) -> range:
    """One walk from each of these vertices."""
    walks = _WALKS if case.graph.num_arcs <= _LARGE_ARCS else _WALKS_ON_LARGE
    return range(min(case.graph.num_vertices, walks))


def _forest_weight(other: Any, case: Case) -> float:
    tree = other.spanning_tree(weights="weight")
    return float(sum(tree.es["weight"]))


ROWS: dict[str, Row] = {
    "louvain": Row(
        lambda c: dr.louvain(c.graph), "igraph", lambda g, c: g.community_multilevel(), _both("modularity")
    ),
    "leiden": Row(
        lambda c: dr.leiden(c.graph), "igraph",
        lambda g, c: g.community_leiden("modularity", n_iterations=6), _both("modularity"),
    ),
    "minimum_spanning_forest": Row(
        lambda c: dr.minimum_spanning_forest(c.weighted), "igraph", _forest_weight, _both("total_weight")
    ),
    "coloring": Row(
        lambda c: dr.coloring(c.graph), "igraph",
        lambda g, c: max(g.vertex_coloring_greedy()) + 1, _both("count"),
    ),
    "maximal_independent_set": Row(
        lambda c: dr.maximal_independent_set(c.graph), "NetworkX",
        lambda g, c: len(_networkx().maximal_independent_set(g, seed=1)), _both("count"), slow=True,
    ),
    "maximal_matching": Row(
        lambda c: dr.maximal_matching(c.graph), "NetworkX",
        lambda g, c: len(_networkx().maximal_matching(g)), _both("count"), slow=True,
    ),
    "truss_numbers": Row(
        lambda c: dr.truss_numbers(c.graph), "NetworkX",
        lambda g, c: _networkx().k_truss(g, 10).number_of_edges(),
        lambda a, b: f"{np.count_nonzero(a.truss >= 10)} against {b} edges", slow=True,
    ),
    "bridges": Row(lambda c: dr.bridges(c.graph), "igraph", lambda g, c: len(g.bridges()), _both("count")),
    "biconnected_components": Row(
        lambda c: dr.biconnected_components(c.graph), "igraph",
        lambda g, c: len(g.biconnected_components()), _both("count"),
    ),
    "topological_levels": Row(
        lambda c: dr.topological_levels(c.downward), "igraph, downward", lambda g, c: g.topological_sorting(), _nothing
    ),
    "longest_paths": Row(
        lambda c: dr.longest_paths(c.downward), "NetworkX, downward",
        lambda g, c: _networkx().dag_longest_path_length(g), _both("length"), slow=True,
    ),
    "edge_betweenness, 16 sources": Row(
        lambda c: dr.edge_betweenness(c.graph, sources=range(_SEEDS)), "igraph",
        lambda g, c: g.edge_betweenness(sources=range(_SEEDS)), _nothing,
    ),
    "eigenvector": Row(
        lambda c: dr.eigenvector(c.graph, tol=1e-9), "igraph",
        lambda g, c: g.eigenvector_centrality(), _difference("centrality"),
    ),
    "hits": Row(
        lambda c: dr.hits(c.graph, tol=1e-9), "igraph", lambda g, c: g.hub_score(), _difference("hub")
    ),
    "katz": Row(
        lambda c: dr.katz(c.graph, 0.5 / float(c.graph.out_degree.max()), tol=1e-9), "NetworkX",
        lambda g, c: _networkx().katz_centrality(g, 0.5 / float(c.graph.out_degree.max()), tol=1e-12),
        _difference("centrality"), slow=True,
    ),
    "personalized_pagerank, 16 seeds": Row(
        lambda c: dr.personalized_pagerank(c.graph, range(_SEEDS)), "igraph",
        lambda g, c: [g.personalized_pagerank(reset_vertices=v) for v in range(_SEEDS)],
        lambda a, b: f"differs by {np.abs(a.rank - np.array(b)).max():.1e}",
    ),
    "node_similarity, 16 sources": Row(
        lambda c: dr.node_similarity(c.graph, range(_SEEDS), k=10), "igraph",
        lambda g, c: g.similarity_jaccard(pairs=[(v, u) for v in range(_SEEDS) for u in range(c.graph.num_vertices)]),
        _nothing, slow=True,
    ),
    "random_walks, 20 steps": Row(
        lambda c: dr.random_walks(c.graph, 20, 1, sources=_starts(c)), "igraph", _walk, _nothing
    ),
}  # fmt: skip


def _quality(found: Any, graph: Any) -> float:
    """The modularity of NetworKit's communities."""
    return float(_networkit().community.Modularity().getQuality(found.getPartition(), graph))


BY_NETWORKIT: dict[str, Row] = {
    "louvain": Row(
        ROWS["louvain"].ours, "NetworKit",
        lambda g, c: (_networkit().community.PLM(g, refine=False).run(), g),
        lambda a, b: f"{a.modularity:.5g} against {_quality(*b):.5g}",
    ),
    "leiden": Row(
        ROWS["leiden"].ours, "NetworKit",
        lambda g, c: (_networkit().community.ParallelLeiden(g, iterations=6).run(), g),
        lambda a, b: f"{a.modularity:.5g} against {_quality(*b):.5g}",
    ),
    "minimum_spanning_forest": Row(
        ROWS["minimum_spanning_forest"].ours, "NetworKit, weighted",
        lambda g, c: _networkit().graph.KruskalMSF(g).run(),
        lambda a, b: f"{a.total_weight:.5g} against {b.getTotalWeight():.5g}",
    ),
    "maximal_independent_set": Row(
        ROWS["maximal_independent_set"].ours, "NetworKit",
        lambda g, c: sum(_networkit().independentset.Luby().run(g)), _both("count"),
    ),
    "maximal_matching": Row(
        ROWS["maximal_matching"].ours, "NetworKit",
        lambda g, c: _networkit().matching.SuitorMatcher(g, False, False).run().getMatching().size(g), _both("count"),
    ),
    "biconnected_components": Row(
        ROWS["biconnected_components"].ours, "NetworKit",
        lambda g, c: _networkit().components.BiconnectedComponents(g).run().numberOfComponents(), _both("count"),
    ),
    "topological_levels": Row(
        ROWS["topological_levels"].ours, "NetworKit, downward",
        lambda g, c: _networkit().graphtools.topologicalSort(g), _nothing,
    ),
    "eigenvector": Row(
        ROWS["eigenvector"].ours, "NetworKit",
        lambda g, c: _networkit().centrality.EigenvectorCentrality(g, tol=1e-9).run(),
        lambda a, b: _difference("centrality")(a, np.array(b.scores())),
    ),
    "katz": Row(
        ROWS["katz"].ours, "NetworKit",
        lambda g, c: _networkit().centrality.KatzCentrality(g, 0.5 / float(c.graph.out_degree.max()), 1.0, 1e-9).run(),
        _nothing,  # it omits walks of length zero, and scales its result
    ),
}  # fmt: skip
"""The algorithms that NetworKit has too, with as many threads as ours. Its matchings are Suitor's, its fastest."""


def run(
    scale: int = 16, quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = (),
    against: Collection[str] = (), done: Collection[tuple[Any, ...]] = (),
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield a row for each graph, algorithm and peer when it is measured; few on an R-MAT graph above scale 16."""
    small_scale = min(scale, 11 if quick else _SMALL_SCALE)
    large = "" if quick or scale == small_scale else f"kron{scale}"
    made: dict[str, Callable[[], dr.Graph]] = {
        f"kron{small_scale}": partial(GRAPHS["kron"], small_scale),
        "mail": partial(dr.read, _DATA / "email-Enron.txt.gz", directed=False),
        "friends": partial(dr.read, _DATA / "ego-Facebook.txt.gz", directed=False),
        "peers": _peers,
    }
    if large:
        made[large] = partial(GRAPHS["kron"], scale)
    for name in (name for name in made if chosen(name, graphs)):
        case = _case(simple(made[name]()))
        small = _case(dr.generators.grid(5, 5))
        say(f"{name}: {case.graph.num_vertices:,} vertices, {case.graph.num_edges:,} edges")
        held: dict[str, Any] = {}
        for row, how in (*ROWS.items(), *BY_NETWORKIT.items()):
            peer = how.peer.partition(",")[0]
            is_wanted = chosen(row, rows) and (name != large or rows or row in _ON_LARGE)
            if not is_wanted or (name, row, peer) in done or (against and peer not in against):
                continue
            found = _measure(how, case, small, held)
            say(f"  {row}, {peer}: {found}")
            yield {"graph": name, "row": row, "peer": peer, **found}


def _peers() -> dr.Graph:
    """Gnutella's peers without the labels of the file, which begin with 1: sources are given by id."""
    graph = dr.read(_DATA / "p2p-Gnutella31.v.gz")
    return dr.Graph.from_csr(graph.offsets, graph.targets).symmetrized()


def _case(graph: dr.Graph) -> Case:
    edges = graph.edges()
    weighted = dr.generators.with_random_weights(graph, 1, 255, seed=27)
    downward = dr.Graph.from_edges(edges.src, edges.dst, num_vertices=graph.num_vertices)

    def igraph(directed: bool) -> Any:
        from igraph import Graph

        other = Graph(n=graph.num_vertices, edges=np.stack([edges.src, edges.dst], axis=1), directed=directed)
        if not directed:
            other.es["weight"] = weighted.edges().weight.tolist()
        return other

    def networkx(directed: bool) -> Any:
        other = _networkx().DiGraph() if directed else _networkx().Graph()
        other.add_nodes_from(range(graph.num_vertices))
        other.add_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
        return other

    def networkit(weighted_too: bool, directed: bool) -> Any:
        ends = edges.src.astype(np.uint64), edges.dst.astype(np.uint64)
        data = (weighted.edges().weight.astype(np.float64), ends) if weighted_too else ends
        _networkit().setNumberOfThreads(num_threads())
        return _networkit().GraphFromCoo(data, n=graph.num_vertices, weighted=weighted_too, directed=directed)

    return Case(graph, weighted, downward, {
        "NetworKit": partial(networkit, False, False), "NetworKit, weighted": partial(networkit, True, False),
        "NetworKit, downward": partial(networkit, False, True),
        "igraph": partial(igraph, False), "igraph, downward": partial(igraph, True),
        "NetworkX": partial(networkx, False), "NetworkX, downward": partial(networkx, True),
    })  # fmt: skip


def _networkit() -> Any:
    import networkit

    return networkit


def _networkx() -> Any:
    import networkx

    return networkx


def _measure(row: Row, case: Case, small: Case, held: dict[str, Any]) -> dict[str, Any]:
    row.ours(small)
    row.ours(case)  # a large graph may take paths that a small one does not
    slow = row.slow and case.graph.num_arcs > _SLOW_ARCS
    if row.peer not in held and not slow:
        try:
            held[row.peer] = case.peers[row.peer]()
        except ImportError as error:
            return {"note": f"not run: {error}"}
    ours: list[float] = []
    theirs: list[float] = []
    told = ""
    while _goes_on(len(ours), sum(ours) + sum(theirs)):
        taken, answer = _timed(partial(row.ours, case))
        ours.append(taken)
        if not slow:
            taken, other = _timed(partial(row.theirs, held[row.peer], case))
            theirs.append(taken)
            told = row.told(answer, other)
    if slow:
        return {"ours_s": min(ours), "calls": len(ours), "note": f"too large for {row.peer.partition(',')[0]}"}
    return {
        "ours_s": min(ours), "peer_s": min(theirs), "ratio": min(ours) / min(theirs), "calls": len(ours),
        "answer": told,
    }  # fmt: skip


def _goes_on(rounds: int, seconds: float) -> bool:
    """Whether to run another round after ``rounds`` rounds that took ``seconds``.

    >>> [_goes_on(*so_far) for so_far in ((0, 0.0), (1, 5.0), (2, 3.0), (3, 3.0), (80, 0.4))]
    [True, False, True, False, True]
    """
    return rounds == 0 or seconds < (_ENOUGH if rounds < _ROUNDS else _LEAST)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    time.sleep(_PAUSE)
    begin = time.perf_counter()
    answer = call()
    return time.perf_counter() - begin, answer
