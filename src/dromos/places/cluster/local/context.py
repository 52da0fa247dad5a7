"""``with dr.cluster(ranks=4):`` and the engine that calls use inside it."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

from dromos.errors import ClusterError, InvalidArgumentError
from dromos.places.cluster.local.job import Job, find_mpirun
from dromos.places.cluster.local.remote import RemoteEngine
from dromos.places.cluster.local.shipping import Rooms
from dromos.places.cluster.world import launched
from dromos.whole_numbers import whole_number

__all__ = ["Cluster", "active_engine", "cluster"]

_LEAVES = ("cpu", "numpy", "cuda", "reference")
_active: list[Cluster] = []


def cluster(ranks: int, *, device: str = "cpu", threads: int | None = None) -> Cluster:
    """Run the calls of a ``with`` block on several processes of this machine, which share each graph.

    The first call starts the ranks, and the end of the block stops them, also after an error or Ctrl-C. Each graph is
    passed to them once, through files in memory. If a rank fails or is killed, the others end too, and an error names
    it; the next call starts new ranks.

    Args:
        ranks: the number of processes.
        device: the device of each rank: ``"cpu"``, ``"numpy"``, ``"cuda"`` or ``"reference"``.
        threads: the threads of each rank; by default its share of the cores.

    >>> import dromos as dr
    >>> with dr.cluster(ranks=2, device="numpy"):
    ...     found = dr.bfs(dr.generators.path(4), 0)
    >>> found.level.tolist(), found.device
    ([0, 1, 2, 3], 'numpy on 2 ranks')
    """
    count = whole_number(ranks)
    if count is None or count < 1:
        raise InvalidArgumentError(f"ranks={ranks!r} is not a whole number of 1 or more")
    if device not in _LEAVES:
        raise InvalidArgumentError(f"device={device!r}: a rank cannot run on it; choose one of {', '.join(_LEAVES)}")
    if launched():
        raise InvalidArgumentError("this process is a rank of an MPI job already; call with device='mpi'")
    find_mpirun()  # raises now if it is missing
    return Cluster(count, device, threads)


class Cluster:
    """See :func:`cluster`."""

    def __init__(self, ranks: int, device: str, threads: int | None) -> None:
        self.ranks, self.device, self.threads = ranks, device, threads
        self.job: Job | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self.rooms = Rooms.new()
        self.engine = RemoteEngine(self, self.device, self.ranks)
        _active.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        _active.remove(self)
        try:
            if self.job is not None:
                self.job.kill() if kind is not None else self.job.close()
        finally:
            self.job = None
            self.rooms.close()

    def call(self, name: str, *arguments: Any, job: Job | None = None) -> Any:
        """Run the same call on all ranks; ``job``: the one with the needed state, which a failure may have ended."""
        with self._lock:
            if self not in _active:
                raise ClusterError("the ranks ended with their `with dr.cluster` block; make the call inside the block")
            if job is not None and job is not self.job:
                raise ClusterError("the ranks that held this run have ended; run it again")
            if self.job is None or not self.job.alive:
                self.job = Job(self.ranks, self.device, self.threads, self.rooms)
            try:
                self._forget()
                return self.job.call(name, *arguments)
            except BaseException as error:
                if not isinstance(error, Exception):  # Ctrl-C: the state of the ranks is unknown
                    self.job.kill()
                raise

    def _forget(self) -> None:
        executions, graphs = self.engine.gone
        if executions or graphs:
            assert self.job is not None
            self.job.call("forget", executions[:], graphs[:])
            executions.clear()
            graphs.clear()

    def __repr__(self) -> str:
        return f"<Cluster: {self.ranks} ranks on {self.device}, {'open' if self in _active else 'closed'}>"


def active_engine() -> RemoteEngine | None:
    """The engine of the innermost open block."""
    return _active[-1].engine if _active else None
