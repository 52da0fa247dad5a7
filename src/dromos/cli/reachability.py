"""``dromos reachability-index`` and ``dromos reachable``: build an index, and ask it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dromos.cli.console import err, out, print_json, work
from dromos.cli.sizes import parse_size
from dromos.cli.values import as_vertex, as_vertices

__all__ = ["reachability_index", "reachable"]

_Graph = Annotated[Path, typer.Argument(metavar="GRAPH", help="A graph file of any format.", show_default=False)]
_Format = Annotated[str | None, typer.Option("--format", help=r"Input format \[default: from extension]")]


def reachability_index(
    graph: _Graph,
    to: Annotated[Path, typer.Option("-o", "--to", help="The index file to write.", show_default=False)],
    k: Annotated[int | None, typer.Option("--k", help=r"The maximum number of steps \[default: no limit]")] = None,
    sources: Annotated[
        str | None, typer.Option("--sources", metavar="V,V,…", help="Only from these vertices.", show_default=False)
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Memory for one group of sources, such as 512M.")] = None,
    grouping: Annotated[str, typer.Option(help="auto, random or by-hubs.")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, mpi, numpy or reference.")] = "auto",
    threads: Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")] = None,
    format: _Format = None,
) -> None:
    """Build an index of which vertices reach which within --k steps."""
    from dromos.algorithms.reachability import reachability_index as build
    from dromos.graph.formats import read

    with work(f"reading {graph.name}", then="building the graph") as progress:
        loaded = read(graph, format=format, threads=threads, progress=progress)
    with work("reachability-index") as progress:
        index = build(
            loaded, k, to,
            sources=None if sources is None else as_vertices(loaded, sources),
            memory=None if memory is None else parse_size(memory), grouping=grouping, device=device, threads=threads,
            progress=progress if err.is_terminal else None,
        )  # fmt: skip
    out.print(repr(index), markup=False, soft_wrap=True)


def reachable(
    graph: _Graph,
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="An index of this graph.", show_default=False)],
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The vertex to start from.", show_default=False)],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The vertex to reach.", show_default=False)],
    format: _Format = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Ask an index whether SOURCE reaches TARGET."""
    from dromos.algorithms.reachability import ReachabilityIndex
    from dromos.graph.formats import read

    with work(f"reading {graph.name}", then="building the graph") as progress:
        loaded = read(graph, format=format, progress=progress)
    opened = ReachabilityIndex.open(index, loaded)
    answer = opened.reachable(as_vertex(loaded, source), as_vertex(loaded, target))
    if json:
        print_json({"source": source, "target": target, "k": opened.k, "reachable": answer})
    else:
        out.print("yes" if answer else "no")
