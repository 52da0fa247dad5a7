"""Make, transform, write and read graphs in the ways that kernels are compiled for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from dromos.dtypes import WEIGHT_DTYPES
from dromos.errors import DromosError
from dromos.graph import Graph, formats, generators, store

__all__ = ["rehearse_files", "rehearse_making"]

_ID_DTYPES: Final = ("int32", "int64", "uint32")
_HOW_TO_READ: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"symmetrize": True},
    {"dedupe": True, "merge_weights": "sum"},
    {"directed": False, "drop_self_loops": True},
    {"weighted": False},
)
_BUDGET: Final = 64 << 20


def rehearse_making() -> None:
    """Make graphs from arrays of each type, with each generator, and from other graphs."""
    draw = np.random.default_rng(1)
    ends = draw.integers(0, 50, (2, 300))
    for dtype in _ID_DTYPES:
        source, target = ends.astype(dtype)
        for weights in (None, *(draw.integers(1, 9, 300).astype(kind) for kind in WEIGHT_DTYPES)):
            for directed in (False, True):
                _change(Graph.from_edges(source, target, weights, directed=directed))
        _change(Graph.from_edges(source * 1000, target * 1000))
        Graph.from_edges(source, ends[1])
        Graph.from_edges(ends[0], target)
    names = np.array([f"v{number}" for number in range(50)])
    _change(Graph.from_edges(names[ends[0]], names[ends[1]]))
    for make in _generators():
        _change(make())


def rehearse_files(graph: Graph, scratch: Path) -> None:
    """Write a graph in each format to a folder, read it in several ways, and convert it within a budget."""
    for name, kind in formats.FORMATS.items():
        file = scratch / f"graph{kind.extensions[0]}"
        with suppress(DromosError):
            formats.write(graph, file, format=name, allow_loss=True)
            for how in _HOW_TO_READ:
                with suppress(DromosError):
                    formats.read(file, format=name, **how)
                with suppress(DromosError):
                    store.convert(file, scratch / "converted.drm", memory=_BUDGET, format=name, **how)
    for compress in (False, True):
        for transpose in (False, True):
            file = scratch / "graph.drm"
            store.write(graph, file, compress=compress, transpose=transpose)
            store.verify(file)
            _change(store.open_store(file))
            _change(store.load(file))


def _change(graph: Graph) -> None:
    """Make the graphs that are derived from a graph."""
    names = (
        np.arange(graph.num_vertices) if graph.labels is None else graph.labels.values_of(np.arange(graph.num_vertices))
    )
    calls: tuple[Callable[[], Any], ...] = (
        lambda: graph.flags,
        lambda: graph.transpose,
        graph.reverse,
        graph.symmetrized,
        lambda: graph.symmetric,
        graph.edges,
        graph.degree_histogram,
        graph.relabel_by_degree,
        lambda: graph.subgraph(names[::2]),
        lambda: graph.egonet(names[0], 2),
        lambda: graph.cross_edges(np.arange(graph.num_vertices) % 2),
        lambda: generators.with_random_weights(graph),
        lambda: generators.with_random_weights(graph, dtype="float64"),
    )
    for call in calls:
        with suppress(DromosError):
            call()


def _generators() -> tuple[Callable[[], Graph], ...]:
    return (
        lambda: generators.rmat(6, 4, seed=1),
        lambda: generators.rmat(6, 4, symmetrize=False, permute=False, weights=(1.0, 2.0)),
        lambda: generators.rmat(6, 4, dedupe=True, drop_self_loops=True, weights=(1, 255)),
        lambda: generators.kronecker(6, 4, seed=1),
        lambda: generators.uniform(60, 300, seed=1),
        lambda: generators.uniform(60, 300, directed=True, dedupe=True, weights=(1, 9)),
        lambda: generators.barabasi_albert(60, 3),
        lambda: generators.watts_strogatz(60, 4, 0.2),
        lambda: generators.grid(8, 8, weights=(1.0, 2.0), delete=0.1),
        lambda: generators.grid(4, 4, 4, periodic=True, directed=True),
        lambda: generators.binary_tree(5),
        lambda: generators.complete(9),
        lambda: generators.cycle(9),
        lambda: generators.path(9),
        lambda: generators.star(9),
    )
