"""What each rank of a local cluster runs: it does what it is told through its socket, together with the others."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from dromos.dtypes import Array
from dromos.errors import DromosError
from dromos.places.cluster.engine import ClusterEngine
from dromos.places.cluster.local.shipping import (
    ArrayFile,
    GraphFile,
    Rooms,
    ShippedProgram,
    opened,
    put_all,
    take,
    unpacked_program,
)
from dromos.places.driver import PlacedExecution
from dromos.plan import Path, Stats

__all__ = ["Worker", "serve"]


class Worker:
    """The executions and graphs of one rank, by the numbers and files that the caller knows them by."""

    def __init__(self, engine: ClusterEngine, rooms: Rooms) -> None:
        self._engine = engine
        self._first = engine.comm.Get_rank() == 0
        self._executions: dict[int, PlacedExecution] = {}
        self._graphs: dict[GraphFile, Any] = {}
        self._classes: dict[tuple[str, str], Any] = {}
        self._rooms = rooms

    def forget(self, executions: list[int], graphs: list[GraphFile]) -> None:
        """Those that the caller has no use for any more."""
        for number in executions:
            self._executions.pop(number, None)
        for file in graphs:
            self._graphs.pop(file, None)

    def prepare(self, number: int, shipped: ShippedProgram, file: GraphFile) -> Any:
        """See :class:`dromos.engines.Engine`."""
        program = unpacked_program(shipped, self._classes)
        execution = self._engine.prepare(program, self._graph(file))
        self._executions[number] = execution
        return execution.caps, execution.stats, dict(execution.reductions)

    def step(self, number: int, path: Path, horizon: int | None) -> Any:
        """See :class:`dromos.engines.Execution`."""
        execution = self._executions[number]
        return execution.step(path, horizon), dict(execution.reductions)

    def fields(self, number: int, result: bool) -> dict[str, Array | ArrayFile]:
        """The state or the result; from the first rank, in files where it is large."""
        execution = self._executions[number]
        fields = execution.result() if result else execution.state
        return {name: self._rooms.put(values) for name, values in fields.items()} if self._first else {}

    def operator(self, name: str, file: GraphFile, options: Mapping[str, Any]) -> dict[str, Any]:
        """See :meth:`dromos.places.cluster.engine.ClusterEngine.operator`."""
        run = self._engine.operator(name)
        assert run is not None, name
        found = run(self._graph(file), **{option: take(value, remove=False) for option, value in options.items()})
        if not self._first:
            return {}
        return {field: put_all(self._rooms, value) for field, value in found.items()}

    def _graph(self, file: GraphFile) -> Any:
        if file not in self._graphs:
            self._graphs[file] = opened(file)
        return self._graphs[file]

    def save(self, number: int) -> dict[str, Array | ArrayFile]:
        """See :class:`dromos.engines.saving.ResumableExecution`; what all ranks own, from the first one."""
        comm, begin = self._engine.comm, self._begin()
        own = {f"{begin}{name}": self._rooms.put(values) for name, values in self._executions[number].save().items()}
        return {name: value for told in comm.gather(own) or () for name, value in told.items()}

    def restore(self, number: int, told: dict[str, Array | ArrayFile], stats: Stats) -> Any:
        """See :class:`dromos.engines.saving.ResumableExecution`; each rank takes what it owns."""
        execution, begin = self._executions[number], self._begin()
        own = {
            name.removeprefix(begin): take(value, remove=False)
            for name, value in told.items()
            if name.startswith(begin)
        }
        execution.restore(own, stats)
        return dict(execution.reductions)

    def _begin(self) -> str:
        """How names of this rank's arrays begin in a checkpoint."""
        return f"rank {self._engine.comm.Get_rank()}."


def serve(engine: ClusterEngine, connection: Connection, rooms: Rooms) -> None:
    """Do what comes through ``connection`` until it is closed; large answers go to files in ``rooms``."""
    first = engine.comm.Get_rank() == 0
    worker = Worker(engine, rooms)
    try:
        while (told := _received(connection)) is not None:
            name, arguments = told
            try:
                value, failed = getattr(worker, name)(*arguments), None
            except Exception as error:
                ours = isinstance(error, DromosError)
                text = str(error) if ours else "".join(traceback.format_exception(error)).rstrip()
                value, failed = None, (type(error).__name__ if ours else "", text)
            connection.send((value if first else None, failed))
    except (BrokenPipeError, ConnectionResetError):  # the caller has gone
        os._exit(1)


def _received(connection: Connection) -> Any:
    """The next order; None when it is over."""
    try:
        return connection.recv()
    except (EOFError, ConnectionResetError):
        return None
