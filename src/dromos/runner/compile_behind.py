"""A process that compiles an algorithm's kernels after a first call that was answered by NumPy.

Compiling takes seconds, which the first call does not wait for; the next calls, in this process or another, are to find
machine code on disk. The process has a low priority and no terminal, outlives its starter, and ends by itself. There is
one at a time for a cache folder: it holds a lock there, which others can see. ``DROMOS_COMPILE_BEHIND=0`` starts none.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dromos import disk_cache
from dromos.errors import FileError, InvalidArgumentError
from dromos.graph import Graph

__all__ = ["VARIABLE", "is_allowed", "is_running", "kind_of", "sole", "start"]

VARIABLE: Final = "DROMOS_COMPILE_BEHIND"
_LOCK: Final = "turns/behind"
_SHELL: Final = "/bin/sh"
# the shell ends at once: whoever starts has no child to wait for
_COMMAND: Final = 'nice -n 5 "$@" </dev/null >/dev/null 2>&1 &'
_CODE: Final = """
import json, sys
given = json.loads(sys.argv[1])
sys.path[:] = given.pop("path")
from dromos.cli.warm_behind import main
main(**given)
"""
_LONGEST_START = 5.0  # seconds
_BEGINNING = 3.0  # seconds in which a process that was started may not have its lock yet
_started = float("-inf")
_log = logging.getLogger("dromos.compiling")


def start(algorithm: str, graph: Graph) -> bool:
    """Have the kernels of a built-in algorithm compiled for graphs such as this; whether a process was started.

    >>> import dromos as dr
    >>> os.environ[VARIABLE] = "0"
    >>> start("bfs", dr.generators.path(3))
    False
    """
    global _started
    if not is_allowed() or not _can_start() or is_running():
        return False
    path = [str(Path(entry).absolute()) for entry in sys.path]
    given = json.dumps({"path": path, "algorithm": algorithm, "kind": kind_of(graph)})
    folder = str(disk_cache.cache_folder().absolute())
    environment = {**os.environ, VARIABLE: "0", disk_cache.CACHE_VARIABLE: folder, "CUDA_VISIBLE_DEVICES": ""}
    command = [_SHELL, "-c", _COMMAND, _SHELL, sys.executable, "-c", _CODE, given]
    try:
        subprocess.run(command, env=environment, cwd="/", start_new_session=True, timeout=_LONGEST_START, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    _started = time.monotonic()
    _log.info("compiling %s in another process, for later calls", algorithm)
    return True


def is_allowed() -> bool:
    """Whether such processes may be started; to be asked before a call begins, since a wrong answer is an error.

    >>> os.environ[VARIABLE] = "0"
    >>> is_allowed()
    False
    """
    chosen = os.environ.get(VARIABLE, "1")
    if chosen not in ("0", "1"):
        raise InvalidArgumentError(f"{VARIABLE}={chosen!r} is neither 0 (nothing is compiled behind calls) nor 1")
    return chosen == "1"


def kind_of(graph: Graph) -> str:
    """What kernels are compiled for, as far as it differs from graph to graph.

    >>> import dromos as dr
    >>> kind_of(dr.generators.path(3))
    'undirected'
    """
    weights = "" if graph.weights is None else ", weights" if graph.weights.dtype.kind == "f" else ", whole weights"
    return ("directed" if graph.directed else "undirected") + weights


def _can_start() -> bool:
    """Whether this is an ordinary Python: a frozen application would start itself again."""
    if os.name != "posix" or getattr(sys, "frozen", False) or not Path(_SHELL).exists():
        return False
    return Path(sys.executable or "").name.startswith("python")


def is_running() -> bool:
    """Whether such a process compiles for the cache folder.

    >>> is_running() in (False, True)
    True
    """
    if os.name != "posix":
        return False
    if time.monotonic() - _started < _BEGINNING:
        return True
    import fcntl

    try:
        file = os.open(disk_cache.places().private / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, FileError):  # there was none yet
        return False
    try:
        return not _is_locked(file, fcntl.LOCK_SH)
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(file)


@contextlib.contextmanager
def sole() -> Iterator[bool]:
    """Be the one process that compiles for the cache folder within the block; whether it is.

    >>> with sole() as is_sole, sole() as is_another:
    ...     is_another
    False
    """
    import fcntl

    path = disk_cache.places().private / _LOCK
    path.parent.mkdir(exist_ok=True, mode=0o700)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _is_locked(file, fcntl.LOCK_EX)
    finally:
        os.close(file)


def _is_locked(file: int, kind: int) -> bool:
    """Whether a lock could be had at once."""
    import fcntl

    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
