"""The engine of a local cluster as the caller sees it: executions whose state lies with the ranks."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, NativeKernel, check_params
from dromos.engines.saving import Saved
from dromos.places.cluster.local.shipping import GraphFile, packed_program, take, take_all
from dromos.places.operators import OPERATORS
from dromos.plan import Caps, Path, Stats
from dromos.program import Program

if TYPE_CHECKING:
    from dromos.places.cluster.local.context import Cluster

__all__ = ["RemoteEngine", "RemoteExecution"]


class RemoteEngine:
    """See :class:`dromos.engines.Engine`: programs run on the ranks, one superstep after the other."""

    reads_stores = True

    def __init__(self, cluster: Cluster, leaf: str, ranks: int) -> None:
        self.name = f"{leaf} on {ranks} ranks"
        self._cluster = cluster
        self._numbers = itertools.count()
        self._files: dict[int, GraphFile] = {}
        self.gone: tuple[list[int], list[GraphFile]] = ([], [])
        """Executions and graphs that nobody holds here any more; the ranks are told with the next call."""

    def prepare(self, program: Program, graph: GraphLike) -> RemoteExecution:
        """See :class:`dromos.engines.Engine`."""
        check_params(program, graph)
        number = next(self._numbers)
        shipped = packed_program(program, self._cluster.rooms)
        caps, stats, reductions = self._cluster.call("prepare", number, shipped, self._file_of(graph))
        execution = RemoteExecution(self._cluster, number, caps, stats, reductions)
        weakref.finalize(execution, self.gone[0].append, number)
        return execution

    def native(self, name: str) -> NativeKernel | None:
        """None: the hand-written kernels take whole graphs, so programs do their work here."""
        return None

    def operator(self, name: str) -> NativeKernel | None:
        """What no program can say: each rank does the rows of its own vertices."""
        if name not in OPERATORS:
            return None

        def run(graph: GraphLike, **options: Any) -> Mapping[str, Any]:
            rooms = self._cluster.rooms
            sent = {
                option: rooms.put(value) if isinstance(value, np.ndarray) else value
                for option, value in options.items()
            }
            try:
                told = self._cluster.call("operator", name, self._file_of(graph), sent)
            finally:
                for value in sent.values():
                    rooms.discard(value)
            return {field: take_all(value) for field, value in told.items()}

        return run

    def _file_of(self, graph: GraphLike) -> GraphFile:
        """The file of a graph, written when it is first sent."""
        key = id(graph)
        if key not in self._files:
            file = self._cluster.rooms.put_graph(graph)
            self._files[key] = file
            weakref.finalize(graph, self._forget, key, file)
        return self._files[key]

    def _forget(self, key: int, file: GraphFile) -> None:
        self._files.pop(key, None)
        self.gone[1].append(file)
        self._cluster.rooms.remove(file)


class RemoteExecution:
    """See :class:`dromos.engines.Execution`."""

    why_not_saved = ""

    def __init__(self, cluster: Cluster, number: int, caps: Caps, stats: Stats, reductions: Mapping[str, Any]) -> None:
        self._cluster, self._number = cluster, number
        self._job = cluster.job
        self.caps, self.stats, self.reductions = caps, stats, reductions

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields, gathered and copied here."""
        return self._fields(result=False)

    def result(self) -> Mapping[str, Array]:
        """See :class:`dromos.engines.Execution`."""
        return self._fields(result=True)

    def _fields(self, *, result: bool) -> dict[str, Array]:
        told = self._cluster.call("fields", self._number, result, job=self._job)
        return {name: take(value, remove=True) for name, value in told.items()}

    def save(self) -> Saved:
        """See :class:`dromos.engines.saving.ResumableExecution`: what all ranks own, with the rank in each name."""
        told = self._cluster.call("save", self._number, job=self._job)
        return {name: take(value, remove=True) for name, value in told.items()}

    def restore(self, saved: Saved, stats: Stats) -> None:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        rooms = self._cluster.rooms
        told = {name: rooms.put(values) for name, values in saved.items()}
        self.reductions = self._cluster.call("restore", self._number, told, stats, job=self._job)
        self.stats = stats
        for value in told.values():
            rooms.discard(value)

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """See :class:`dromos.engines.Execution`."""
        self.stats, self.reductions = self._cluster.call("step", self._number, path, horizon, job=self._job)
        return self.stats
