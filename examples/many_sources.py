"""Searches from many sources at once, step by step: who is close to everybody, who reaches whom, how far is far.

    python examples/many_sources.py

Each block below stands alone after the first, as the cells of a notebook do.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import dromos as dr


def main() -> None:
    """Run all the blocks; each prints what it found."""
    # ---- a graph with hubs, and its largest component -------------------------------------------------------------
    graph = dr.generators.rmat(12, 8, seed=7, dedupe=True, drop_self_loops=True)
    label = dr.connected_components(graph).label
    largest = np.bincount(label).argmax()
    graph = graph.subgraph(label == largest)
    people = np.arange(graph.num_vertices)
    names = graph.labels.values_of(people)
    print(graph)

    # ---- 256 searches as one: the trace tells the sharing degree of each group -------------------------------------
    result = dr.multi_source_bfs(graph, names[:256])
    print(f"{result.sharing:.1f} of 256 searches share a vertex of the frontier, on average")
    print(result.trace)

    # ---- two ways to group 1,024 of them ---------------------------------------------------------------------------
    for grouping in ("random", "by-hubs"):
        grouped = dr.multi_source_bfs(graph, names[:1024], grouping=grouping, seed=1)
        print(f"{grouping}: sharing degrees {', '.join(f'{degree:.0f}' for degree in grouped.groups)}")

    # ---- who is close to everybody: exactly, and from a sample ----------------------------------------------------
    exact = dr.closeness(graph)
    rough = dr.closeness(graph, k=128, seed=1)
    likeness = np.corrcoef(exact.centrality, rough.centrality)[0, 1]
    print(f"closest: {exact.top(3)}; 128 sources estimate it with a correlation of {likeness:.3f}")

    # ---- how far is far: a few searches are enough ----------------------------------------------------------------
    far = dr.eccentricity(graph)
    print(f"diameter {far.diameter}, radius {far.radius}, by {far.searches:,} searches from {len(people):,} vertices")

    # ---- who reaches whom within two steps: an index in a file ----------------------------------------------------
    with tempfile.TemporaryDirectory() as folder:
        index = dr.reachability_index(graph, 2, Path(folder) / "people.reach")
        share = index.reachable(np.repeat(names[:64], len(names)), np.tile(names, 64)).mean()
        print(f"{index}: {share:.0%} of the pairs are within two steps")


if __name__ == "__main__":
    main()
