"""``dromos serve``: a local page to look at a graph."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from dromos.cli.console import out, work
from dromos.errors import InvalidArgumentError

__all__ = ["serve"]


def serve(
    graph: Annotated[Path, typer.Argument(help="A graph file of any format.", show_default=False)],
    port: Annotated[int, typer.Option(help=r"Port on this machine \[default: a free one]", show_default=False)] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    device: Annotated[str, typer.Option(help="Where algorithms run: auto, cpu, cuda, numpy or reference.")] = "auto",
    threads: Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")] = None,
    format: Annotated[str | None, typer.Option("--format", help=r"Input format \[default: from extension]")] = None,
) -> None:
    """Look at a graph in a browser: vertices, neighbors, degrees, runs and their reports.

    The page is served to this machine only, at an address with a random token; Ctrl-C ends it.
    """
    from dromos.graph.formats import read
    from dromos.serve import GraphServer

    with work(f"reading {graph.name}", then="building the graph") as progress:
        loaded = read(graph, format=format, threads=threads, progress=progress)
    try:
        server = GraphServer(loaded, graph.name, port=port, how={"device": device, "threads": threads})
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidArgumentError(f"--port {port}: {reason}; leave it out for a free port") from None
    with server:
        out.print(server.url, markup=False, soft_wrap=True)
        if browser:
            webbrowser.open(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
