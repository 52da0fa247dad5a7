"""How a graph is displayed: one line, and a small table for notebooks."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from dromos.sizes import TypedSize

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["digits", "enough_bytes", "facts", "html", "human_bytes", "short", "size_and_kind"]


def short(graph: Graph) -> str:
    """One line with the graph's size and kind, without a pass over a directed graph's edges."""
    labels = [] if graph.labels is None else [f"{graph.labels.kind} labels"]
    return f"<Graph: {', '.join(size_and_kind(graph) + labels)}>"


def size_and_kind(graph: Graph) -> list[str]:
    """The numbers of vertices and edges, whether edges are directed, and the type of the weights, if any."""
    parts = [
        _count(graph.num_vertices, "vertex", "vertices"),
        _count(graph.num_edges, "edge", "edges"),
        "directed" if graph.directed else "undirected",
    ]
    if graph._weights is not None:
        parts.append(f"{graph._weights.dtype} weights")
    return parts


def facts(graph: Graph) -> dict[str, str]:
    """Facts about a graph, line by line."""
    degrees = graph.out_degree
    yes = {True: "yes", False: "no"}
    rows = {
        "vertices": f"{graph.num_vertices:,}",
        "edges": f"{graph.num_edges:,}",
        "directed": yes[graph.directed],
        "weights": "none" if graph._weights is None else str(graph._weights.dtype),
        "labels": "none" if graph.labels is None else graph.labels.kind,
        "self-loops": yes[graph.has_self_loops],
        "parallel edges": yes[graph.has_parallel_edges],
        "isolated vertices": f"{isolated(graph):,}",
        "memory": human_bytes(graph.nbytes),
    }
    if graph.num_vertices:
        rows["out-degree"] = f"mean {degrees.mean():.2f}, median {np.median(degrees):g}, largest {int(degrees.max()):,}"
    return rows


def isolated(graph: Graph) -> int:
    """How many vertices have no edge at all."""
    if graph.on_disk and not graph.has_transpose:  # making the in-edges would write a second store
        touched = graph.out_degree > 0
        for piece in graph.arc_slices():
            touched[piece.targets] = True
        return int(np.count_nonzero(~touched))
    return int(np.count_nonzero((graph.out_degree == 0) & (graph.in_degree == 0)))


def html(graph: Graph) -> str:
    """The facts as a table for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in facts(graph).items()
    )
    return f"<table><caption>Dromos graph</caption>{rows}</table>"


def digits(value: float) -> str:
    """A number with three digits, or with all of those before the point.

    >>> digits(0.01234), digits(12.34), digits(12345.6)
    ('0.0123', '12.3', '12346')
    """
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def human_bytes(count: float) -> str:
    """Bytes in readable form, or as the user wrote them.

    >>> from dromos.sizes import as_bytes
    >>> human_bytes(3 * 2**20), human_bytes(as_bytes("3M"))
    ('3.0 MiB', '3M')
    """
    if isinstance(count, TypedSize):
        return count.text
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def enough_bytes(count: int) -> str:
    """Bytes in readable form, rounded up, so that the number in a message is enough.

    >>> human_bytes(2_390_000), enough_bytes(2_390_000), enough_bytes(2**21)
    ('2.3 MiB', '2.3 MiB', '2.0 MiB')
    >>> human_bytes(2_420_000), enough_bytes(2_420_000)
    ('2.3 MiB', '2.4 MiB')
    """
    unit = next((size for size in (1, 2**10, 2**20, 2**30) if count < 1024 * size), 2**40)
    return human_bytes(math.ceil(count * 10 / unit) * unit / 10)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
