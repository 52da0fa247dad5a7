"""``dromos verify``: is a file whole and true?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dromos.cli.console import out, print_json, work

__all__ = ["verify"]


def verify(
    graph: Annotated[Path, typer.Argument(help="A graph file of any format.", show_default=False)],
    format: Annotated[str | None, typer.Option("--format", help="The format, if the extension does not tell.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threads: Annotated[int | None, typer.Option(help="Threads to use.")] = None,
) -> None:
    """Check every checksum and every promise of a .drm store; for another format, that it reads without a fault."""
    from dromos.graph import formats, store

    with work(f"verifying {graph.name}") as progress:
        if formats.format_of(graph, format).name == "drm":
            report = store.verify(graph, progress=progress, threads=threads)
            checks = list(report.checks)
        else:
            formats.read(graph, format=format, progress=progress, threads=threads)
            checks = ["reads without a fault"]
    if json:
        print_json({"file": str(graph), "ok": True, "checks": checks})
        return
    for check in checks:
        out.print(f"[green]ok[/]  {check}")
    out.print(f"{graph}: whole and true")
