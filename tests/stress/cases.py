"""What is run under stress: a case is an algorithm or a program on one path and one graph, with its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import dromos as dr
from dromos.dtypes import Array
from dromos.engines import graph_types
from dromos.errors import DromosError
from dromos.graph import Graph
from dromos.plan import PATHS
from dromos.program import Program, analyse
from tests.program import programs
from tests.stress.colliding import Pairs

__all__ = ["ALGORITHMS", "Case", "algorithm_cases", "program_cases"]

Fields = Mapping[str, Array]

# Undirected graphs for those that ask for one; each is given the graph and how to run.
ALGORITHMS: dict[str, tuple[bool, Callable[..., Any]]] = {
    "bfs": (True, lambda g, **how: dr.bfs(g, 0, **how)),
    "sssp": (True, lambda g, **how: dr.sssp(g, 0, **how)),
    "pagerank": (True, lambda g, **how: dr.pagerank(g, **how)),
    "random_walk_with_restart": (True, lambda g, **how: dr.random_walk_with_restart(g, 0, **how)),
    "connected_components": (True, lambda g, **how: dr.connected_components(g, **how)),
    "strongly_connected_components": (True, lambda g, **how: dr.strongly_connected_components(g, **how)),
    "betweenness": (True, lambda g, **how: dr.betweenness(g, sources=[0, 1, 2, 5], **how)),
    "core_numbers": (False, lambda g, **how: dr.core_numbers(g, **how)),
    "k_core": (False, lambda g, **how: dr.k_core(g, 3, **how)),
    "triangles": (False, lambda g, **how: dr.triangles(g, **how)),
    "clustering": (False, lambda g, **how: dr.clustering(g, **how)),
    "transitivity": (False, lambda g, **how: dr.transitivity(g, **how)),
    "label_propagation": (False, lambda g, **how: dr.label_propagation(g, **how)),
    "belief_propagation": (
        False,
        lambda g, **how: dr.belief_propagation(
            g, np.linspace(-0.4, 0.4, 2 * g.num_vertices).reshape(-1, 2), [[1e-3, -1e-3], [-1e-3, 1e-3]], **how
        ),
    ),
    "spmv": (True, lambda g, **how: dr.spmv(g, np.linspace(0, 1, g.num_vertices), **how)),
    "closeness": (True, lambda g, **how: dr.closeness(g, **how)),
    "harmonic": (True, lambda g, **how: dr.harmonic(g, **how)),
    "eccentricity": (False, lambda g, **how: dr.eccentricity(g, **how)),
    "multi_source_bfs": (True, lambda g, **how: dr.multi_source_bfs(g, range(100), **how)),
    "distances": (True, lambda g, **how: dr.distances(g, range(70), **how)),
    "neighbourhood_function": (False, lambda g, **how: dr.neighbourhood_function(g, **how)),
    "degree_distribution": (True, lambda g, **how: dr.degree_distribution(g, **how)),
}


@dataclass(frozen=True)
class Case:
    """``run(threads)`` gives the fields; ``fault(fields, expected)`` says what is wrong with them, or nothing."""

    name: str
    run: Callable[[int], Fields]
    fault: Callable[[Fields, Fields], str]


def program_cases(graph: Graph, what: str, device: str = "cpu", only: tuple[str, ...] = ()) -> Iterator[Case]:
    """Every program of the tests on every legal path."""
    # One that sums in superstep order for ever is bounded by its own tests, and `Handing` never ends.
    for program in (*programs.examples(graph.num_vertices), Pairs(sources=8)):
        name = type(program).__name__
        if only and name not in only:
            continue
        facts = analyse(program.typed(graph_types(graph)))
        for path in facts.legal_paths:
            yield Case(f"{name} {path} {what}", _running(program, graph, path, device), _program_fault(program))


def _running(program: Program, graph: Graph, path: str, device: str) -> Callable[[int], Fields]:
    def run(threads: int) -> Fields:
        result = dr.run(program, graph, path=path, device=device, threads=threads)
        return {name: np.asarray(result[name]) for name in result}

    return run


def _program_fault(program: Program) -> Callable[[Fields, Fields], str]:
    def fault(found: Fields, expected: Fields) -> str:
        if isinstance(program, Pairs):
            torn = found["second"] != 2 * found["first"].astype(np.int64) + 1
            torn &= found["first"] >= 0
            return f"{torn.sum()} torn pairs" if torn.any() else _difference(found, expected, loose={"first", "second"})
        return _difference(found, expected, loose={"parent"})

    return fault


def algorithm_cases(
    directed: Graph, undirected: Graph, what: str, device: str = "cpu", only: tuple[str, ...] = ()
) -> Iterator[Case]:
    """Every algorithm on every path that it can take."""
    for name, (on_directed, call) in ALGORITHMS.items():
        if only and name not in only:
            continue
        graph = directed if on_directed else undirected
        for path in ("auto", *map(str, PATHS)):
            yield Case(f"{name} {path} {what}", _calling(call, graph, path, device), _algorithm_fault)


def _calling(call: Callable[..., Any], graph: Graph, path: str, device: str) -> Callable[[int], Fields]:
    def run(threads: int) -> Fields:
        result = call(graph, path=path, device=device, threads=threads)
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


def is_possible(case: Case) -> Fields | None:
    """What one thread answers; None where the path is not one for this case."""
    try:
        return case.run(1)
    except DromosError:
        return None
