"""The demonstration behind ``make demo``: two graphs, kept and checked; five algorithms, and the paths they took.

At last a graph ten times as large as the memory that it is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import larger_than_memory
from rich.console import Console
from rich.table import Table

import dromos as dr
from dromos.cli.info import degree_bars, facts_table
from dromos.graph import store

SCALE, SIDE = 16, 500
FOLDER = Path("demo")

console = Console(highlight=False)


def timed(title: str, start: float) -> None:
    """Say what was done and how long it took."""
    console.print(f"[bold]{title}[/]  ({time.perf_counter() - start:.2f} s)", soft_wrap=True)


def keep(graph: dr.Graph, name: str) -> dr.Graph:
    """Save a graph, load it again, verify the file, and give back what was loaded."""
    file = FOLDER / f"{name}.drm"
    start = time.perf_counter()
    graph.write(file)
    loaded = dr.read(file)
    report = store.verify(file)
    if loaded != graph:
        raise SystemExit("the graph that was loaded is not the one that was saved")
    timed(f"saved {file}, loaded it again, verified {len(report.checks)} promises of the store", start)
    return loaded


def run_algorithms(graph: dr.Graph, name: str) -> None:
    """Run five algorithms, twice each (the first call compiles), and show what the planner chose."""
    source = int(graph.out_degree.argmax())
    calls: dict[str, Callable[[], dr.Result]] = {
        "bfs": lambda: dr.bfs(graph, source),
        "sssp": lambda: dr.sssp(graph, source),
        "pagerank": lambda: dr.pagerank(graph),
        "connected_components": lambda: dr.connected_components(graph),
        "core_numbers": lambda: dr.core_numbers(graph),
    }
    table = Table("algorithm", "first call", "second call", "result", title=name, title_justify="left")
    traces = []
    for title, call in calls.items():
        start = time.perf_counter()
        call()
        first = time.perf_counter() - start
        start = time.perf_counter()
        result = call()
        table.add_row(title, f"{first:.2f} s", f"{(time.perf_counter() - start) * 1e3:.1f} ms", repr(result))
        traces.append((title, result))
    console.print(table)
    for title, result in traces[:1]:
        console.print(f"the paths of {title} on {name}:")
        console.print(str(result.trace), markup=False, soft_wrap=True)
    console.print()


def main() -> None:
    """Run the demonstration in the folder ``demo/``."""
    FOLDER.mkdir(exist_ok=True)
    start = time.perf_counter()
    skewed = dr.generators.rmat(SCALE, seed=1, dedupe=True, drop_self_loops=True)
    skewed = dr.generators.with_random_weights(skewed, 1, 255, seed=1)
    timed(f"generated an R-MAT graph of scale {SCALE}", start)
    start = time.perf_counter()
    lattice = dr.generators.with_random_weights(dr.generators.grid(SIDE, SIDE), 1, 255, seed=1)
    timed(f"generated a grid of {SIDE} x {SIDE}", start)
    skewed, lattice = keep(skewed, "rmat"), keep(lattice, "grid")

    console.print()
    console.print(facts_table(skewed, title="the R-MAT graph"))
    console.print(degree_bars(skewed))
    run_algorithms(skewed, "the R-MAT graph")
    run_algorithms(lattice, "the grid")
    console.print("[bold]a graph that stays on disk[/] (examples/larger_than_memory.py)")
    larger_than_memory.show()
    console.print()
    console.print(
        "What to try next:\n"
        "  .venv/bin/dromos bfs demo/rmat.drm --source 0 --trace\n"
        "  .venv/bin/dromos pagerank demo/rmat.drm -o ranks.parquet\n"
        "  .venv/bin/dromos convert demo/rmat.drm demo/rmat.mtx.gz\n"
        "  .venv/bin/dromos info demo/grid.drm --json\n"
        "  .venv/bin/dromos bfs demo/rmat.drm --source 0 --memory 64M --trace\n"
        "and in Python:\n"
        "  import dromos as dr\n"
        '  g = dr.read("demo/rmat.drm")\n'
        "  dr.sssp(g, 0).top(5), dr.pagerank(g).trace",
        markup=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
