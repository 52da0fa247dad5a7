"""Compile the kernels that a wheel brings: ``python tools/machine_code.py FOLDER [--portable]`` leaves them there.

The algorithms are rehearsed, and the examples in docstrings run, by as many processes as there are cores. Each kernel
that is asked for is compiled for the level of this processor; with ``--portable`` for every level, in one file each.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import multiprocessing
import os
import pkgutil
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final

import dromos
from dromos import algorithms
from dromos.compiler.kept import Wanted, code_for, watched
from dromos.compiler.levels import Level, levels, own_level
from dromos.compiler.machine import compiling_for
from dromos.compiler.shipped import write_shipped
from dromos.compiling import note_kernels_are_loaded
from dromos.disk_cache import CACHE_VARIABLE
from dromos.graph.store.paged.ways import READS
from dromos.parallel import THREADS_VARIABLE
from dromos.rehearsal import (
    large_graphs,
    rehearse,
    rehearse_files,
    rehearse_large,
    rehearse_making,
    rehearse_networkx,
    small_graphs,
)

_ELSEWHERE: Final = ("engines.cuda", "networkx_backend", "places.cluster", "places.hybrid", "rehearsal", "serve")
"""Packages whose examples need a device, other libraries or other processes, and no kernels of their own."""

_MADE_OF_OTHERS: Final = ("all_pairs", "diameter", "eccentricity", "radius")
"""Algorithms that take long on large graphs, and have no kernels of their own there."""


def main(folder: Path, portable: bool) -> None:
    """Compile everything."""
    begin = time.perf_counter()
    wanted = levels() if portable else tuple(level for level in levels() if level is own_level())
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dromos-machine-code-") as scratch:
        os.environ[CACHE_VARIABLE] = str(Path(scratch) / "cache")
        for level in wanted:
            (Path(scratch) / level.name).mkdir()
        with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
            for done in as_completed([pool.submit(_work, *job, wanted, Path(scratch)) for job in jobs()]):
                done.result()
        for level in wanted:
            kernels = {bytes.fromhex(file.name): file.read_bytes() for file in (Path(scratch) / level.name).iterdir()}
            path = write_shipped(level, kernels, folder)
            print(f"{path.name}: {len(kernels)} kernels, {path.stat().st_size / 1e6:.1f} MB")
    print(f"compiled in {time.perf_counter() - begin:.0f} s")


def jobs() -> list[tuple[str, str]]:
    """What to run, the longest first: a kind of work, and on what."""
    names = [found.name for found in pkgutil.walk_packages(dromos.__path__, "dromos.")]
    apart = tuple(f"dromos.{name}" for name in _ELSEWHERE)
    return [
        *(("large", name) for name in algorithms.__all__ if name not in _MADE_OF_OTHERS),
        *(("small", name) for name in algorithms.__all__),
        ("graphs", ""),
        ("networkx", ""),
        *(("examples", name) for name in names if not name.startswith(apart)),
    ]


def run(kind: str, name: str, scratch: Path) -> None:
    """Do some of the work."""
    note_kernels_are_loaded()  # nothing is left to NumPy
    # few threads, since other processes are at work too; but some kernels are for machines with many cores
    os.environ[THREADS_VARIABLE] = "16" if kind in ("large", "graphs") else "2"
    if kind == "small":
        for graph in small_graphs():
            rehearse(getattr(algorithms, name), graph, scratch)
    elif kind == "large":
        os.environ[READS] = "compiled"  # as from files that are larger
        for graph in large_graphs():
            rehearse_large(getattr(algorithms, name), graph, scratch)
        del os.environ[READS]
    elif kind == "graphs":
        rehearse_making()
        for graph in (*small_graphs(), *large_graphs()[::3]):
            rehearse_files(graph, scratch)
    elif kind == "networkx":
        rehearse_networkx()
    else:
        _run_examples(name)


def _work(kind: str, name: str, wanted_levels: Sequence[Level], scratch: Path) -> None:
    """Do some of the work, and leave the kernels that it asks for."""
    wanted: list[Wanted] = []
    own = own_level()
    assert own is not None
    with compiling_for(own), watched(wanted.append), tempfile.TemporaryDirectory(dir=scratch) as files:
        run(kind, name, Path(files))
    for kernel in wanted:
        _leave(kernel, wanted_levels, scratch)


def _leave(wanted: Wanted, wanted_levels: Sequence[Level], scratch: Path) -> None:
    key = wanted.key()
    if key is None:  # of a function that an example makes
        return
    for level in wanted_levels:
        file = scratch / level.name / key.hex()
        if not file.exists():
            with compiling_for(level):
                code = code_for(wanted)
            part = file.with_name(f"{os.getpid()}")
            part.write_bytes(code)
            part.replace(file.with_name(key.hex()))


def _run_examples(module: str) -> None:
    """Run the examples of a module; what they print is for the tests to look at."""
    runner = doctest.DocTestRunner(verbose=False)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tests = doctest.DocTestFinder().find(importlib.import_module(module))
        except ImportError:  # it is for a library that is not here
            return
        for test in tests:
            runner.run(test, out=lambda text: None)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--portable" in sys.argv[2:])
