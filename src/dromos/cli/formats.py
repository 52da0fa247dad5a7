"""``dromos formats``: what can be read and written."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from dromos.cli.console import out, print_json
from dromos.graph.formats.files import COMPRESSIONS

__all__ = ["formats"]


def formats(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the file formats that Dromos reads and writes."""
    from dromos.graph.formats import FORMATS

    if json:
        print_json(
            [
                {
                    "name": known.name,
                    "title": known.title,
                    "extensions": list(known.extensions),
                    "reads": known.stream is not None or known.load is not None,
                    "writes": known.write is not None,
                    "compressed": known.compressed,
                }
                for known in FORMATS.values()
            ]
        )
        return
    table = Table("format", "what", "extensions", "reads", "writes", "compressed", title=None)
    mark = {True: "yes", False: "no"}
    for known in FORMATS.values():
        reads = known.stream is not None or known.load is not None
        table.add_row(
            known.name, known.title, " ".join(known.extensions), mark[reads], mark[known.write is not None],
            mark[known.compressed],
        )  # fmt: skip
    out.print(table)
    out.print(f"compressed: also through {' '.join(COMPRESSIONS)}; choose a format by its extension, or by --format")
