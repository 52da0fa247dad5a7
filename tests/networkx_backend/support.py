"""Graphs of all kinds, and answers of the backend held against NetworkX's."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator, Mapping, ValuesView
from copy import copy
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from networkx.algorithms.community.quality import NotAPartition

from dromos.networkx_backend.backend import interface
from dromos.networkx_backend.registry import REGISTRY
from tests.networkx_backend.cases import CASES

CLASSES = {"graph": nx.Graph, "digraph": nx.DiGraph, "multigraph": nx.MultiGraph, "multidigraph": nx.MultiDiGraph}

NAMINGS = (
    lambda i: i,
    lambda i: 7 - i,
    lambda i: f"node {i}",
    lambda i: (i, str(i)),
    lambda i: [i, float(i) + 0.5, str(i), frozenset([i])][i % 4],
)

WEIGHTS = {
    "none": st.none(),
    "whole": st.integers(0, 4),
    "float": st.sampled_from([0.0, 0.5, 1.25, 3.0]),
    "some": st.one_of(st.none(), st.integers(1, 3)),
    "negative": st.integers(-1, 3),
    "odd": st.sampled_from([1, "heavy", np.float64(2.0)]),
}


@st.composite
def graphs(draw: st.DrawFn, kind: str) -> Any:
    """A graph of this kind: any names, orders, weights, with self-loops and without edges."""
    size = draw(st.integers(0, 7))
    name = draw(st.sampled_from(NAMINGS))
    weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    graph = CLASSES[kind](title="drawn")
    graph.add_nodes_from(name(i) for i in draw(st.permutations(range(size))))
    if size:
        ends = st.integers(0, size - 1)
        for u, v in draw(st.lists(st.tuples(ends, ends), max_size=14)):
            weight = draw(weights)
            graph.add_edge(name(u), name(v), **({} if weight is None else {"weight": weight}), mark=u)
    return graph


def settled(value: Any) -> Any:
    """A result that can be compared: iterators read to their end, graphs and matrices taken apart."""
    if isinstance(value, nx.Graph):
        nodes, edges = list(value.nodes(data=True)), list(value.edges(data=True))
        return (type(value).__name__, dict(value.graph), nodes, edges, [list(value.adj[node]) for node in value])
    if hasattr(value, "tocoo"):
        return (value.format, str(value.dtype), value.toarray().tolist())
    if isinstance(value, (Iterator, ValuesView)):
        return [settled(one) for one in value]
    if isinstance(value, tuple):
        return tuple(map(settled, value))
    return value


def answer(call: Any) -> Any:
    """What a call gives, or which exception it ends in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return settled(call())
        except Exception as error:
            return error


def assert_same(ours: Any, theirs: Any) -> None:
    """Equal in value and order; floats to rounding; numbers are Python's own."""
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), f"{ours!r} instead of {theirs!r}"
        if not isinstance(theirs, (KeyError, NotAPartition)):  # these name a key, or the graph by its place in memory
            assert str(ours)[:60] == str(theirs)[:60]
        return
    if isinstance(ours, Exception):
        raise ours
    if isinstance(theirs, Mapping):
        assert isinstance(ours, Mapping)
        if type(theirs) is dict:
            assert list(ours) == list(theirs)
        assert set(ours) == set(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key])
    elif isinstance(theirs, (list, tuple)):
        assert type(ours) is type(theirs)
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    elif isinstance(theirs, np.generic):  # an attribute that was given
        assert ours is theirs
    elif isinstance(theirs, float) or isinstance(ours, float):
        assert type(ours) in (int, float)
        assert math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-9) or (ours != ours and theirs != theirs)
    else:
        assert not isinstance(ours, np.generic)
        assert ours == theirs


def copied(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments with a random state of their own, so that both sides draw the same."""
    return {key: copy(value) if isinstance(value, random.Random) else value for key, value in kwargs.items()}


def check(name: str, graph: Any, draw: random.Random) -> int:
    """Call ``name`` in all ways of its case; how many the backend answered."""
    function = nx.utils.backends._registered_algorithms[name]
    answered = 0
    for args, kwargs in CASES[name][1](list(graph), draw):
        if interface.can_run(name, (graph, *args), kwargs) is not True:
            continue
        converted = interface.convert_from_nx(graph, preserve_all_attrs=True)
        ours = answer(partial(REGISTRY[name].run, converted, *args, **copied(kwargs)))
        if isinstance(ours, NotImplementedError):
            continue
        assert_same(ours, answer(partial(function.orig_func, graph, *args, **copied(kwargs))))
        answered += 1
    return answered
