"""Predicts the cost of an algorithm on each place of this machine: by a model of rates, without running it.

One pass over all arcs takes ``arcs / arc_rate + vertices / vertex_rate``. Where arcs come from a disk or over the link
to a GPU, reading overlaps computing, so the slower of the two counts. Rates are measured once per machine and kept
beside the compiled code. The number of passes of an algorithm depends on the graph; the numbers here were counted on
R-MAT and uniform graphs, so a lattice or a path takes more.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

import numpy as np

from dromos import disk_cache, sizes
from dromos.engines import Engine
from dromos.engines.cpu.arc_blocks import LEAST_PULLS
from dromos.engines.parts import Leaf
from dromos.errors import DeviceError, InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.parting import order_of
from dromos.graph.store.layout import Section
from dromos.graph.store.origin import origin_of
from dromos.graph.store.paged.memory import SparseMemory
from dromos.graph.store.paged.pager import REQUEST_BYTES
from dromos.graph.store.paged.pool import READERS, ReadPool
from dromos.graph.store.paged.stripes import open_source
from dromos.graph.summary import enough_bytes, human_bytes
from dromos.parallel import num_threads
from dromos.places.hybrid.model import best_choice, predicted_run
from dromos.places.hybrid.part_sizes import part_sizes
from dromos.places.hybrid.rate_runs import SumsOfNeighbours
from dromos.places.hybrid.rates import Rates, measured, rates_from
from dromos.places.stream.sorted_rows import LEAST_SHARE, window_bytes
from dromos.places.stream.whole import BLOCK_BYTES, FIXED
from dromos.plan import Path
from dromos.plan.cost import MESSAGE_BYTES, Cost
from dromos.plan.ways import WAYS, choose_way
from dromos.runner.devices import CLUSTER, DEVICES, MOST_OF_HOST, engine_for, unknown_device

__all__ = ["Prediction", "chosen", "predictions", "require_model"]

_MODELLED: Final = ("auto", "cpu", "cuda", "cpu+cuda")
# The names of other places begin with the engine's.
_ENGINES: Final = {"cpu, in memory": "cpu", "cpu, from disk": "cpu, streamed", "cuda, from disk": "cuda, streamed"}
_ON_GPU: Final = 80  # bytes per vertex: fields, copies, queues, bitmaps and offsets of a typical run
_WITH_REAL_WEIGHTS: Final = 8.5  # more bytes per vertex of a run over pages: sums of weights are float64 then
_LEAST_BUFFERS: Final = 2 << 20  # what a run from disk holds beside its state, however small the graph
_READ_BYTES: Final = 64 << 20
# The scale of the graphs that rates are measured on: tables exceed a core's own cache, and a GPU is busy for longer
# than it takes to start.
_SCALE: Final = 20
_SUPERSTEPS: Final = 6
_SORTING_PASSES: Final = 3.0  # the cost of sorting the arcs that stay, in passes over their pages
# For arcs that are sorted in a file: the cost of sorting and writing beyond the pass itself; the time of a pass
# relative to one in memory (blocks are smaller); and the bytes relative to those of pages. Measured on kron22 within
# 256 MiB on two cores.
_SPILLING_PASSES: Final = 1.3
_SPILLED_PASS: Final = 1.4
_SPILLED_BYTES: Final = 0.8
_NO_STORE: Final = "the graph is not in a .drm file; make one with `dromos convert --memory 2G IN OUT.drm`"

_DIRECTED: Final = (
    "the graph is directed; make an undirected store with "
    "`dromos convert --symmetrize --dedupe --drop-self-loops IN OUT.drm`"
)


@dataclass(frozen=True)
class Prediction:
    """The predicted cost on one place."""

    place: str
    how: str
    """The arguments that select the place."""
    memory: int
    """Bytes of memory used there."""
    moved: int
    """Bytes that come from the disk or over the link each time the arcs are read."""
    seconds: float | None
    """None if it does not run there, for the reason in ``note``."""
    note: str = ""
    whole: bool = False
    """Whether the graph is read whole from disk, and computed on in memory."""

    @property
    def engine(self) -> str:
        """The name of the engine of this place.

        >>> Prediction("cuda, 25% of the arcs on the device", 'device="cuda"', 0, 0, None).engine
        'cuda'
        """
        return _ENGINES.get(self.place, self.place.partition(",")[0])


def predictions(
    graph: Graph, cost: Cost, memory: int | None = None, device: str = "auto", host_memory: int | None = None
) -> list[Prediction]:
    """Every place of ``device``, the fastest first; with ``"auto"`` every place of the machine.

    ``memory`` is what a run may take, on the device or, for a stream, on the host; ``host_memory`` what a run on a GPU
    may take on the host.
    """
    places: Mapping[str, Callable[[], Iterable[Prediction]]] = {
        "cpu": lambda: _on_host(graph, cost, memory),
        "cuda": lambda: _on_gpu(graph, cost, memory, host_memory),
        "cpu+cuda": lambda: [_on_both(graph, cost, memory)],
    }
    rows = [row for name, found in places.items() if device in ("auto", name) for row in found()]
    return sorted(rows, key=lambda row: (row.seconds is None, row.seconds or 0.0))


def chosen(graph: Graph, memory: int | None = None, device: str = "auto", host_memory: int | None = None) -> str:
    """The name of the engine that a run with these arguments uses."""
    return engine_for(device, None, graph, memory=memory, host_memory=host_memory).name


def require_model(device: str) -> None:
    """Refuse a device that is unknown, not present, or not covered by the model.

    >>> require_model("cpu")
    """
    if "+" not in device and device.partition(":")[0] not in ("auto", *DEVICES, CLUSTER):
        raise unknown_device(device, _MODELLED)
    if device.partition(":")[0] != CLUSTER:  # ranks need not be started to be refused
        engine_for(device)
    if device not in _MODELLED:
        known = ", ".join(map(repr, _MODELLED))
        raise InvalidArgumentError(f"device={device!r}: there is no model of its runs; choose one of {known}")


def _on_host(graph: Graph, cost: Cost, memory: int | None) -> Iterator[Prediction]:
    rates = _measured("cpu")
    compute = graph.num_arcs / rates.arcs + graph.num_vertices / rates.vertices
    arcs, state = _arc_bytes(graph, cost), _state_bytes(graph, cost)
    free = sizes.available_memory()
    fits = arcs + state <= free
    note = "" if fits else f"larger than the {human_bytes(free)} that are free"
    yield Prediction("cpu, in memory", 'device="cpu"', arcs + state, 0, cost.passes * compute if fits else None, note)
    origin = origin_of(graph)
    budget = free // 2 if memory is None else memory
    how = "dr.open(path)" if memory is None else f'dr.open(path), memory="{_written(memory)}"'
    if origin is None:
        yield Prediction("cpu, from disk", how, state, arcs, None, _NO_STORE)
    elif cost.undirected_on_disk and graph.directed:
        yield Prediction("cpu, from disk", how, state, arcs, None, _DIRECTED)
    elif budget < (least := state + _LEAST_BUFFERS + _unpacking_bytes(graph)):
        note = f"{human_bytes(budget)} is too little: a run needs about {enough_bytes(least)}"
        yield Prediction("cpu, from disk", how, least, arcs, None, note)
    else:
        on_disk = _arc_bytes_on_disk(graph, cost)
        rate = _disk_rate(graph)
        once = on_disk / rate  # arcs that are kept have to be read the first time
        whole = arcs + FIXED + cost.beside * graph.num_vertices
        whole += BLOCK_BYTES * graph.num_arcs if cost.gathers else 0
        if whole <= budget:
            note = f"{how}: read whole, once, and computed in memory"
            seconds = cost.passes * compute + once
            yield Prediction("cpu, from disk", how, arcs + state, 0, seconds, note, whole=True)
            return
        moved = max(0, arcs - max(0, budget - state)) * on_disk // max(arcs, 1)
        over = _measured_over_slices()
        spills = moved > 0 and origin.stripes is None and window_bytes(
            budget - state, graph.num_vertices, graph.num_arcs, MESSAGE_BYTES, num_threads(None)
        )  # fmt: skip
        seconds = _streamed(
            cost, moved / max(on_disk, 1), over.seconds(graph.num_arcs, graph.num_vertices), compute, moved / rate,
            spills=bool(spills),
        )  # fmt: skip
        yield Prediction("cpu, from disk", how, min(budget, arcs + state), moved, seconds + once)


def _streamed(cost: Cost, read: float, pages: float, whole: float, disk: float, *, spills: bool = False) -> float:
    """The seconds of all passes over a graph on disk.

    A fraction ``read`` of the arcs is read in each pass, which takes ``disk`` seconds. With all arcs in memory, a pass
    takes ``pages`` seconds along pages, and ``whole`` seconds where arcs are sorted as in a graph in memory. Programs
    that gather along all arcs sort those that stay in memory, if there are enough of them. ``spills``: all arcs are
    sorted, in a file.

    >>> _streamed(Cost(10), 0.0, 2.0, 1.0, 0.0), _streamed(Cost(10), 1.0, 2.0, 1.0, 3.0)
    (20.0, 30.0)
    >>> _streamed(Cost(10, gathers=True), 0.0, 2.0, 1.0, 0.0), _streamed(Cost(3, gathers=True), 0.0, 2.0, 1.0, 0.0)
    (17.0, 6.0)
    >>> round(_streamed(Cost(10, gathers=True), 1.0, 2.0, 1.0, 0.5, spills=True), 3)
    16.6
    """
    unsorted = cost.passes
    if cost.passes >= LEAST_PULLS and cost.gathers and (spills or 1 - read >= LEAST_SHARE) and whole < pages:
        unsorted = 0 if spills else 1
    later = cost.passes - unsorted
    if later and spills:
        sorting = _SPILLING_PASSES * max(pages, disk)
        return unsorted * max(pages, disk) + sorting + later * max(_SPILLED_PASS * whole, _SPILLED_BYTES * disk)
    sorting = _SORTING_PASSES * (1 - read) * pages if later else 0.0
    mixed = (1 - read) * whole + read * pages
    return unsorted * max(pages, disk) + later * max(mixed, disk) + sorting


def _on_gpu(graph: Graph, cost: Cost, memory: int | None, host_memory: int | None) -> Iterator[Prediction]:
    from dromos.engines.cuda.availability import why_unavailable

    arcs, state = _arc_bytes(graph, cost), _ON_GPU * graph.num_vertices
    reason = why_unavailable()
    given = {"memory": memory, "host_memory": host_memory}
    budgets = [f'{name}="{_written(size)}"' for name, size in given.items() if size is not None]
    how = ", ".join([*([] if host_memory is None else ["dr.open(path)"]), 'device="cuda"', *budgets])
    if reason:
        yield Prediction("cuda", how, arcs + state, 0, None, reason)
        return
    from dromos.engines.cuda.link_rates import link_rates
    from dromos.engines.cuda.residency import free_bytes

    rates, link = _measured("cuda"), link_rates()
    compute = graph.num_arcs / rates.arcs + graph.num_vertices / rates.vertices
    room = (free_bytes() if memory is None else memory) - state
    if room < 0:
        yield Prediction("cuda", how, state, arcs, None, "the fields of the vertices do not fit the device")
        return
    moved = max(0, arcs - room)
    if moved > (sizes.available_memory() * MOST_OF_HOST if host_memory is None else host_memory):
        how = ", ".join(["dr.open(path)", 'device="cuda"', *budgets])
        kept = sizes.available_memory() // 2 if host_memory is None else host_memory
        yield _on_gpu_from_disk(graph, cost, compute, how, arcs - moved + state, moved, kept)
        return
    place, note, moving = "cuda", "", 0.0
    if moved:
        way, moving = choose_way({"in place": moved, "pages": moved}, link, {})
        told = "read in place" if way == "in place" else "copied in pages"
        place += f", {1 - moved / arcs:.0%} of the arcs on the device, the others {told}"
        note = ", ".join(f"{way} {link.of(way) / 1e9:.3g}" for way in WAYS) + " GB/s; chosen in each superstep"
    yield Prediction(place, how, arcs - moved + state, moved, cost.passes * max(compute, moving), note)


def _on_gpu_from_disk(
    graph: Graph, cost: Cost, compute: float, how: str, held: int, moved: int, kept: int
) -> Prediction:
    """A GPU where ``moved`` bytes of arcs fit neither there nor on the host, which keeps ``kept`` bytes of them."""
    if origin_of(graph) is None:
        return Prediction("cuda, from disk", how, held, moved, None, _NO_STORE)
    arcs, on_disk = _arc_bytes(graph, cost), _arc_bytes_on_disk(graph, cost)
    moved = max(0, moved - kept) * on_disk // max(arcs, 1)
    rate = _disk_rate(graph)
    return Prediction("cuda, from disk", how, held, moved, on_disk / rate + cost.passes * max(compute, moved / rate))


def _on_both(graph: Graph, cost: Cost, memory: int | None) -> Prediction:
    """The CPU and the first GPU on one graph, with the share and the split that the model chooses."""
    from dromos.engines.cuda.availability import why_unavailable

    place, how, arcs, work = "cpu+cuda", 'device="cpu+cuda"', _arc_bytes(graph, cost), cost.split
    state = _ON_GPU * graph.num_vertices
    reason = why_unavailable()
    if not reason and work is None:
        reason = "no program that can be split over processors"
    if reason or work is None or not graph.num_arcs:
        return Prediction(place, how, arcs + state, 0, None, reason or "there are no arcs to split")
    leaves = _leaves()
    room = None if memory is None else memory - state
    try:
        choice = best_choice(graph, leaves, memory=room)
    except DeviceError as error:
        return Prediction(place, how, arcs + state, 0, None, str(error))
    degree = graph.out_degree[order_of(graph.out_degree, choice.split)]
    first = int(np.searchsorted(np.cumsum(degree), choice.share * graph.num_arcs))
    parts = part_sizes(degree, (0, first, graph.num_vertices))
    seconds = predicted_run(work, parts, [measured(leaf) for leaf in leaves])
    how += f', share={choice.share:.2g}, split="{choice.split}"'
    return Prediction(place, how, arcs + state, MESSAGE_BYTES * graph.num_vertices, seconds)


def _leaves() -> list[Leaf]:
    from dromos.engines.cpu.part import CpuLeaf
    from dromos.engines.cuda.part import CudaLeaf

    return [CpuLeaf(), CudaLeaf()]


def _state_bytes(graph: Graph, cost: Cost) -> int:
    """The bytes of a run over pages that grow with the vertices."""
    real = cost.weighted and graph.weights is not None and graph.weights.dtype.kind == "f"
    return int((cost.over_pages + (_WITH_REAL_WEIGHTS if real else 0)) * graph.num_vertices)


def _arc_bytes(graph: Graph, cost: Cost) -> int:
    """The bytes of the arcs that are read, in both directions where they differ."""
    size = graph.targets.itemsize
    if cost.weighted and graph.weights is not None:
        size += graph.weights.itemsize
    return int(size * graph.num_arcs * (1 if graph.known_flags.symmetric else 2))


def _arc_bytes_on_disk(graph: Graph, cost: Cost) -> int:
    """The bytes of the same arcs in the graph's file, where targets may be packed."""
    targets = _targets_on_disk(graph)
    saved = targets.dtype.itemsize * graph.num_arcs - targets.nbytes
    return _arc_bytes(graph, cost) - saved * (1 if graph.known_flags.symmetric else 2)


def _unpacking_bytes(graph: Graph) -> int:
    """The buffers from which the threads that read packed targets unpack them."""
    targets = _targets_on_disk(graph)
    plain = targets.dtype.itemsize * graph.num_arcs
    return READERS * REQUEST_BYTES * targets.nbytes // max(plain, 1) if targets.packed else 0


def _targets_on_disk(graph: Graph) -> Section:
    origin = origin_of(graph)
    assert origin is not None
    targets = origin.header.section("targets")
    assert targets is not None
    return targets


# ---- rates ---------------------------------------------------------------------------------------------------------


def _measured(device: str) -> Rates:
    where = f"{platform.node()}-{platform.machine()}-{os.cpu_count()}"
    name = f"rates/whole-graph-{device}-{where}.json"
    kept = disk_cache.read(name)
    if kept is not None:
        return Rates(**json.loads(kept))
    engine = DEVICES[device](None)
    rates = rates_from(lambda graph: _seconds(engine, graph), _link_rate(device), _SCALE)
    disk_cache.save(name, json.dumps(asdict(rates)).encode())
    return rates


def _measured_over_slices() -> Rates:
    from dromos.engines.cpu.part import CpuLeaf

    return measured(CpuLeaf())


def _seconds(engine: Engine, graph: Graph) -> float:
    """A superstep in which all vertices are active, on the engine's own kernels."""
    execution, path = engine.prepare(SumsOfNeighbours(), graph), Path.parse("sync-pull-td")
    execution.step(path)  # compiles, and copies the graph to the device
    times = []
    for _ in range(_SUPERSTEPS):
        begin = time.perf_counter()
        execution.step(path)
        times.append(time.perf_counter() - begin)
    return min(times)


def _link_rate(device: str) -> float:
    """Bytes per second that a kernel reads from the host's memory."""
    if device != "cuda":
        return float("inf")
    from dromos.engines.cuda.link_rates import link_rates

    return link_rates().in_place


def _disk_rate(graph: Graph) -> float:
    """Bytes per second that the threads of a stream read from the graph's file, bypassing the system's cache."""
    origin = origin_of(graph)
    assert origin is not None
    size = min(_READ_BYTES, origin.header.file_bytes // (1 << 20) << 20) or 4096
    source, memory, pool = open_source(origin), SparseMemory(size), ReadPool()
    pieces = [(at, min(at + (1 << 20), size)) for at in range(0, size, 1 << 20)]
    try:
        begin = time.perf_counter()
        pool.submit([partial(source.read_into, memory.view(*piece), piece[0]) for piece in pieces]).wait()
        return size / (time.perf_counter() - begin)
    finally:
        pool.close()
        source.close()


def _written(memory: int) -> str:
    """A budget in the form that a user writes."""
    return memory.text if isinstance(memory, sizes.TypedSize) else str(memory)
