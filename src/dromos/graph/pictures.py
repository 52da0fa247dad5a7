"""Pictures of graphs, with matplotlib: the distribution of degrees, and drawings of small graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError, MissingDependencyError

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["layout", "new_axes", "plot", "plot_degrees"]

_MOST_VERTICES: Final = 500
_NAMED: Final = 60
"""Vertices that are drawn with their names, unless asked otherwise."""
_ROUNDS: Final = 120


def new_axes(asked: str, ax: Any = None, **figure: Any) -> Any:
    """``ax``, or the axes of a new figure; ``asked`` is the method that needs matplotlib."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise MissingDependencyError(f"{asked} needs matplotlib: pip install 'dromos[plot]'") from None
    return plt.subplots(layout="constrained", **figure)[1]


def plot_degrees(self: Graph, ax: Any = None, *, direction: str = "out") -> Any:
    """Draw how many vertices have each degree, on logarithmic axes, with matplotlib; returns the axes.

    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> import dromos as dr
    >>> dr.generators.rmat(8, seed=1).plot_degrees().get_xlabel()
    'degree'
    """
    counts = self.degree_histogram(direction=direction)
    ax = new_axes("Graph.plot_degrees()", ax, figsize=(6, 4))
    degrees = np.flatnonzero(counts)
    ax.plot(degrees, counts[degrees], ".", color="C0")
    ax.set_xscale("symlog", linthresh=1)  # a degree of 0 has a place too
    ax.set_yscale("log")
    ax.set_xlim(left=-0.2)
    ax.set_xlabel(f"{direction}-degree" if self.directed else "degree")
    ax.set_ylabel("vertices")
    ax.grid(alpha=0.3)
    return ax


def plot(self: Graph, ax: Any = None, *, values: Any = None, labels: bool | None = None, seed: int = 0) -> Any:
    """Draw a small graph, such as ``g.egonet(vertex)``, with matplotlib; returns the axes.

    Neighbors are placed close together; the same ``seed`` gives the same places. Vertices with more edges are larger.
    ``values`` (one number per vertex, such as ``dr.louvain(g).community``) colors them. ``labels`` writes their names,
    or their ids; by default graphs of up to 60 vertices get them.

    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window
    >>> import dromos as dr
    >>> ax = dr.Graph.from_edges(["ada", "ada"], ["bob", "eve"], directed=False).plot()
    >>> [text.get_text() for text in ax.texts]
    ['ada', 'bob', 'eve']
    """
    count = self.num_vertices
    if count > _MOST_VERTICES:
        raise InvalidArgumentError(
            f"the graph has {count:,} vertices, and a drawing shows {_MOST_VERTICES} at most; draw a part of it, "
            "such as g.egonet(vertex).plot() or g.subgraph(vertices).plot()"
        )
    colors = np.zeros(count) if values is None else np.asarray(values)
    if colors.dtype.kind not in "iufb":
        raise InvalidArgumentError(f"values={values!r} are not numbers; give one number per vertex")
    if colors.shape != (count,):
        raise InvalidArgumentError(f"values has shape {colors.shape}, but the graph has {count:,} vertices")
    ax = new_axes("Graph.plot()", ax, figsize=(6, 6))
    places, edges = layout(self, seed), self.edges()
    if self.directed:
        for u, v in zip(edges.src.tolist(), edges.dst.tolist(), strict=True):
            arrow = {"arrowstyle": "-|>", "color": "0.6", "shrinkA": 6, "shrinkB": 6}
            ax.annotate("", places[v], places[u], arrowprops=arrow)
    else:
        ends = np.stack([places[edges.src], places[edges.dst], np.full((len(edges.src), 2), np.nan)], axis=1)
        ax.plot(*ends.reshape(-1, 2).T, color="0.75", linewidth=1, zorder=1)
    degrees = self.out_degree + (self.in_degree if self.directed else 0)
    sizes = 40 + 260 * degrees / max(int(degrees.max(initial=0)), 1)
    ax.scatter(*places.T, s=sizes, c=colors, cmap="tab10" if values is None else "viridis", zorder=2, edgecolors="w")
    if count <= _NAMED if labels is None else labels:
        names = range(count) if self.labels is None else self.labels.to_numpy().tolist()
        for name, (x, y) in zip(names, places.tolist(), strict=True):
            ax.annotate(str(name), (x, y), (4, 5), textcoords="offset points", fontsize=8, zorder=3)
    ax.set_axis_off()
    ax.margins(0.1)
    return ax


def layout(graph: Graph, seed: int = 0) -> Array:
    """A place in the plane for each vertex of a small graph: edges pull, all pairs push (Fruchterman and Reingold).

    >>> import dromos as dr
    >>> places = layout(dr.generators.path(3))
    >>> bool(np.linalg.norm(places[0] - places[2]) > np.linalg.norm(places[0] - places[1]))
    True
    """
    count = graph.num_vertices
    places = np.random.default_rng(seed).uniform(-1, 1, (count, 2))
    edges = graph.edges()
    pull = np.zeros((count, count), dtype=bool)
    pull[edges.src, edges.dst] = pull[edges.dst, edges.src] = True
    near = 2 / max(count, 1) ** 0.5  # the distance at which two neighbors rest
    for number in range(_ROUNDS):
        away = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(away, axis=2), 1e-3)
        force = near**2 / distance**2 - np.where(pull, distance / near, 0.0)
        move = (away * force[..., None]).sum(axis=1) - 0.3 * places  # components that nothing joins stay in the picture
        step = 0.2 * (1 - number / _ROUNDS)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        places += move / length * np.minimum(length, step)
    return places
