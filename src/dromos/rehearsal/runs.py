"""Calls of the built-in algorithms that request all their kernels."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import Parameter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.engines.cpu.arc_blocks import LEAST_PULLS, blocks_on_any_graph
from dromos.engines.cpu.initial import only_compiled
from dromos.errors import DromosError
from dromos.graph import Graph
from dromos.graph.store import StoredGraph, open_store, write
from dromos.places.stream.whole import over_pages
from dromos.plan import PATHS

__all__ = ["arguments_for", "rehearse", "rehearse_large"]

_OTHER_VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "depth_limit": (2,),
    "direction": ("in", "out"),
    "dtype": ("float32",),
    "echo_cancellation": (False,),
    "k": (2,),
    "maximum": (True,),
    "method": ("residual",),
    "metric": ("cosine", "overlap"),
    "order": ("random",),
    "p": (2.0,),
    "sources": (range(3),),
    "transpose": (True,),
    "weight": (None, "weight"),
    "wide": (True,),
}
"""Non-default values of arguments, which may need other kernels."""
_SHORT: Final = {"max_iter": LEAST_PULLS, "max_distance": 2, "on_limit": "return"}
"""Arguments that end a run early, but not before arcs are worth sorting."""
_IN_PIECES: Final = ("sync-push-dd", "sync-pull-td")
"""The paths that have kernels of their own if a graph comes in pieces."""
_LARGE_BUDGET, _BUDGET, _SMALL_BUDGET = "1G", "64M", "12M"


class _Way(NamedTuple):
    """How a call is made."""

    graph: Graph
    options: Mapping[str, Any]
    others: bool = False
    """Whether arguments take other values in turn."""
    as_large: bool = False
    """Whether the graph is treated as a large one."""
    read_whole: bool = False
    """Whether a graph on disk may be read whole."""

    def setting(self) -> AbstractContextManager[None]:
        if self.as_large:
            return blocks_on_any_graph()
        return nullcontext() if self.read_whole else over_pages()


def rehearse(algorithm: Callable[..., Any], graph: Graph, scratch: Path) -> None:
    """Run an algorithm on a small graph in all ways: in memory, on each path, in slices and parts, and on disk.

    ``scratch`` is a folder in which files may be left. A call that an algorithm refuses is skipped: it needs weights,
    or an order, or both directions.

    >>> import dromos as dr, tempfile
    >>> rehearse(dr.degree_distribution, dr.generators.path(4), Path(tempfile.mkdtemp()))
    """
    parameters = inspect.signature(algorithm).parameters
    others = [{name: value} for name in parameters for value in _OTHER_VALUES.get(name, ())]
    more_sources = [other for other in others if "sources" in other]
    for way in _ways(graph, scratch):
        # starting from all vertices takes long, and needs kernels of its own only if no option is chosen
        few = {"sources": range(2)} if "sources" in parameters and way.options else {}
        for other in [{}, *others] if way.others else [{}, *more_sources]:
            with way.setting():
                _call(algorithm, way.graph, scratch, {**way.options, **few, **other})


def rehearse_large(algorithm: Callable[..., Any], graph: Graph, scratch: Path) -> None:
    """Run an algorithm on a large graph, in memory and on disk; from a few vertices if possible.

    >>> import dromos as dr, tempfile
    >>> rehearse_large(dr.degree_distribution, dr.generators.path(4), Path(tempfile.mkdtemp()))
    """
    parameters = inspect.signature(algorithm).parameters
    few = {"sources": range(4)} if "sources" in parameters else {}
    _call(algorithm, graph, scratch, few)
    if (
        "grouping" in parameters and "to" not in parameters
    ):  # searches from many vertices, as many as there are bits in some words
        for count in (64, 128, 256, 512):
            _call(algorithm, graph, scratch, {"sources": range(count)})
    _call(algorithm, graph, scratch, {**few, "slices": 3})
    store = next(_stores(graph, scratch))
    for budget in (_SMALL_BUDGET, _BUDGET):
        with over_pages():
            _call(algorithm, store, scratch, {**few, "memory": budget})
    _call(algorithm, store, scratch, {**few, "memory": _LARGE_BUDGET})


def _call(algorithm: Callable[..., Any], graph: Graph, scratch: Path, options: Mapping[str, Any]) -> None:
    parameters, given = inspect.signature(algorithm).parameters, arguments_for(graph, scratch)
    wanted = {name: given[name] for name in given if name in parameters and parameters[name].default is Parameter.empty}
    wanted |= {name: value for name, value in _SHORT.items() if name in parameters}
    with contextlib.suppress(DromosError), only_compiled():
        algorithm(graph, device="cpu", **{**wanted, **options})


def _ways(graph: Graph, scratch: Path) -> Iterator[_Way]:
    yield _Way(graph, {}, others=True)
    yield _Way(graph, {}, others=True, as_large=True)
    for path in PATHS:
        yield _Way(graph, {"path": path})
    places: list[tuple[Graph, dict[str, Any]]] = [(graph, {"slices": 3}), (graph, {"parts": 2})]
    places += [(store, {"memory": _BUDGET}) for store in _stores(graph, scratch)]
    yield _Way(next(_stores(graph, scratch)), {"memory": _LARGE_BUDGET}, others=True, read_whole=True)
    for where, options in places:
        yield _Way(where, options, others=True)
        for direction in _IN_PIECES:
            yield _Way(where, {**options, "path": direction})


def _stores(graph: Graph, scratch: Path) -> Iterator[StoredGraph]:
    """The graph on disk, plain and packed."""
    for compress in (False, True):
        file = scratch / f"{id(graph)}-{os.getpid()}-{compress}.drm"
        if not file.exists():
            write(graph, file, compress=compress, transpose=True)
        yield open_store(file)


def arguments_for(graph: Graph, scratch: Path) -> Mapping[str, Any]:
    """A value for each argument that algorithms require.

    >>> import dromos as dr
    >>> arguments_for(dr.generators.path(4), Path("."))["sources"]
    [0, 1]
    """
    return {
        "source": 0,
        "sources": [0, 1],
        "to": scratch / "pairs.parquet",
        "x": np.ones(graph.num_vertices),
        "community": np.zeros(graph.num_vertices, dtype=np.int64),
        "prior": np.full((graph.num_vertices, 2), 0.5),
        "coupling": np.array([[0.6, 0.4], [0.4, 0.6]]),
    }
