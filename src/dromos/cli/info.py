"""``dromos info``: what is in a graph file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from dromos.cli.console import out, print_json, work
from dromos.graph import summary

if TYPE_CHECKING:
    from dromos.graph import Graph

__all__ = ["degree_bars", "facts_table", "info"]

_BAR_CELLS = 40
_PAGERANK_BYTES_PER_VERTEX = {"cpu": 32, "cuda": 48}
"""Ranks in float64, old and new, messages, and the queues and bitmaps of a run: on the CPU as measured with resident
memory, on CUDA by the sizes of the engine's arrays."""


def info(
    graph: Annotated[Path, typer.Argument(help="A graph file of any format.", show_default=False)],
    format: Annotated[str | None, typer.Option("--format", help=r"Input format \[default: from extension]")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threads: Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")] = None,
) -> None:
    """Show a graph's size, kind, degrees and the memory it needs."""
    from dromos.graph.formats import read
    from dromos.graph.store import open_store
    from dromos.graph.store.striped import is_striped_file

    with work(f"reading {graph.name}", then="building the graph") as progress:
        striped = is_striped_file(graph)  # it cannot be mapped
        loaded = open_store(graph) if striped else read(graph, format=format, threads=threads, progress=progress)
    stored = stored_form(loaded)
    if json:
        print_json(describe(loaded) | ({} if stored is None else {"store": stored}))
        return
    table = facts_table(loaded, title=str(graph))
    if stored is not None:
        packed = f"packed, {stored['target_bytes']:.2f} bytes per arc" if stored["packed"] else "not packed"
        table.add_row("store", f"version {stored['version']}, {summary.human_bytes(stored['bytes'])}; targets {packed}")
    out.print(table)
    out.print(degree_bars(loaded))
    needs = Table("device", "graph", "with transpose", "PageRank, about", title="memory", title_justify="left")
    for device, need in memory_needs(loaded).items():
        needs.add_row(device, *(summary.human_bytes(need[key]) for key in ("graph", "with_transpose", "pagerank")))
    out.print(needs)


def describe(graph: Graph) -> dict[str, Any]:
    """A graph's facts for programs to read."""
    degrees = graph.out_degree
    flags = graph.flags
    return {
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "arcs": graph.num_arcs,
        "directed": flags.directed,
        "symmetric": flags.symmetric,
        "sorted": flags.sorted,
        "parallel_edges": flags.parallel_edges,
        "self_loops": flags.self_loops,
        "isolated_vertices": summary.isolated(graph),
        "weights": None if graph.weights is None else str(graph.weights.dtype),
        "labels": None if graph.labels is None else graph.labels.kind,
        "out_degree": {
            "min": int(degrees.min()) if len(degrees) else 0,
            "mean": float(degrees.mean()) if len(degrees) else 0.0,
            "max": int(degrees.max(initial=0)),
        },
        "bytes": graph.nbytes,
        "memory": memory_needs(graph),
    }


def stored_form(graph: Graph) -> dict[str, Any] | None:
    """How the store that a graph was read from holds it; None for a file of another format."""
    from dromos.graph.store.origin import origin_of

    origin = origin_of(graph)
    if origin is None:
        return None
    header = origin.header
    targets = header.section("targets")
    assert targets is not None
    return {
        "version": header.version,
        "bytes": header.file_bytes,
        "packed": header.packed,
        "target_bytes": targets.nbytes / max(header.num_arcs, 1),
    }


def memory_needs(graph: Graph) -> dict[str, dict[str, int]]:
    """Bytes that the graph takes in a device's memory: alone, with its transpose, and about what a PageRank run keeps.

    What building the transpose and summing weights take for a moment is not in it.
    """
    labels = 0 if graph.labels is None else graph.labels.nbytes
    rows = graph.nbytes - labels
    both = rows if graph.known_flags.symmetric else 2 * rows
    # PageRank pulls along the transpose.
    strengths = 0 if graph.weights is None else 8
    needs = {}
    for device, fields in _PAGERANK_BYTES_PER_VERTEX.items():
        kept = labels if device == "cpu" else 0
        run = (fields + strengths) * graph.num_vertices
        needs[device] = {"graph": rows + kept, "with_transpose": both + kept, "pagerank": both + kept + run}
    return needs


def facts_table(graph: Graph, title: str) -> Table:
    """A graph's facts as a table."""
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in summary.facts(graph).items():
        table.add_row(name, value)
    return table


def degree_bars(graph: Graph) -> Table:
    """The out-degrees as a histogram with logarithmic bins."""
    table = Table("out-degree", "vertices", "", title="degrees", title_justify="left")
    counts = graph.degree_histogram()
    rows = []
    low, high = 0, 1
    while low < len(counts):
        rows.append((f"{low}" if high == low + 1 else f"{low}..{high - 1}", int(counts[low:high].sum())))
        low, high = high, max(2 * high, 2)
    most = max((count for _, count in rows), default=0)
    for name, count in rows:
        table.add_row(name, f"{count:,}", "█" * round(_BAR_CELLS * count / most) if most else "")
    return table
