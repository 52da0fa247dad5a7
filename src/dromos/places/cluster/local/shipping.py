"""Programs, arrays and graphs on their way to ranks on this machine: what is large goes through files in memory."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike
from dromos.graph import Graph
from dromos.graph.formats import read, write
from dromos.graph.store.origin import origin_of
from dromos.graph.store.stored import StoredGraph, open_store
from dromos.program import Program, ProgramIR

__all__ = [
    "ArrayFile", "GraphFile", "Rooms", "ShippedProgram", "opened", "packed_program", "put_all", "take", "take_all",
    "unpacked_program",
]  # fmt: skip

_LARGE: Final = 1 << 16  # bytes: smaller arrays go with the message
_MEMORY: Final = Path("/dev/shm")


class ArrayFile(NamedTuple):
    """An array that lies in a file."""

    path: str


class GraphFile(NamedTuple):
    """A graph as ranks are to open it: mapped as a whole, or each rank its own rows."""

    path: str
    on_disk: bool
    is_transposed: bool = False
    has_weights: bool = True
    """Whether those that are in the file belong to it."""


class ShippedProgram(NamedTuple):
    """A program without its class, which may stand in a notebook."""

    name: str
    ir: ProgramIR
    params: dict[str, Any]


class Rooms:
    """Folders for files: in memory while there is room, else on disk; :meth:`close` removes them."""

    def __init__(self, disk: Path, memory: Path, mark: str = "") -> None:
        """``mark``: begins the names of files, where several processes write to the same folders."""
        self.disk, self.memory, self._mark = disk, memory, mark
        self._numbers = itertools.count()

    @classmethod
    def new(cls) -> Rooms:
        """Folders of their own."""
        disk = Path(tempfile.mkdtemp(prefix="dromos-"))
        if not (_MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)):
            return cls(disk, disk)
        return cls(disk, Path(tempfile.mkdtemp(prefix="dromos-", dir=_MEMORY)))

    def place(self, size: int, extension: str) -> Path:
        """A new name for a file of ``size`` bytes."""
        fits = 2 * size < shutil.disk_usage(self.memory).free
        return (self.memory if fits else self.disk) / f"{self._mark}{next(self._numbers)}{extension}"

    def put(self, array: Array) -> Array | ArrayFile:
        """A small array as it is, a large one as a file."""
        if array.nbytes < _LARGE:
            return array
        place = self.place(array.nbytes, ".npy")
        np.save(place, array, allow_pickle=False)
        return ArrayFile(str(place))

    def discard(self, value: Array | ArrayFile) -> None:
        """Remove the file of an array that all have read."""
        if isinstance(value, ArrayFile):
            Path(value.path).unlink(missing_ok=True)

    def put_graph(self, graph: GraphLike) -> GraphFile:
        """The store that a graph was opened from, or a new one."""
        assert isinstance(graph, Graph)
        if isinstance(graph, StoredGraph):  # or a view of it
            return GraphFile(graph.origin.path, True, bool(graph.out_prefix), graph.weights is not None)
        origin = origin_of(graph)
        if origin is not None:
            return GraphFile(os.fspath(origin.path), False)
        size = graph.offsets.nbytes + graph.targets.nbytes + (0 if graph.weights is None else graph.weights.nbytes)
        place = self.place(2 * size, ".drm")
        write(graph, place, transpose=True)
        return GraphFile(str(place), False)

    def remove(self, file: GraphFile) -> None:
        """Remove the file of a graph, if it was made for the ranks."""
        if Path(file.path).parent in (self.disk, self.memory):
            Path(file.path).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove all files."""
        for folder in {self.disk, self.memory}:
            shutil.rmtree(folder, ignore_errors=True)


def take(value: Array | ArrayFile, *, remove: bool) -> Array:
    """The array of a message; a file is read, and removed by the one it was for."""
    if not isinstance(value, ArrayFile):
        return value
    array: Array = np.load(value.path, allow_pickle=False)
    if remove:
        Path(value.path).unlink()
    return array


def put_all(rooms: Rooms, value: Any) -> Any:
    """Arrays in lists and tuples as they are sent; see :func:`take_all`."""
    if isinstance(value, list | tuple):
        return type(value)(put_all(rooms, one) for one in value)
    return rooms.put(value) if isinstance(value, np.ndarray) else value


def take_all(value: Any) -> Any:
    """What :func:`put_all` was given; files are removed.

    >>> take_all([(1.5, np.arange(2))])
    [(1.5, array([0, 1]))]
    """
    if isinstance(value, list | tuple) and not isinstance(value, ArrayFile):  # which is a tuple, too
        return type(value)(map(take_all, value))
    return take(value, remove=True)


def opened(file: GraphFile) -> Any:
    """The graph, on a rank."""
    if not file.on_disk:
        return read(file.path)
    stored: Graph = open_store(file.path)
    graph = stored.transpose if file.is_transposed else stored
    return graph if file.has_weights else graph.with_weights(None)


def packed_program(program: Program, rooms: Rooms) -> ShippedProgram:
    """A program to be sent."""
    params = {name: rooms.put(value) if np.ndim(value) else value for name, value in program.params.items()}
    return ShippedProgram(type(program).__name__, program.ir(), params)


def unpacked_program(shipped: ShippedProgram, classes: dict[tuple[str, str], type[Program]]) -> Program:
    """The program on a rank; ``classes`` are those that were made before, so that kernels are looked up once.

    >>> from dromos.algorithms.bfs import BFS
    >>> unpacked_program(packed_program(BFS(source=3), Rooms(Path(), Path())), {})
    BFS(source=3)
    """
    key = shipped.name, shipped.ir.hash
    if key not in classes:
        classes[key] = type(shipped.name, (Program,), {"_ir": shipped.ir})
    program: Program = object.__new__(classes[key])
    params: Mapping[str, Any] = {name: take(value, remove=False) for name, value in shipped.params.items()}
    program.params = MappingProxyType(dict(params))
    return program
