"""What is run under stress: a case is an algorithm or a program on one path and one graph, with its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import dromos as dr
from dromos.dtypes import Array
from dromos.engines import graph_types
from dromos.errors import (
    AlgorithmError,
    ConvergenceError,
    IllegalPathError,
    InvalidArgumentError,
    NegativeCycleError,
)
from dromos.graph import Graph
from dromos.plan import PATHS
from dromos.program import Program, analyse
from tests.program import programs
from tests.program.agreement import runs_at_once
from tests.stress.colliding import Pairs

__all__ = ["ALGORITHMS", "Case", "Fields", "Kind", "algorithm_cases", "answer", "program_cases"]

Fields = Mapping[str, Array]
Kind = Literal["directed", "undirected", "acyclic"]

# What kind of graph each is given, and how it is called.
ALGORITHMS: dict[str, tuple[Kind, Callable[..., Any]]] = {
    "bfs": ("directed", lambda g, **how: dr.bfs(g, 0, **how)),
    "sssp": ("directed", lambda g, **how: dr.sssp(g, 0, **how)),
    "pagerank": ("directed", lambda g, **how: dr.pagerank(g, **how)),
    "random_walk_with_restart": ("directed", lambda g, **how: dr.random_walk_with_restart(g, 0, **how)),
    "connected_components": ("directed", lambda g, **how: dr.connected_components(g, **how)),
    "strongly_connected_components": ("directed", lambda g, **how: dr.strongly_connected_components(g, **how)),
    "betweenness": ("directed", lambda g, **how: dr.betweenness(g, sources=[0, 1, 2, 5], **how)),
    "core_numbers": ("undirected", lambda g, **how: dr.core_numbers(g, **how)),
    "k_core": ("undirected", lambda g, **how: dr.k_core(g, 3, **how)),
    "triangles": ("undirected", lambda g, **how: dr.triangles(g, **how)),
    "clustering": ("undirected", lambda g, **how: dr.clustering(g, **how)),
    "transitivity": ("undirected", lambda g, **how: dr.transitivity(g, **how)),
    "label_propagation": ("undirected", lambda g, **how: dr.label_propagation(g, **how)),
    "belief_propagation": (
        "undirected",
        lambda g, **how: dr.belief_propagation(
            g, np.linspace(-0.4, 0.4, 2 * g.num_vertices).reshape(-1, 2), [[1e-3, -1e-3], [-1e-3, 1e-3]], **how
        ),
    ),
    "spmv": ("directed", lambda g, **how: dr.spmv(g, np.linspace(0, 1, g.num_vertices), **how)),
    "closeness": ("directed", lambda g, **how: dr.closeness(g, **how)),
    "harmonic": ("directed", lambda g, **how: dr.harmonic(g, **how)),
    "eccentricity": ("undirected", lambda g, **how: dr.eccentricity(g, **how)),
    "multi_source_bfs": ("directed", lambda g, **how: dr.multi_source_bfs(g, range(100), **how)),
    "distances": ("directed", lambda g, **how: dr.distances(g, range(70), **how)),
    "neighbourhood_function": ("undirected", lambda g, **how: dr.neighbourhood_function(g, **how)),
    "degree_distribution": ("directed", lambda g, **how: dr.degree_distribution(g, **how)),
    "diameter": ("undirected", lambda g, **how: dr.diameter(g, **how)),
    "radius": ("undirected", lambda g, **how: dr.radius(g, **how)),
    "louvain": ("undirected", lambda g, **how: dr.louvain(g, **how)),
    "leiden": ("undirected", lambda g, **how: dr.leiden(g, **how)),
    "modularity": ("undirected", lambda g, **how: dr.modularity(g, np.arange(g.num_vertices) % 7, **how)),
    "minimum_spanning_forest": ("undirected", lambda g, **how: dr.minimum_spanning_forest(g, **how)),
    "maximal_independent_set": ("undirected", lambda g, **how: dr.maximal_independent_set(g, **how)),
    "maximal_matching": ("undirected", lambda g, **how: dr.maximal_matching(g, **how)),
    "coloring": ("undirected", lambda g, **how: dr.coloring(g, **how)),
    "truss_numbers": ("undirected", lambda g, **how: dr.truss_numbers(g, **how)),
    "bridges": ("undirected", lambda g, **how: dr.bridges(g, **how)),
    "biconnected_components": ("undirected", lambda g, **how: dr.biconnected_components(g, **how)),
    "articulation_points": ("undirected", lambda g, **how: dr.articulation_points(g, **how)),
    "edge_betweenness": ("undirected", lambda g, **how: dr.edge_betweenness(g, sources=[0, 1, 2, 5], **how)),
    "topological_levels": ("acyclic", lambda g, **how: dr.topological_levels(g, **how)),
    "longest_paths": ("acyclic", lambda g, **how: dr.longest_paths(g, **how)),
    "eigenvector": ("directed", lambda g, **how: dr.eigenvector(g, max_iter=50, on_limit="return", **how)),
    "katz": ("directed", lambda g, **how: dr.katz(g, alpha=1e-4, **how)),
    "hits": ("directed", lambda g, **how: dr.hits(g, max_iter=50, on_limit="return", **how)),
    "personalized_pagerank": ("directed", lambda g, **how: dr.personalized_pagerank(g, [0, 1, 2], **how)),
    "node_similarity": ("directed", lambda g, **how: dr.node_similarity(g, sources=range(50), **how)),
    "random_walks": ("directed", lambda g, **how: dr.random_walks(g, length=10, walks=2, **how)),
    "assortativity": ("directed", lambda g, **how: dr.assortativity(g, **how)),
}


@dataclass(frozen=True)
class Case:
    """``run(device, threads)`` gives the fields; ``fault(fields, expected)`` what is wrong with them, if anything."""

    name: str
    run: Callable[[str, int], Fields]
    fault: Callable[[Fields, Fields], str]

    @property
    def subject(self) -> str:
        """The algorithm or program: what is compiled once for all of its cases."""
        return self.name.partition(" ")[0]

    @property
    def question(self) -> str:
        """The subject and the graph, without the path: all paths have one answer."""
        subject, _, shape = self.name.split(" ")
        return f"{subject} {shape}"


def program_cases(graph: Graph, what: str, only: tuple[str, ...] = ()) -> Iterator[Case]:
    """Every program of the tests on every legal path."""
    # One that sums in superstep order for ever is bounded by its own tests, and `Handing` never ends.
    for program in (*programs.examples(graph.num_vertices), Pairs(sources=8)):
        name = type(program).__name__
        if only and name not in only:
            continue
        types = graph_types(graph)
        facts, in_slices = analyse(program.typed(types)), runs_at_once(type(program), types)
        for path in facts.legal_paths:
            yield Case(f"{name} {path} {what}", _running(program, graph, path), _program_fault(program))
            if in_slices and path.startswith("async"):
                run = _running(program, graph, path, slices=5)
                yield Case(f"{name} {path},slices {what}", run, _program_fault(program))


def _running(program: Program, graph: Graph, path: str, slices: int | None = None) -> Callable[[str, int], Fields]:
    def run(device: str, threads: int) -> Fields:
        cut = {} if slices is None or device != "cpu" else {"slices": slices}
        result = dr.run(program, graph, path=_path_on(device, path), device=device, threads=threads, **cut)
        return {name: np.asarray(result[name]) for name in result}

    return run


def _path_on(device: str, path: str) -> str:
    """NumPy's engine compiles nothing, and has its own way to every answer."""
    return "auto" if device == "numpy" else path


def _program_fault(program: Program) -> Callable[[Fields, Fields], str]:
    def fault(found: Fields, expected: Fields) -> str:
        if isinstance(program, Pairs):
            torn = found["second"] != 2 * found["first"].astype(np.int64) + 1
            torn &= found["first"] >= 0
            return f"{torn.sum()} torn pairs" if torn.any() else _difference(found, expected, loose={"first", "second"})
        return _difference(found, expected, loose={"parent"})

    return fault


def algorithm_cases(graphs: Mapping[Kind, Graph], what: str, only: tuple[str, ...] = ()) -> Iterator[Case]:
    """Every algorithm on every path that it can take."""
    for name, (kind, call) in ALGORITHMS.items():
        if only and name not in only:
            continue
        for path in ("auto", *map(str, PATHS)):
            yield Case(f"{name} {path} {what}", _calling(call, graphs[kind], path), _algorithm_fault)


def _calling(call: Callable[..., Any], graph: Graph, path: str) -> Callable[[str, int], Fields]:
    def run(device: str, threads: int) -> Fields:
        result = call(graph, path=_path_on(device, path), device=device, threads=threads)
        if "parent" in list(result):  # a choice among equals, which only the verifier can judge
            result.verify()
        return {name: np.asarray(result[name]) for name in result if name != "parent"}

    return run


def _algorithm_fault(found: Fields, expected: Fields) -> str:
    return _difference(found, expected)


def _difference(found: Fields, expected: Fields, loose: set[str] = frozenset()) -> str:  # type: ignore[assignment]
    """Where two answers differ; of ``loose`` fields only whether a vertex has a value counts."""
    for name, wanted in expected.items():
        values = found[name]
        if name in loose:
            values, wanted = values >= 0, wanted >= 0
        if values.shape != wanted.shape:
            return f"{name}: the shape is {values.shape}, not {wanted.shape}"
        if wanted.dtype.kind == "f":
            differ = ~np.isclose(values, wanted, rtol=1e-6, atol=1e-6, equal_nan=True)
        else:
            differ = values != wanted
        if differ.any():
            at = tuple(int(i) for i in np.argwhere(np.atleast_1d(differ))[0])
            first = np.atleast_1d(values)[at], np.atleast_1d(wanted)[at]
            return f"{name}: {int(differ.sum())} of {differ.size} differ, the first at {at}: {first[0]}, not {first[1]}"
    return ""


def answer(case: Case, device: str, threads: int) -> Fields | None:
    """What a case answers; None where the path, the device or the graph is not one for it."""
    try:
        return case.run(device, threads)
    except (ConvergenceError, NegativeCycleError):
        raise
    except (AlgorithmError, IllegalPathError, InvalidArgumentError):
        return None
