"""An MPI job of this machine's: started, told what to do through a socket to each rank, and ended whatever happens."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from dromos import errors
from dromos.available_cores import available_cores
from dromos.errors import ClusterError, DromosError, MissingDependencyError
from dromos.places.cluster.local.shipping import Rooms

__all__ = ["Job", "find_mpirun"]

_START_SECONDS: Final = 120.0
_GRACE_SECONDS: Final = 3.0
"""For the other ranks to answer after one has failed: each may have found the same fault."""
_END_SECONDS: Final = 5.0
_SLEEP_NANOSECONDS: Final = "20000"
"""Of a rank that waits, where there are fewer cores than ranks."""
_RANK: Final = "dromos.runner.cluster_rank"
"""What ranks run. It stands above this layer, since it knows the names of all leaf engines."""


def find_mpirun() -> str:
    """The launcher: that of the Python environment, or the system's."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("mpirun", path=places) or shutil.which("mpiexec", path=places)
    if found is None:
        raise MissingDependencyError("dr.cluster needs mpirun: pip install 'dromos[mpi]'")
    return found


class Job:
    """``ranks`` processes that run :mod:`dromos.runner.cluster_rank`."""

    def __init__(self, ranks: int, leaf: str, threads: int | None, rooms: Rooms) -> None:
        self.ranks = ranks
        self._links: list[Connection] = []
        self._pids: list[int] = []
        address = rooms.disk / f"socket-{time.monotonic_ns()}"
        self._log = address.with_suffix(".log")
        folders = str(rooms.disk), str(rooms.memory)
        with socket.socket(socket.AF_UNIX) as listener, open(self._log, "wb") as log:
            listener.bind(str(address))
            listener.listen(ranks)
            self._process = subprocess.Popen(
                [find_mpirun(), "-n", str(ranks), sys.executable, "-m", _RANK, str(address), leaf, *folders],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment(ranks, threads),
                start_new_session=True,
            )  # fmt: skip
            try:
                self._accept(listener)
            except BaseException:
                self.kill()
                raise

    def _accept(self, listener: socket.socket) -> None:
        """Wait until every rank has called in; refuse to wait for ranks of a job that has ended."""
        listener.settimeout(0.2)
        until = time.monotonic() + _START_SECONDS
        found: dict[int, tuple[Connection, int]] = {}
        while len(found) < self.ranks:
            if self._process.poll() is not None or time.monotonic() > until:
                raise ClusterError(f"the ranks did not start: {self._said()}")
            try:
                link, _ = listener.accept()
            except TimeoutError:
                continue
            link.setblocking(True)
            connection = Connection(link.detach())
            rank, pid = connection.recv()
            found[rank] = connection, pid
        self._links = [found[rank][0] for rank in range(self.ranks)]
        self._pids = [found[rank][1] for rank in range(self.ranks)]

    def call(self, name: str, *arguments: Any) -> Any:
        """Have all ranks do the same; what the first one gives. A rank that fails or ends is named in the error."""
        order = (name, arguments)
        for rank, link in enumerate(self._links):
            try:
                link.send(order)
            except OSError:
                raise self._ended(rank) from None
        answers: dict[int, Any] = {}
        until: float | None = None
        while len(answers) < self.ranks:
            waiting = {link: rank for rank, link in enumerate(self._links) if rank not in answers}
            ready = wait(list(waiting), None if until is None else max(0.0, until - time.monotonic()))
            for rank in [rank for link, rank in waiting.items() if link in ready]:
                try:
                    answers[rank] = self._links[rank].recv()
                except (EOFError, OSError):
                    raise self._ended(rank) from None
                if answers[rank][1] is not None and until is None:
                    until = time.monotonic() + _GRACE_SECONDS
            if not ready and until is not None:
                break
        failed = {rank: fault for rank, (_, fault) in sorted(answers.items()) if fault is not None}
        if not failed:
            return answers[0][0]
        if len(failed) < self.ranks:  # the others wait for those that failed, for ever
            self.kill()
        rank, (kind, text) = next(iter(failed.items()))
        raise _error(kind, text, "" if len(failed) == self.ranks else f"rank {rank} of {self.ranks}: ")

    def _ended(self, rank: int) -> ClusterError:
        """The error for a rank that is gone; the others are ended."""
        self.kill()
        return ClusterError(f"rank {rank} of {self.ranks} has ended: {self._said()}")

    def _said(self) -> str:
        """What the launcher said last, without its frames and empty lines."""
        lines = [line.strip() for line in self._log.read_text(errors="replace").splitlines()]
        told = [line for line in lines if line.strip("-=*")]
        return " ".join(told[-6:])[-800:] or "it said nothing"

    @property
    def alive(self) -> bool:
        """Whether it can be called."""
        return bool(self._links) and self._process.poll() is None

    def close(self) -> None:
        """Let the ranks end by themselves: they do when their sockets are closed. Kill those that do not."""
        for link in self._links:
            link.close()
        self._links = []
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.kill()

    def kill(self) -> None:
        """End all ranks now, then the launcher."""
        for link in self._links:
            link.close()
        self._links = []
        if self._process.poll() is None:  # the ranks are there as long as their launcher is
            for pid in self._pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not self._pids:
                self._process.terminate()
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._pids = []


def _error(kind: str, text: str, where: str) -> DromosError:
    """An error of a rank here: of its own class where that takes a text alone."""
    found = getattr(errors, kind, None) if kind else None
    if not where and isinstance(found, type):
        with contextlib.suppress(TypeError):
            raised = found(text)
            if isinstance(raised, DromosError):
                return raised
    return ClusterError(f"{where}{text}")


def _environment(ranks: int, threads: int | None) -> dict[str, str]:
    """The caller's, without what an MPI library may have left there, and with leave to be root and to share cores."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OMPI_", "PMIX_", "PRTE_", "PMI_")) or "_MCA_" in name
    }
    source = str(Path(errors.__file__).parents[1])
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [source, kept.get("PYTHONPATH", "")]))
    kept |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1"}
    kept.setdefault("OMPI_MCA_btl", "^ofi")  # a rank would look for fabrics to other machines, for a second
    if ranks > available_cores():
        # yielding is not enough: the system lets a rank that waits run as often as those that it waits for
        kept.setdefault("OMPI_MCA_threads_pthreads_yield_strategy", "nanosleep")
        kept.setdefault("OMPI_MCA_threads_pthreads_nanosleep_time", _SLEEP_NANOSECONDS)
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in a container; Open MPI asks for consent
        kept |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if threads is not None:
        kept["DROMOS_NUM_THREADS"] = str(threads)
    return kept
