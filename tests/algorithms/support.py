"""Graphs of every awkward kind, engines and paths to run on, and the same graph for NetworkX."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import note
from hypothesis import strategies as st

from dromos.engines import graph_types
from dromos.graph import Graph
from dromos.program import Program, analyse
from tests.sizes import examples

__all__ = [
    "DEVICES", "as_networkx", "examples", "graphs", "killed_and_resumed", "legal_paths", "on_every_device", "row",
]  # fmt: skip

# ``make test-gpu`` asks for the same tests on another device.
DEVICES = tuple(os.environ.get("DROMOS_TEST_DEVICES", "reference,cpu").split(","))
on_every_device = pytest.mark.parametrize("device", DEVICES)


def killed_and_resumed(call: Callable[..., Any], folder: Path, **how: Any) -> tuple[Any, bool]:
    """What a call gives that goes on where another one was killed, and whether that came so far as to be killed."""

    class Killed(Exception):
        pass

    how = {**how, "checkpoint": folder, "checkpoint_every": 0}
    calls = 0

    def killed(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Killed

    with contextlib.suppress(Killed):
        call(progress=killed, **how)
    return call(**how), calls == 3


def legal_paths(graph: Graph, *programs: type[Program]) -> Iterator[str]:
    """``auto``, and every path that is legal for all of the programs."""
    legal = [set(analyse(program.typed(graph_types(graph))).legal_paths) for program in programs]
    for path in ("auto", *sorted(set.intersection(*legal))):
        note(f"path {path}")
        yield path


def _edges(draw: Callable[..., Any], n: int) -> list[tuple[int, int]]:
    """Ends of edges: at random, a star, a path, a ring, or two lumps that never meet."""
    shape = draw(st.sampled_from(("random", "random", "star", "path", "ring", "lumps")))
    if shape == "star":
        return [(0, v) for v in range(1, n)] * draw(st.integers(1, 2))
    if shape in ("path", "ring"):
        return [(v, (v + 1) % n) for v in range(n if shape == "ring" else n - 1)]
    end = st.integers(0, n - 1)
    pairs: list[tuple[int, int]] = draw(st.lists(st.tuples(end, end), max_size=3 * n))
    if shape == "lumps":
        return [(u, v) for u, v in pairs if u % 2 == v % 2]
    return pairs


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    low: int = 0,
    high: int = 9,
    directed: bool | None = None,
    weights: Iterable[float] | None = None,
    unweighted: bool = True,
) -> Graph:
    """Graphs of 0..9 vertices: empty, single, with loops, parallel edges, isolated vertices, several components."""
    n = draw(st.integers(low, high))
    both = draw(st.booleans()) if directed is None else not directed
    ends = np.array(_edges(draw, n) if n else [], dtype=np.int64).reshape(-1, 2)
    if draw(st.booleans()):
        ends = ends[:, ::-1]
    values = None
    if weights is not None and (not unweighted or draw(st.integers(0, 3))):
        values = np.array([draw(st.sampled_from(tuple(weights))) for _ in ends], dtype=np.float64)
    return Graph.from_edges(ends[:, 0], ends[:, 1], values, num_vertices=n, directed=not both, threads=1)


def as_networkx(graph: Graph) -> Any:
    """The same graph as a multigraph of NetworkX, with a weight on every edge."""
    out = nx.MultiDiGraph() if graph.directed else nx.MultiGraph()
    out.add_nodes_from(range(graph.num_vertices))
    edges = graph.edges()
    weights = np.ones(len(edges.src)) if edges.weight is None else edges.weight
    out.add_weighted_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), weights.tolist(), strict=True))
    return out


def row(values: Any, n: int, missing: Any) -> np.ndarray:
    """A dictionary by vertex as an array."""
    return np.array([values.get(v, missing) for v in range(n)])
