"""Names from other libraries that users try on a graph, and their equivalents here."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Collection
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeVar

from dromos.errors import UnknownArgumentError

__all__ = ["made_by", "missing_attribute", "unknown_keyword", "with_known_keywords"]

P = ParamSpec("P")
R = TypeVar("R")

_CHANGED: Final = "Graph.from_edges(src, dst): a graph cannot be changed, so build one from the edges you want"
_ELSEWHERE: Final = {
    "A": "to_scipy()",
    "T": "transpose",
    "add_edge": _CHANGED,
    "add_edges_from": _CHANGED,
    "add_node": _CHANGED,
    "adj": "neighbors(vertex)",
    "adjacency": "to_scipy()",
    "degree": "out_degree, in_degree",
    "degrees": "out_degree, in_degree",
    "draw": "plot()",
    "ecount": "num_edges",
    "copy": "the graph itself: a graph cannot be changed",
    "get_edgelist": "edges()",
    "has_edge": "vertex in neighbors(other), by ids",
    "in_neighbors": "transpose.neighbors(vertex)",
    "info": "the graph itself (its repr), dromos info FILE",
    "indices": "targets",
    "indptr": "offsets",
    "is_directed": "directed",
    "is_weighted": "weights",
    "n": "num_vertices",
    "neighbours": "neighbors(vertex)",
    "node_attributes": "vertex_data",
    "nodes": "num_vertices, labels, vertex_data",
    "num_nodes": "num_vertices",
    "number_of_edges": "num_edges",
    "number_of_nodes": "num_vertices",
    "numberOfEdges": "num_edges",
    "numberOfNodes": "num_vertices",
    "out_neighbors": "neighbors(vertex)",
    "predecessors": "transpose.neighbors(vertex)",
    "remove_edge": _CHANGED,
    "remove_node": _CHANGED,
    "reversed": "transpose",
    "save": "write(path)",
    "shape": "num_vertices, num_edges",
    "successors": "neighbors(vertex)",
    "summary": "the graph itself (its repr), dromos info FILE",
    "to_directed": "edges(arcs=True)",
    "to_edgelist": "edges(), to_pandas()",
    "to_undirected": "symmetrized()",
    "vcount": "num_vertices",
    "vs": "vertex_data, labels",
    "vertices": "num_vertices, labels",
    "weight": "weights",
}


_MADE_BY: Final = {
    "networkx": "dromos.Graph.from_networkx(graph)",
    "igraph": "dromos.Graph.from_igraph(graph)",
    "scipy": "dromos.Graph.from_scipy(matrix)",
    "pandas": "dromos.Graph.from_pandas(frame)",
    "polars": "dromos.Graph.from_polars(frame)",
    "pyarrow": "dromos.Graph.from_arrow(table)",
    "numpy": "dromos.Graph.from_edges(src, dst)",
}


def made_by(given: Any) -> str:
    """The call that makes a graph of ``given``, by the package that its type is from.

    >>> made_by("friends.txt")
    'dromos.read(path)'
    """
    if isinstance(given, str | os.PathLike):
        return "dromos.read(path)"
    if hasattr(given, "__networkx_cache__"):  # also graphs of classes that somebody derived from NetworkX's
        return _MADE_BY["networkx"]
    package = type(given).__module__.partition(".")[0]
    return _MADE_BY.get(package, "dromos.Graph.from_edges(src, dst), or read a file with dromos.read(path)")


def missing_attribute(name: str, kind: type) -> AttributeError:
    """The error for an attribute that graphs of class ``kind`` do not have, with the one that was probably meant.

    >>> from dromos.graph import Graph
    >>> missing_attribute("num_nodes", Graph)
    AttributeError("a graph has no 'num_nodes'; use num_vertices")
    """
    return AttributeError(_missing(name, kind))


@lru_cache(maxsize=1024)
def _missing(name: str, kind: type) -> str:
    """The text of that error; cached, since code that tests for an attribute does so in every run."""
    meant = _ELSEWHERE.get(name) or _alike(name, [word for word in dir(kind) if not word.startswith("_")])
    return f"a graph has no {name!r}{f'; use {meant}' if meant else ''}"


def unknown_keyword(
    function: str, keyword: str, known: Collection[str], meant: str | None = None
) -> UnknownArgumentError:
    """The error for a keyword that ``function`` does not take, with the one that was ``meant`` or is spelled alike.

    >>> str(unknown_keyword("from_edges", "weights", ["src", "dst", "weight"]))
    "from_edges has no argument 'weights'; did you mean 'weight'?"
    """
    meant = meant or _alike(keyword, known)
    hint = f"did you mean {meant!r}?" if meant else f"it takes {', '.join(known)}"
    return UnknownArgumentError(f"{function} has no argument {keyword!r}; {hint}")


def with_known_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, with an error for unknown keywords that suggests the keyword that was probably meant."""
    known = [name for name in inspect.signature(function).parameters if name != "cls"]

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for keyword in kwargs:
            if keyword not in known:
                raise unknown_keyword(function.__name__, keyword, known)
        return function(*args, **kwargs)

    return call


def _alike(word: str, known: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=0.75)), None)
