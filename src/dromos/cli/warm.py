"""``dromos warm``: compile the built-in algorithms for this machine, so that no later run waits for it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from dromos.cli.console import err, out, work

__all__ = ["warm"]


def warm(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]…", help=r"The algorithms to compile \[default: all]", show_default=False),
    ] = None,
) -> None:
    """Compile the built-in algorithms for this machine and keep the machine code in the cache folder.

    Each algorithm runs on small graphs, with and without weights, in memory and on disk.
    Run this when you build a container image or set up a cluster, with DROMOS_CACHE_DIR set.
    A second run takes seconds. A wheel for Linux already includes most of the machine code.
    """
    from dromos.cli.algorithms import COMMANDS
    from dromos.compiler.machine import require_compiler
    from dromos.disk_cache import cache_folder
    from dromos.errors import InvalidArgumentError
    from dromos.rehearsal import rehearse, small_graphs

    chosen = list(COMMANDS) if not names else [name.replace("_", "-") for name in names]
    if unknown := [name for name in chosen if name not in COMMANDS]:
        raise InvalidArgumentError(f"there is no algorithm {unknown[0]!r}; choose from {', '.join(COMMANDS)}")
    require_compiler()
    begin = time.perf_counter()
    with work("compiling") as progress, tempfile.TemporaryDirectory(prefix="dromos-warm-") as scratch:
        for number, name in enumerate(chosen):
            progress.note(name)
            progress(number, len(chosen))
            for graph in small_graphs():
                rehearse(COMMANDS[name], graph, Path(scratch))
    text = f"{len(chosen)} algorithms are compiled, in {time.perf_counter() - begin:.1f} s: {cache_folder()}"
    (err if err.is_terminal else out).print(text, soft_wrap=True)
