"""``dromos largest-component``: write the largest component of a graph to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dromos.cli.console import err, work
from dromos.cli.graph_files import Out, check_name, write_graph
from dromos.cli.results import open_on_disk
from dromos.cli.sizes import parse_size
from dromos.errors import InvalidArgumentError

__all__ = ["largest_component"]


def largest_component(
    graph: Annotated[Path, typer.Argument(metavar="GRAPH", help="A graph file of any format.", show_default=False)],
    out: Out,
    strong: Annotated[bool, typer.Option("--strong", help="The largest strongly connected component.")] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Keep a .drm graph on disk and use at most this memory to find components, such as 2G; "
            "the largest one has to fit in memory."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, numpy or reference.")] = "auto",
    threads: Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")] = None,
    format: Annotated[str | None, typer.Option("--format", help=r"Input format \[default: from extension]")] = None,
) -> None:
    """Write the component with the most vertices as a graph of its own, with the old ids or labels as labels."""
    from dromos.algorithms.shortcuts import largest_component as find
    from dromos.graph.formats import read

    check_name(out)
    if out.exists() and graph.exists() and out.samefile(graph):
        raise InvalidArgumentError("GRAPH and OUT are the same file; give OUT another name")
    how: dict[str, Any] = {"device": device, "threads": threads}
    if memory is None:
        with work(f"reading {graph.name}", then="building the graph") as progress:
            whole = read(graph, format=format, threads=threads, progress=progress)
    else:
        whole, how["memory"] = open_on_disk(graph, format), parse_size(memory)
    with work("largest-component") as progress:
        found = find(whole, strong, progress=progress if err.is_terminal else None, **how)
    write_graph(found, out)
