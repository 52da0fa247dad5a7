"""Run on every rank: programs and algorithms on ranks that share a GPU, against the reference engine.

``mpirun -n 2 python -m mpi4py -m tests.cuda.ranks``: each program on one graph. ``… all``, on any number of ranks: on
several graphs, on every path and in more grids. ``… transports``: what goes from device to device. ``python -m
tests.cuda.ranks compile`` compiles the kernels beforehand, in several processes: a rank does one after the other, and
each takes seconds.

Where a dozen other processes work on the device, ranks wait for it 50 ms in a superstep: so the short form has few.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import dromos as dr
from dromos.engines import GraphLike, graph_types
from dromos.engines.reference import ReferenceEngine
from dromos.program import Program, analyse
from tests.cluster.comparing import same
from tests.cluster.random_graphs import check_random_graphs
from tests.cluster.worker import graphs
from tests.program.programs import examples
from tests.program.running import run

_Call = Callable[..., dr.Result]
_SECONDS = 60  # of one rank in one run, until it tells where it is
_PATHS = ("sync-push-dd", "sync-pull-td")
_GRIDS = {2: ("1x2", "2x1"), 3: ("3x1",), 4: ("2x2",)}
_IN_GRIDS = ("BFS", "SSSP", "PageRank", "Components", "DeltaPageRank", "ReachSets", "KCore")


def _graphs() -> list[dr.Graph]:
    """An undirected graph and two directed ones, all with weights: so each program is compiled once."""
    return graphs()[:1:-1]


def _programs(graph: dr.Graph) -> list[Program]:
    return examples(graph.num_vertices)


def _algorithms() -> dict[str, _Call]:
    """Every algorithm that runs as programs or operators over ranks."""
    graph, directed, _ = _graphs()
    values = np.arange(graph.num_vertices, dtype=float)
    known = np.zeros((graph.num_vertices, 2))
    known[0] = 0.5, -0.5
    return {
        "bfs": partial(dr.bfs, directed, 1),
        "sssp": partial(dr.sssp, graph, 1),
        "pagerank": partial(dr.pagerank, directed),
        "pagerank, unweighted": partial(dr.pagerank, directed, weight=None),
        "components": partial(dr.connected_components, graph),
        "strong components": partial(dr.strongly_connected_components, directed),
        "k_core": partial(dr.k_core, graph, 2),
        "core_numbers": partial(dr.core_numbers, graph),
        "triangles": partial(dr.triangles, graph),
        "clustering": partial(dr.clustering, graph),
        "label_propagation": partial(dr.label_propagation, directed),
        "multi_source_bfs": partial(dr.multi_source_bfs, graph, [0, 3, 5]),
        "closeness": partial(dr.closeness, graph),
        "betweenness": partial(dr.betweenness, dr.generators.star(9)),
        "belief_propagation": partial(dr.belief_propagation, graph, known, [[0.01, -0.01], [-0.01, 0.01]]),
        "spmv": partial(dr.spmv, graph, values),
    }


# ---- on ranks ------------------------------------------------------------------------------------------------------


def _checked(device: str, graph: dr.Graph, programs: list[Program], paths: Sequence[str] | None) -> int:
    """Programs against the reference engine, as planned and on ``paths``, or on all that there are."""
    from dromos.runner.devices import engine_for

    count, engine = 0, engine_for(device)
    for program in programs:
        _tell(f"{type(program).__name__} on {device}")
        facts = analyse(program.typed(graph_types(graph)))
        expected, _ = run(program, graph, "sync-push-dd")
        legal = map(str, engine.prepare(program, graph).caps.paths) if paths is None or paths else ()
        for path in (None, *(path for path in legal if paths is None or path in paths)):
            found, _ = run(program, graph, path, engine=engine)
            for name, values in expected.items():
                if facts.deterministic or name == "level":
                    same(found[name], values, program, path, graph, device, name)
            count += 1
    return count


def _in_grids(device: str, size: int) -> int:
    count = 0
    for grid in _GRIDS.get(size, ()):
        for graph in _graphs()[:2]:
            chosen = [program for program in _programs(graph) if type(program).__name__ in _IN_GRIDS]
            count += _checked(f"{device}:{grid}", graph, chosen, _PATHS)
    return count


def _answers(device: str) -> int:
    calls = _algorithms()
    for name, call in calls.items():
        _tell(name)
        found = call(device=device)
        found.verify()
        field = next(iter(found))
        same(found[field], call(device="reference")[field], name, field)
        if name in ("bfs", "pagerank"):
            assert all(row.parts.startswith("compute ") and ", exchange " in row.parts for row in found.trace)
    return len(calls)


def _tell(what: str) -> None:
    """Note what this rank is at: where it hangs, that is the last line, and its stack follows."""
    from dromos.places.cluster import world

    print(f"{time.strftime('%X')} rank {world().Get_rank()}: {what}", file=sys.stderr, flush=True)
    faulthandler.dump_traceback_later(_SECONDS)


def main(device: str) -> None:
    """Every program as planned on a graph with few supersteps, some on a pull and in a grid, and every algorithm."""
    graph = _graphs()[-1]
    some = [program for program in _programs(graph) if type(program).__name__ in ("BFS", "SSSP", "PageRank")]
    count = _checked(device, graph, _programs(graph), [])
    count += _checked(device, graph, some, ["sync-pull-td"]) + _checked(f"{device}:2x1", graph, some, ["sync-pull-td"])
    _done(count + _answers(device))


def everything(device: str) -> None:
    """As :func:`main`, on more graphs, paths, grids and any number of ranks."""
    from dromos.places.cluster import world

    size = world().Get_size()
    first, *others = _graphs()
    count = _checked(device, first, _programs(first), None if size == 2 else _PATHS)
    for graph in others:
        count += _checked(device, graph, _programs(graph)[:8], _PATHS)
    count += _in_grids(device, size) + _answers(device)
    _tell("random graphs")
    _done(count + check_random_graphs(device, 5))


def _done(count: int) -> None:
    from dromos.places.cluster import world

    faulthandler.cancel_dump_traceback_later()
    if world().Get_rank() == 0:
        print(f"{count} runs agree")


def transports() -> None:
    """From device to device: by MPI, in memory that any MPI library can read; by NCCL with oneself.

    NCCL refuses ranks that share a device.
    """
    import cupy
    from mpi4py import MPI

    from dromos.places.cluster import world
    from dromos.places.cluster.transport import CudaAwareMpi, Nccl, device_transport

    cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)
    assert isinstance(device_transport(world(), 0), CudaAwareMpi)
    graph, count = _graphs()[0], 0
    chosen = [program for program in _programs(graph) if type(program).__name__ in ("BFS", "PageRank")]
    for device in ("mpi:cuda", "mpi:cuda:2x1"):
        count += _checked(device, graph, chosen, None)
    values = cupy.arange(10.0)
    Nccl(MPI.COMM_SELF, 0).share(values, [80], [0])
    assert values.tolist() == list(range(10))
    _done(count)


# ---- before --------------------------------------------------------------------------------------------------------


class _Recorder(ReferenceEngine):
    """Runs programs plainly, has no kernels of its own, and keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, object], tuple[Program, GraphLike]] = {}

    def prepare(self, program: Program, graph: GraphLike) -> Any:
        types = graph_types(graph)
        self.seen[program.typed(types).ir.hash, types] = program, graph
        return super().prepare(program, graph)

    def native(self, name: str) -> Any:
        return super().native(name) if name in ("triangles", "cdlp") else None


def _every_program() -> Iterator[tuple[Program, GraphLike]]:
    """Each program with a graph, once for each set of types."""
    recorder = _Recorder()
    for graph in _graphs():
        for program in _programs(graph):
            recorder.prepare(program, graph)
    for call in _algorithms().values():
        call(device=recorder)
    yield from recorder.seen.values()


def _compile(program: Program, graph: GraphLike) -> None:
    """As parts of small graphs do; nothing is brought to the device."""
    from dromos.engines.cuda import compiler
    from dromos.engines.cuda.modules import module_of, slices_kernel
    from dromos.engines.cuda.options import CudaOptions
    from dromos.engines.cuda.part_kernels import BLOCK

    typed = program.typed(graph_types(graph))
    analysis = analyse(typed)
    with patch.object(compiler, "Module"):
        kernel = slices_kernel(typed, analysis)
        module_of(typed, analysis, kernel, ("VID=int", "EID=unsigned"), CudaOptions(), BLOCK)


def compile_all(processes: int) -> int:
    """Compile the kernels of all programs into the cache, in processes that begin before CUDA does."""
    waiting = list(_every_program())
    context = multiprocessing.get_context("fork")
    children = [
        context.Process(target=lambda mine: [_compile(*one) for one in mine], args=(waiting[number::processes],))
        for number in range(processes)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    return max(abs(child.exitcode or 0) for child in children)


if __name__ == "__main__":
    if sys.argv[1:] == ["compile"]:
        sys.exit(compile_all(min(os.cpu_count() or 1, 8)))
    elif sys.argv[1:] == ["transports"]:
        transports()
    elif sys.argv[1:] == ["all"]:
        everything("mpi:cuda")
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "mpi:cuda")
