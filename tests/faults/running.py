"""Injects one fault after the other, and says what each came to."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from unittest import mock

import numpy as np

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.algorithms.pagerank import pagerank_program
from dromos.algorithms.sssp import sssp_program
from dromos.dtypes import Array
from dromos.engines import Engine
from dromos.engines.cpu import CpuEngine
from dromos.engines.parts import Leaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import FileError, ResourceError
from dromos.graph.store import write
from dromos.graph.store.paged.file import StoreFile
from dromos.graph.store.paged.ways import READS
from dromos.places.stream import StreamEngine
from tests.faults.kinds import BUDGET, KINDS, Reader
from tests.stream.stores import PAGE, random_graph, simple

__all__ = ["NAMES", "Outcome", "inject"]

NAMES: Final = (*KINDS, BUDGET)
_HOLDS_ALL: Final = 1 << 28
_STEPS: Final = 10  # so that arcs on disk are worth sorting
# Where a fault has a place, the error tells the bytes; where the whole file is another one, or too long, it tells that.
_PLACE: Final = re.compile(
    r"\bbytes? [\d,]+|changed, replaced or removed|is cut short|after the end|signature|empty|No such file"
)
_PAGE: Final = re.compile(r"section \w+, pages? [\d,]+")


def _program(kind: type[dr.Program], **params: object) -> Callable[[dr.Graph, Engine | str], Array]:
    def call(graph: dr.Graph, device: Engine | str) -> Array:
        return next(iter(dr.run(kind(**params), graph, device=device, max_iter=_STEPS).values()))

    return call


_CALLS: Final = (
    _program(BFS, source=7),
    _program(pagerank_program(False, False, np.dtype(np.float64)), alpha=0.85, tolerance=0.0),
    _program(sssp_program(np.dtype(np.int64)), source=7),
    lambda graph, device: dr.connected_components(graph, device=device).label,
    lambda graph, device: dr.core_numbers(graph, device=device).core,
    lambda graph, device: dr.triangles(graph, device=device).triangles,
)
_PROGRAMS: Final = 3  # the calls from here on have kernels of their own on the CPU engine
_OF_SIMPLE: Final = 4  # the calls from here on take undirected graphs without self-loops and parallel edges


@dataclass(frozen=True)
class Outcome:
    """What an injected fault came to."""

    seed: int
    kind: str
    result: str
    """``right`` for the right answer, the name of the error's type, or ``WRONG``."""
    text: str = ""

    @property
    def fine(self) -> bool:
        return self.result != "WRONG"


def inject(seed: int, kind: str, folder: Path, *, compiled: bool = False) -> Outcome:
    """Make a call on a store with one fault in it.

    ``compiled``: on the CPU engine, and damage on disk read by compiled code, each for half of the seeds; a third of
    the former with a budget that holds the graph, which is then read whole.
    """
    rng = np.random.default_rng([seed, NAMES.index(kind)])
    leaf = _leaf(compiled and bool(rng.integers(2)))
    which = int(rng.integers(len(_CALLS) if leaf.name == "cpu" else _PROGRAMS))
    form = "simple" if which >= _OF_SIMPLE else str(rng.choice(["directed", "undirected"]))
    chunk = int(rng.choice([PAGE, 4 * PAGE]))
    file = folder / "graph.drm"
    packed = bool(rng.integers(2))
    shutil.copyfile(_whole(form, chunk, packed), file)
    call, right = _CALLS[which], _right(which, form)
    try:
        if kind == BUDGET:
            return _too_small(rng, seed, dr.open(file), call, right, leaf)
        with _reading(KINDS[kind](rng, file), "compiled" if compiled and seed % 2 else "io_uring"):
            graph = dr.open(file)
            if leaf.name == "cpu" and rng.integers(3) == 0:
                engine = StreamEngine(leaf, _HOLDS_ALL, page_bytes=PAGE, whole=CpuEngine(2))
            else:
                memory = _least(call, graph, leaf) + int(rng.integers(12)) * PAGE
                engine = StreamEngine(leaf, memory, page_bytes=PAGE)
            found = call(graph, engine)
    except FileError as error:
        text = str(error)
        told = file.name in text and _PLACE.search(text) and (_PAGE.search(text) or "section targets" not in text)
        return Outcome(seed, kind, type(error).__name__ if told else "WRONG", text)
    except Exception as error:  # whatever else is raised is no answer that a user could do something with
        return Outcome(seed, kind, "WRONG", f"{type(error).__name__}: {error}")
    return _judged(seed, kind, found, right)


def _judged(seed: int, kind: str, found: Array, right: Array) -> Outcome:
    same = np.allclose(found, right, rtol=1e-9, atol=0, equal_nan=True)
    return Outcome(seed, kind, "right") if same else Outcome(seed, kind, "WRONG", "another answer than in memory")


def _too_small(
    rng: np.random.Generator,
    seed: int,
    graph: dr.StoredGraph,
    call: Callable[[dr.Graph, Engine | str], Array],
    right: Array,
    leaf: Leaf,
) -> Outcome:
    """The error tells what is needed; with that the run gives the right answer, with a byte less it does not run."""
    needed = _least(call, graph, leaf)
    memory = needed - 1 if rng.random() < 0.3 else int(rng.integers(1, needed))
    try:
        call(graph, StreamEngine(leaf, memory, page_bytes=PAGE))
    except ResourceError as error:
        if error.needed != needed or "is too little: this run needs" not in str(error):
            return Outcome(seed, BUDGET, "WRONG", str(error))
        outcome = _judged(seed, BUDGET, call(graph, StreamEngine(leaf, needed, page_bytes=PAGE)), right)
        return outcome if not outcome.fine else Outcome(seed, BUDGET, "ResourceError", str(error))
    return Outcome(seed, BUDGET, "WRONG", f"ran in {memory:,} bytes, where {needed:,} are needed")


def _least(call: Callable[[dr.Graph, Engine | str], Array], graph: dr.Graph, leaf: Leaf) -> int:
    """The least memory in which a run is possible; no arcs are read for it."""
    try:
        call(graph, StreamEngine(leaf, 1, page_bytes=PAGE))
    except ResourceError as error:
        return error.needed or 0
    raise AssertionError("one byte is not enough for anything")


@contextmanager
def _reading(reader: Reader | None, otherwise: str) -> Iterator[None]:
    """Have all positioned reads of stores go through ``reader``; where there is none, read in the way ``otherwise``."""
    if reader is None:
        with mock.patch.dict(os.environ, {READS: otherwise}):
            yield
        return
    pread = StoreFile._pread

    def read(self: StoreFile, fd: int, buffer: memoryview, position: int) -> int:
        return reader(lambda part, at: pread(self, fd, part, at), buffer, position, fd == self._direct)

    with mock.patch.object(StoreFile, "_pread", read), mock.patch.dict(os.environ, {READS: "threads"}):
        yield


@cache
def _leaf(compiled: bool) -> Leaf:
    if not compiled:
        return VectorisedLeaf()
    from dromos.engines.cpu.part import CpuLeaf

    return CpuLeaf(2)


@cache
def _graph(form: str) -> dr.Graph:
    graph = random_graph(5, directed=form == "directed")
    return simple(graph.edges().src, graph.edges().dst, graph.num_vertices) if form == "simple" else graph


@cache
def _whole(form: str, chunk_bytes: int, packed: bool) -> Path:
    """A store without a fault, to be copied."""
    file = Path(_folder().name) / f"{form}-{chunk_bytes}-{packed}.drm"
    directed = form == "directed"
    write(_graph(form), file, transpose=directed, chunk_bytes=chunk_bytes, compress=packed, pack_arcs=PAGE // 4)
    return file


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()  # removed with the process


@cache
def _right(which: int, form: str) -> Array:
    return _CALLS[which](_graph(form), "numpy")
