"""Weakly connected components of a split graph: one forest of all vertices goes from processor to processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeGuard

from dromos.compiling import Stopwatch
from dromos.engines import GraphShape
from dromos.engines.native.forest import Forest, named
from dromos.engines.parts import Leaf
from dromos.graph.slices import GraphSlice
from dromos.places.feed import MemoryFeed
from dromos.places.hybrid.split import SplitGraph

__all__ = ["can_link", "components"]


class LinkingLeaf(Leaf, Protocol):
    """A leaf that has kernels for a forest."""

    def link_rows(self, forest: Forest, shape: GraphShape, piece: GraphSlice) -> None:
        """Join the trees of a forest along the out-rows of a slice."""


def can_link(leaves: Sequence[Leaf]) -> TypeGuard[Sequence[LinkingLeaf]]:
    """Whether all leaves have kernels for a forest."""
    return all(hasattr(leaf, "link_rows") for leaf in leaves)


def components(split: SplitGraph, leaves: Sequence[LinkingLeaf]) -> Mapping[str, Any]:
    """``label``: the least given id of each vertex's component, in the given order.

    Devices go first, then who has the most arcs: of those who follow, rows are skipped whose vertex is in the largest
    tree by then. ``steps`` tells the time of each.
    """
    graph, shares = split.graph, split.shares
    steps, clock = [], Stopwatch()
    forest = Forest.of(graph.num_vertices, split.new_ids.dtype, symmetric=graph.symmetric)
    order = sorted(range(len(leaves)), key=lambda part: (not leaves[part].name.startswith("cuda"), -shares[part]))
    for part in order:
        first, last = split.bounds[part], split.bounds[part + 1]
        feed = MemoryFeed(graph, first, last, 1)
        for piece in feed.fetch(feed.holding(None, "push"), "push"):
            leaves[part].link_rows(forest, graph, piece)
        steps.append((1, last - first, f"trees are joined along the rows of {leaves[part].name}", clock.seconds()))
        clock = Stopwatch()
    label = named(forest, split.given_ids, split.new_ids)
    steps.append((0, graph.num_vertices, "the least id of each tree", clock.seconds()))
    return {"label": label, "steps": steps}
