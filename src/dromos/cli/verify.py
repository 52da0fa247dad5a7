"""``dromos verify``: is a file complete and correct?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dromos.cli.console import out, print_json, work

__all__ = ["verify"]


def verify(
    graph: Annotated[Path, typer.Argument(help="A graph file of any format.", show_default=False)],
    format: Annotated[str | None, typer.Option("--format", help=r"Input format \[default: from extension]")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threads: Annotated[int | None, typer.Option(help=r"Threads \[default: all cores]")] = None,
) -> None:
    """Check the checksums and invariants of a .drm store; for another format, that it can be read."""
    from dromos.graph import formats, store

    with work(f"verifying {graph.name}") as progress:
        if formats.format_of(graph, format).name == "drm":
            report = store.verify(graph, progress=progress, threads=threads)
            checks = list(report.checks)
        else:
            formats.read(graph, format=format, progress=progress, threads=threads)
            checks = ["can be read"]
    if json:
        print_json({"file": str(graph), "ok": True, "checks": checks})
        return
    for check in checks:
        out.print(f"[green]ok[/]  {check}")
    out.print(f"{graph}: OK ({len(checks)} check{'s' if len(checks) > 1 else ''} passed)", markup=False, soft_wrap=True)
