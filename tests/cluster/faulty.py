"""A job in which one rank fails, as :mod:`tests.cluster.faults` tells it to; run on every rank."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from dromos.places.cluster import world
from dromos.runner.checkpoint.folder import Folder

DATA_SET = "kill while writing a data set"
KINDS = ("raise", "kill", "exit", "memory", "disk", "kill while saving", "kill while writing", DATA_SET)


def fail(kind: str) -> Any:
    """What goes wrong on a rank."""
    if kind == "raise":
        raise ZeroDivisionError("a fault of the test")
    if kind == "exit":
        os._exit(7)
    if kind == "memory":
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        return np.ones(1 << 40)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def write_own_rows(found: dr.Result, place: Path, mine: bool, begin_fault: Callable[[], None]) -> None:
    """Every rank writes its own rows; the one that fails dies in the middle of its file."""
    from dromos.runner import data_set

    class Half:
        def write_table(self, table: Any, stream: Any) -> None:
            stream.write(b"half")
            stream.flush()
            begin_fault()
            fail("kill")

    if mine:
        data_set._parquet = Half
    found.write(place)


def main() -> None:
    """``faulty FOLDER KIND RANK SUPERSTEPS``: fail after so many supersteps of this process; "none" never fails."""
    folder, kind, rank, after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    mine = world().Get_rank() == rank
    seen = 0

    def begin_fault() -> None:
        (folder / "fault").write_text(repr(time.time()))

    def progress(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if not mine or seen != after:
            return
        if kind in ("raise", "kill", "exit", "memory"):
            begin_fault()
            fail(kind)
        elif kind == "disk":
            begin_fault()
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        elif kind == "kill while saving":
            allgather = world().allgather

            class Dying:
                """A communicator whose rank dies when all have written and the manifest is not yet there."""

                def __getattr__(self, name: str) -> Any:
                    return getattr(world(), name)

                def allgather(self, value: Any) -> Any:
                    found = allgather(value)
                    begin_fault()
                    fail("kill")
                    return found

            save = Folder.save

            def saving(self: Folder, *given: Any) -> None:
                self._comm = Dying()
                save(self, *given)

            Folder.save = saving  # type: ignore[method-assign]

    draw = np.random.default_rng(3)  # our generators would import the compiler, on every rank of every job
    graph = dr.Graph.from_edges(draw.integers(0, 256, 2048), draw.integers(0, 256, 2048), num_vertices=256)
    saved = {"checkpoint": folder / "saved", "checkpoint_every": 0}
    found = dr.pagerank(
        graph, tol=1e-13, max_iter=500, device="mpi:numpy", progress=progress, gather=kind != DATA_SET, **saved
    )
    if kind == DATA_SET:
        write_own_rows(found, folder / "ranks", mine, begin_fault)
        return
    if world().Get_rank() == 0:
        if kind == "kill while writing":
            import dromos.runner.writing as writing

            def half(stream: Any, columns: Any) -> None:
                stream.write(b"half")
                stream.flush()
                begin_fault()
                fail("kill")

            writing.WRITERS = {".npz": half}  # type: ignore[misc]
        found.write(folder / "ranks.npz")


if __name__ == "__main__":
    main()
