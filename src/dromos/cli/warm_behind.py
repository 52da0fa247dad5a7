"""What a process does that compiles an algorithm after its first call: see :mod:`dromos.runner.compile_behind`."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["main"]

_LONGEST: Final = 120  # seconds


def main(algorithm: str, kind: str) -> None:
    """Compile an algorithm for graphs of a kind, unless another process compiles for the same cache folder."""
    from dromos import disk_cache
    from dromos.cli.algorithms import COMMANDS
    from dromos.cli.warm import compile_for, small_graphs
    from dromos.errors import FileError
    from dromos.runner import compile_behind

    signal.alarm(_LONGEST)  # which ends this process, whatever it is at
    function = COMMANDS.get(algorithm.replace("_", "-"))
    if function is None:
        return
    disk_cache.use_only_existing()
    try:
        with compile_behind.sole() as is_sole, tempfile.TemporaryDirectory(prefix="dromos-warm-") as scratch:
            for graph in small_graphs() if is_sole else ():
                if compile_behind.kind_of(graph) == kind:
                    compile_for(function, graph, Path(scratch))
    except FileError:  # the cache folder has gone: it was a temporary one
        return
