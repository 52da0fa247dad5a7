"""Graph files that a command makes: the name is checked before the work, and the graph is written after it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dromos.cli.console import err, work
from dromos.errors import UnsupportedFormatError

if TYPE_CHECKING:
    from dromos.graph import Graph

__all__ = ["Out", "check_name", "write_graph"]

Out = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, in any format.", show_default=False)]


def check_name(out: Path) -> None:
    """Raise an error if no graph can be written to a file of this name."""
    from dromos.graph import formats
    from dromos.graph.formats.files import require_folder

    try:
        formats.format_of(out)
    except UnsupportedFormatError as error:
        message = error.message.replace("pass format= with one of", "name OUT as a file of one of these formats:")
        raise UnsupportedFormatError(message, path=error.path) from None
    require_folder(out)


def write_graph(graph: Graph, out: Path) -> None:
    """Write the graph, and tell so."""
    from dromos.graph import formats

    try:
        with work(f"writing {out.name}") as progress:
            formats.write(graph, out, progress=progress)
    except UnsupportedFormatError as error:
        message = error.message.replace("pass allow_loss=True", "convert it with `dromos convert --allow-loss`")
        raise UnsupportedFormatError(message, path=error.path) from None
    if err.is_terminal:
        err.print(f"wrote {out}: {graph!r}", markup=False)
