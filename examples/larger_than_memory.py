"""A graph ten times as large as the memory that a run may take: written to a store, left on disk, and searched there.

    python examples/larger_than_memory.py
    python examples/larger_than_memory.py --scale 20 --edge-factor 128

The first is small: 2^14 vertices, 67 MB of arcs, a budget of 6.7 MB. What has to be in memory grows with the vertices
(some 25 to 40 bytes for each), so a graph can be ten times its budget where a vertex has many arcs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import dromos as dr


def show(scale: int = 14, edge_factor: int = 512) -> None:
    """Write a store, and run three algorithms on it within a tenth of its size; each says what it read."""
    with tempfile.TemporaryDirectory() as folder:
        # ---- a store on disk; a list of edges becomes one by `dromos convert --memory 2G edges.txt large.drm` -------
        file = Path(folder) / "large.drm"
        whole = dr.generators.rmat(scale, edge_factor, seed=1)
        dr.write(whole, file)
        graph = dr.open(file)  # reads the header, and nothing else
        budget = file.stat().st_size // 10
        print(f"{graph}\na run may take {budget / 1e6:.1f} MB of memory")

        # ---- the same calls on the graph in memory and on the one on disk -------------------------------------------
        source = int(graph.out_degree.argmax())
        for name, field, call in (
            ("bfs", "level", lambda g, **how: dr.bfs(g, source, **how)),
            ("connected_components", "label", lambda g, **how: dr.connected_components(g, **how)),
            ("pagerank", "rank", lambda g, **how: dr.pagerank(g, dtype="float32", **how)),
        ):
            start = time.perf_counter()
            found = call(graph, memory=budget)
            seconds = time.perf_counter() - start
            same = np.allclose(found[field], call(whole)[field], rtol=1e-4)
            print(f"{name}: {found.trace.read / 1e6:,.0f} MB read in {seconds:.2f} s; as in memory: {same}")
            if name == "bfs":
                print(found.trace)


def main() -> None:
    """Take the size from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=14)
    parser.add_argument("--edge-factor", type=int, default=512)
    given = parser.parse_args()
    show(given.scale, given.edge_factor)


if __name__ == "__main__":
    main()
