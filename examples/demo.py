"""The demonstration behind ``make demo``: make a graph, keep it, load it again, check it, look at it."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

import dromos as dr
from dromos.cli.info import degree_bars, facts_table
from dromos.graph import store

SCALE = 18
FOLDER = Path("demo")

console = Console(highlight=False)


def timed(title: str, start: float) -> None:
    """Say what was done and how long it took."""
    console.print(f"[bold]{title}[/]  ({time.perf_counter() - start:.2f} s)")


def main() -> None:
    """Run the demonstration in the folder ``demo/``."""
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / f"rmat{SCALE}.drm"

    start = time.perf_counter()
    graph = dr.generators.rmat(SCALE, seed=1)
    timed(f"generated an R-MAT graph of scale {SCALE} (the first run compiles the kernels)", start)

    start = time.perf_counter()
    graph.write(file)
    timed(f"saved it as {file}", start)

    start = time.perf_counter()
    loaded = dr.read(file)
    timed("loaded it again, mapped from the file", start)

    start = time.perf_counter()
    report = store.verify(file)
    timed(f"verified {len(report.checks)} promises of the store", start)
    if loaded != graph:
        raise SystemExit("the graph that was loaded is not the one that was saved")

    console.print()
    console.print(facts_table(loaded, title=str(file)))
    console.print(degree_bars(loaded))
    console.print(
        "\nWhat to try next:\n"
        f"  .venv/bin/dromos info {file} --json\n"
        f"  .venv/bin/dromos convert {file} {FOLDER}/rmat.mtx.gz\n"
        "  .venv/bin/dromos generate grid --rows 1000 --cols 1000 --weights 1..255 demo/grid.drm\n"
        "  .venv/bin/dromos formats\n"
        "and in Python:\n"
        "  import dromos as dr\n"
        f'  g = dr.read("{file}")\n'
        "  g.degree_histogram(), g.egonet(0), g.to_scipy()",
        markup=False,
    )


if __name__ == "__main__":
    main()
