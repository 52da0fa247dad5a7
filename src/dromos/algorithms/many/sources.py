"""Which vertices to search from: given, drawn by a seed, or all."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from dromos.algorithms.arguments import count_of
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.whole_numbers import whole_number

__all__ = ["chosen_sources", "drawn", "drawn_sources", "listed_ids", "vertex_ids"]


def vertex_ids(graph: Graph, given: Any, name: str) -> Array:
    """The ids of vertices given by label, or by id where the graph has no labels; each once, and at least one.

    >>> vertex_ids(Graph.from_edges(["ada"], ["bob"]), ["bob"], "sources").tolist()
    [1]
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidArgumentError(f"{name}={given!r} is not a list of vertices; write [{given!r}] for one")
    listed = given if isinstance(given, np.ndarray) else list(given)
    if np.ndim(listed) > 1 or (np.ndim(listed) == 0 and isinstance(listed, np.ndarray)):
        raise InvalidArgumentError(f"{name} has {np.ndim(listed)} dimensions; give a one-dimensional list of vertices")
    if len(listed) == 0:
        raise InvalidArgumentError(f"{name} is empty; give at least one vertex")
    ids = listed_ids(graph, listed)
    ordered = np.sort(ids)
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(twice):
        vertex = int(ordered[twice[0]])
        shown = vertex if graph.labels is None else graph.labels.values_of(np.array([vertex]))[0]
        raise InvalidArgumentError(f"{name} lists the vertex {shown!r} twice; give each vertex once")
    return ids


def listed_ids(graph: Graph, given: Iterable[Any]) -> Array:
    """The ids of vertices given by label, or by id where the graph has no labels.

    >>> listed_ids(Graph.from_edges([0], [1]), range(2)).tolist()
    [0, 1]
    """
    listed = given if isinstance(given, np.ndarray) else list(given)
    if graph.labels is not None:
        return np.asarray(graph.labels.ids_of(listed), dtype=np.int64)
    if not _are_numbers(listed, graph.num_vertices):
        return np.array([graph.vertex_id(vertex) for vertex in listed], dtype=np.int64)
    ids = np.asarray(listed).astype(np.int64)
    wrong = (ids < 0) | (ids >= graph.num_vertices)
    if wrong.any():
        graph.vertex_id(int(ids[wrong][0]))  # raises what every unknown vertex raises
    return ids


def _are_numbers(listed: Any, most: int) -> bool:
    """Whether whole numbers are given that can be looked at all at once."""
    if isinstance(listed, np.ndarray):
        return listed.ndim == 1 and listed.dtype.kind in "iu"
    return all(type(vertex) is int and 0 <= vertex < most for vertex in listed)


def drawn_sources(graph: Graph, k: int, seed: int | None) -> Array:
    """``k`` vertices, the same ones for the same seed, as NetworkX draws them."""
    return np.array(drawn(count_of(k, "k", low=1), graph.num_vertices, seed), dtype=np.int64)


def drawn(k: int, n: int, seed: int | None) -> list[int]:
    """``k`` of the vertices below ``n``, as NetworkX draws them.

    >>> drawn(2, 5, seed=1) == drawn(2, 5, seed=np.int64(1))
    True
    """
    if k > n:
        raise InvalidArgumentError(f"k={k} is more than the {n} vertices of the graph; give a smaller number")
    number = whole_number(seed)
    if number is None and seed is not None:
        raise InvalidArgumentError(f"seed={seed!r} is not a whole number")
    return random.Random(number).sample(range(n), k)


def chosen_sources(graph: Graph, k: int | None, sources: Any, seed: int | None) -> Array | None:
    """The ids to search from, or None for all vertices."""
    if sources is not None:
        if k is not None:
            raise InvalidArgumentError("k and sources exclude each other; give one of them")
        return vertex_ids(graph, sources, "sources")
    return None if k is None else drawn_sources(graph, k, seed)
