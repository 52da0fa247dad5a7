"""A process that holds one graph and one peer, measures row after row, and can be stopped.

A peer's call is compiled code that ignores signals, so the only effective limit is to kill its process. Before it ends,
it reports what it was doing: whose call had begun, and the Python stack of every thread, on standard error.
"""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import peers
from benchmarks.cases import Case, load_case, make_case
from benchmarks.measure import measure
from benchmarks.rows import ROWS

__all__ = ["Holder", "Plan"]

_STACKS_S = 0.5
"""How long a process that is to end may take to report where it is."""
_MAKING_S = 300.0
"""The least limit for making the graph, which takes some peers minutes."""
_WARM_SCALE = 10


class Plan(NamedTuple):
    """The graph and peer of a process, and how long it measures."""

    kind: str
    folder: Path
    """The folder where :func:`benchmarks.cases.save_case` has saved the graph."""
    peer: str
    threads: int
    budget: float
    limit: float


class Holder:
    """The parent's handle of the other process; use it in a ``with`` statement.

    Raises :class:`peers.Unavailable` if the peer is not installed, or does not hold the graph within the limit.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.lost = False
        """Whether the process was killed at a limit; then it measures no more."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, plan), daemon=True)
        self._process.start()
        theirs.close()
        kind, value = self._answer(max(plan.limit, _MAKING_S))
        if kind != "ready":
            self._end()
            raise peers.Unavailable(str(value))
        self.rows: tuple[str, ...] = value

    def measure(self, row: str) -> dict[str, Any]:
        """The numbers of one row, or a note that states why there are none."""
        self._pipe.send(row)
        kind, value = self._answer(self.plan.limit)
        return value if kind == "row" else {"note": value}

    def __enter__(self) -> Holder:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.lost:
            with contextlib.suppress(OSError):
                self._pipe.send(None)
            self._process.join(10)
        self._end()

    def _answer(self, limit: float) -> tuple[str, Any]:
        """The process's answer within ``limit`` seconds; after that, the process is killed."""
        doing = "making the graph"
        until = time.monotonic() + limit
        while self._pipe.poll(max(0.0, until - time.monotonic())):
            try:
                kind, value = self._pipe.recv()
            except EOFError:
                self._end()
                return "lost", f"the process ended in {doing}, exit code {self._process.exitcode}"
            if kind != "doing":
                return kind, value
            doing = value
        if self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGUSR1)
        time.sleep(_STACKS_S)
        self._end()
        return "lost", f"stopped after {limit:g} s in {doing}"

    def _end(self) -> None:
        self.lost = True
        pid = self._process.pid
        if pid is not None and self._process.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # including the programs that it runs
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, plan: Plan) -> None:
    """In the other process: measure the rows that are requested, until None is received."""
    os.setsid()  # a group of its own, which _end can kill as one
    tempfile.tempdir = str(plan.folder)  # files of a peer are removed with the case, even if this process is killed
    faulthandler.register(signal.SIGUSR1, file=sys.stderr, all_threads=True)
    try:
        case = load_case(plan.folder)
        small = make_case(plan.kind, _WARM_SCALE)
        peer = peers.load(plan.peer, case, plan.threads)
    except peers.Unavailable as reason:
        pipe.send(("unavailable", str(reason)))
        return
    except Exception as error:
        traceback.print_exc()
        pipe.send(("unavailable", f"{type(error).__name__}: {error}"))
        return
    try:
        pipe.send(("ready", tuple(row.name for row in ROWS.values() if _has(peer, plan.peer, row))))
        while (name := pipe.recv()) is not None:
            pipe.send(("row", _measured(pipe, plan, name, case, small, peer)))
    except (EOFError, KeyboardInterrupt):
        return
    finally:
        peer.close()


def _measured(pipe: Connection, plan: Plan, name: str, case: Case, small: Case, peer: peers.Peer) -> dict[str, Any]:
    try:
        return measure(
            ROWS[name], case, small, plan.peer, peer, plan.budget, lambda whose: pipe.send(("doing", f"{whose} call"))
        )
    except Exception as error:
        traceback.print_exc()
        return {"note": f"failed: {type(error).__name__}: {error}"}


def _has(peer: peers.Peer, name: str, row: Any) -> bool:
    return hasattr(peer, row.peer_row) and (not row.only or name in row.only)
