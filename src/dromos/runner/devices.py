"""Which engine a device name stands for. The only module that knows them all; each is imported on demand."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from dromos.engines import Engine, GraphLike
from dromos.engines.parts import Leaf
from dromos.errors import InvalidArgumentError
from dromos.parallel import THREADS_VARIABLE, num_threads

__all__ = [
    "CLUSTER", "DEVICES", "DEVICE_VARIABLE", "HYBRID", "MOST_OF_HOST", "engine_for", "unknown_device", "why_chosen",
]  # fmt: skip

DEVICE_VARIABLE: Final = "DROMOS_DEVICE"
_WORTH_STREAMING: Final = 1 << 24  # arcs; any machine has memory for fewer
MOST_OF_HOST: Final = 0.8
"""Of the host's free memory, what arcs may take that a GPU reads there: pinned memory cannot be swapped out."""
CLUSTER: Final = "mpi"
HYBRID: Final = "+"
_WORTH_COPYING: Final = 1 << 17  # arcs; with fewer, a CPU finishes before the copy ends


def _cpu(threads: int | None) -> Engine:
    from dromos.engines.cpu import CpuEngine

    return CpuEngine(threads=threads)


def _cuda(threads: int | None) -> Engine:
    from dromos.engines.cuda import CudaEngine

    return CudaEngine()


def _reference(threads: int | None) -> Engine:
    from dromos.engines.reference import ReferenceEngine

    return ReferenceEngine()


def _numpy(threads: int | None) -> Engine:
    from dromos.engines.vectorised.natives import KERNELS
    from dromos.places import PlacedEngine

    return PlacedEngine(_numpy_leaf(threads), name="numpy", kernels=KERNELS)


DEVICES: Final[Mapping[str, Callable[[int | None], Engine]]] = {
    "cpu": _cpu,
    "cuda": _cuda,
    "numpy": _numpy,
    "reference": _reference,
}


def _numpy_leaf(threads: int | None) -> Leaf:
    from dromos.engines.vectorised import VectorisedLeaf

    return VectorisedLeaf()


def _reference_leaf(threads: int | None) -> Leaf:
    from dromos.engines.reference_part import ReferenceLeaf

    return ReferenceLeaf()


def _cpu_leaf(threads: int | None) -> Leaf:
    from dromos.engines.cpu.part import CpuLeaf

    return CpuLeaf(threads)


def _cuda_leaf(threads: int | None, number: int = 0, memory: int | None = None) -> Leaf:
    from dromos.engines.cuda.part import CudaLeaf

    return CudaLeaf(number, memory)


_LEAVES: Final[Mapping[str, Callable[[int | None], Leaf]]] = {
    "cpu": _cpu_leaf,
    "cuda": _cuda_leaf,
    "numpy": _numpy_leaf,
    "reference": _reference_leaf,
}


def engine_for(
    device: str | Engine = "auto",
    threads: int | None = None,
    graph: GraphLike | None = None,
    *,
    slices: int | None = None,
    parts: int | None = None,
    memory: int | str | None = None,
    share: float | Literal["auto"] | None = None,
    split: str | None = None,
    deal: str | None = None,
    host_memory: int | str | None = None,
) -> Engine:
    """The engine for ``device``: a name, several joined by ``+``, ``"auto"``, or an engine.

    ``"auto"`` is the variable ``DROMOS_DEVICE`` where it is set. Otherwise it is a GPU if there is one, the graph and
    what a run needs fit in its memory, and the graph is large enough to repay the copy; else it is the CPU. Within
    ``with dr.cluster(…):``, ``"auto"`` and ``"mpi"`` are its ranks.

    - ``slices`` and ``parts`` cut the graph up, as if it did not lie in one memory.
    - A graph that stays on disk (:func:`dromos.open`), or was mapped and is larger than the free memory, is read in
      pages, within ``memory``.
    - On a GPU, ``memory`` limits what a run takes of the device; the remaining arcs lie in the host's memory. Those of
      a graph on disk that exceed ``host_memory`` (by default what is free) stay on disk.
    - Several devices, such as ``"cpu+cuda"``, each get a part of the graph: ``share`` is the first one's fraction of
      the edges, ``split`` selects which vertices it gets, and ``memory`` limits each GPU.
    - ``deal`` selects the arcs of each part or device: those of its own rows, pages in turn, or all that end at its
      vertices.

    >>> engine_for("reference").name, engine_for("numpy", slices=8, parts=3).name
    ('reference', 'numpy with slices=8, parts=3')
    """
    if not isinstance(device, str) and not hasattr(device, "prepare"):
        raise InvalidArgumentError(f"device={device!r} is not a device; give a name such as 'cpu', 'cuda' or 'auto'")
    if host_memory is not None:
        _check_host_memory(host_memory, device, graph)
    if deal is not None:
        _check_deal(deal, device, graph, parts, memory)
    if isinstance(device, str) and HYBRID in device:
        if deal is not None and deal != "rows":
            if any(given is not None for given in (share, split, parts)):
                raise InvalidArgumentError(
                    f"deal={deal!r} gives equally many arcs to each of device={device!r}; "
                    "leave share, split and parts out"
                )
            return _dealt(device, threads, slices, memory, deal)
        return _hybrid(device, threads, slices, parts, memory, share, split)
    if share is not None or split is not None:
        given = f"share={share!r}" if share is not None else f"split={split!r}"
        raise InvalidArgumentError(
            f"{given} is for several devices that share a graph; name them, as in device='cpu+cuda'"
        )
    local = sys.modules.get("dromos.places.cluster.local")  # if it was never imported, there are no local ranks
    ranks = local.active_engine() if local is not None and device in ("auto", CLUSTER) else None
    if ranks is not None or (isinstance(device, str) and device.partition(":")[0] == CLUSTER):
        if not (memory is slices is parts is None):
            raise InvalidArgumentError(
                f"device={device!r} splits a graph over the ranks by itself; leave slices, parts and memory out"
            )
        return _cluster(str(device), threads, graph) if ranks is None else ranks
    if memory is not None or getattr(graph, "on_disk", False):
        if device == "cuda" or (device == "auto" and os.environ.get(DEVICE_VARIABLE) == "cuda"):
            return _cuda_within(graph, threads, slices, parts, memory, host_memory)
        return _streamed(device, threads, slices, parts, memory)
    if slices is not None or parts is not None:
        return _placed(device, threads, graph, 1 if slices is None else slices, 1 if parts is None else parts, deal)
    if not isinstance(device, str):
        return device
    name = _named(device, threads, graph)
    if device == "auto" and name == "cpu" and graph is not None and _is_larger_than_memory(graph):
        return _streamed("auto", threads, None, None, None, otherwise=DEVICES["cpu"](threads))
    return DEVICES[name](threads)


def _streamed(
    device: str | Engine,
    threads: int | None,
    slices: int | None,
    parts: int | None,
    memory: int | str | None,
    otherwise: Engine | None = None,
) -> Engine:
    from dromos.places.stream import StreamEngine
    from dromos.sizes import as_bytes

    if slices is not None or parts is not None:
        raise InvalidArgumentError("slices and parts are for graphs in memory; leave them out for a graph on disk")
    budget = None if memory is None else as_bytes(memory)
    if not isinstance(device, str):
        if not (getattr(device, "streams", False) or getattr(device, "reads_stores", False)):
            raise InvalidArgumentError(
                f"the engine {device.name!r} needs a graph in memory; give the name of a device, or use dr.read(path)"
            )
        return device
    num_threads(threads)
    name = (os.environ.get(DEVICE_VARIABLE) or "auto") if device == "auto" else device
    if name == "auto":
        name = "cpu" if "cpu" in _LEAVES else "numpy"
    leaves = {known: leaf for known, leaf in _LEAVES.items() if known != "cuda"}
    leaf = leaves.get(name)
    if leaf is None:
        known = ", ".join(map(repr, leaves))
        raise InvalidArgumentError(f"device={name!r} needs a graph in memory; for one on disk choose from {known}")
    whole = DEVICES["cpu"](threads) if name == "cpu" and otherwise is None else None
    return StreamEngine(leaf(threads), budget, otherwise=otherwise, whole=whole)


def _cuda_within(
    graph: GraphLike | None,
    threads: int | None,
    slices: int | None,
    parts: int | None,
    memory: int | str | None,
    host_memory: int | str | None,
) -> Engine:
    """The GPU, with ``memory`` bytes of its memory for a run; arcs that do not fit stay on the host, or on disk."""
    from dromos.engines.cuda import CudaEngine
    from dromos.sizes import as_bytes

    if slices is not None or parts is not None:
        raise InvalidArgumentError("memory= cuts the graph to fit the budget by itself; leave slices and parts out")
    budget = None if memory is None else as_bytes(memory)
    engine = CudaEngine({"memory": budget})
    if graph is None or not getattr(graph, "on_disk", False):
        return engine
    most_on_host = None if host_memory is None else as_bytes(host_memory, "host_memory")
    if _outgrows_host(graph, budget, most_on_host):
        from dromos.places.stream import StreamEngine

        return StreamEngine(_cuda_leaf(threads, 0, budget), most_on_host, host=_cpu_leaf(threads), budget="host_memory")
    from dromos.places.stream.mapped import MappedEngine

    return MappedEngine(engine)


def _outgrows_host(graph: GraphLike, memory: int | None, host_memory: int | None) -> bool:
    """Whether the arcs that a GPU leaves to the host do not fit there either."""
    from dromos.engines.cuda.availability import arcs_beside
    from dromos.sizes import available_memory

    most = int(available_memory() * MOST_OF_HOST) if host_memory is None else host_memory
    return arcs_beside(graph, memory) > most


def _check_host_memory(host_memory: int | str, device: str | Engine, graph: GraphLike | None) -> None:
    on_gpu = device == "cuda" or (device == "auto" and os.environ.get(DEVICE_VARIABLE) == "cuda")
    if on_gpu and getattr(graph, "on_disk", False):
        return
    raise InvalidArgumentError(
        f"host_memory={getattr(host_memory, 'text', host_memory)!r} is for a graph on disk on a GPU: use device='cuda' "
        "and dr.open(path); on the CPU, memory= is the limit"
    )


def _is_larger_than_memory(graph: GraphLike) -> bool:
    """Whether a graph is mapped from a store that the free memory cannot hold."""
    origin = sys.modules.get("dromos.graph.store.origin")  # if it was never imported, no store is open
    rows = None if origin is None or graph.num_arcs < _WORTH_STREAMING else origin.rows_of(graph)
    if rows is None:
        return False
    from dromos import sizes

    return bool(rows.origin.size > sizes.available_memory())


def _hybrid(
    device: str,
    threads: int | None,
    slices: int | None,
    parts: int | None,
    memory: int | str | None,
    share: float | Literal["auto"] | None,
    split: str | None,
) -> Engine:
    """Several devices on one graph, such as ``cpu+cuda`` or ``cuda:0+cuda:1``."""
    from dromos.places.hybrid import HybridEngine

    if slices is not None or parts is not None:
        raise InvalidArgumentError(f"device={device!r} splits a graph by itself; leave slices and parts out")
    return HybridEngine(_leaves_of(device, threads, memory), share=share, split=split)


def _check_deal(
    deal: str, device: str | Engine, graph: GraphLike | None, parts: int | None, memory: int | str | None
) -> None:
    several = isinstance(device, str) and HYBRID in device
    if getattr(graph, "on_disk", False) or (memory is not None and not several):
        raise InvalidArgumentError(
            f"deal={deal!r} is for graphs in memory; leave deal out, or take dr.read(path) and leave memory out"
        )
    if parts is None and not several:
        raise InvalidArgumentError(
            f"deal={deal!r} is for a graph in parts; name several devices as in device='cuda:0+cuda:1' (in Python, "
            "parts=2 tries it on one)"
        )


def _dealt(device: str, threads: int | None, slices: int | None, memory: int | str | None, deal: str) -> Engine:
    """Several devices, each with arcs that need not be those of its own vertices."""
    from dromos.places import PlacedEngine

    if memory is not None and slices not in (None, 1):
        raise InvalidArgumentError(f"slices={slices} and memory={memory!r}: leave one of them out")
    leaves = _leaves_of(device, threads, memory)
    return PlacedEngine(leaves, slices=1 if slices is None else slices, deal=deal)


def _leaves_of(device: str, threads: int | None, memory: int | str | None) -> list[Leaf]:
    """One leaf for each of the devices joined by ``+``."""
    from dromos.sizes import as_bytes

    num_threads(threads)
    budget = None if memory is None else as_bytes(memory)
    if budget is not None and "cuda" not in device:
        raise InvalidArgumentError(
            f"memory={memory!r} limits the memory of a GPU, and device={device!r} names none; leave memory out"
        )
    return [_leaf_of(name.strip(), device, threads, budget) for name in device.split(HYBRID)]


def _leaf_of(name: str, device: str, threads: int | None, memory: int | None) -> Leaf:
    kind, colon, number = name.partition(":")
    if kind == "cuda" and (number.isdecimal() if colon else memory is not None):
        return _cuda_leaf(threads, int(number or 0), memory)
    if colon or kind not in _LEAVES:
        known = ", ".join(map(repr, _LEAVES))
        raise InvalidArgumentError(f"device={device!r}: {name!r} is not a device; combine some of {known}, or 'cuda:1'")
    return _LEAVES[kind](threads)


def _cluster(device: str, threads: int | None, graph: GraphLike | None) -> Engine:
    """The ranks of an MPI job: ``mpi``; ``mpi:numpy`` with the leaf engine of each rank; ``mpi:4x2``, ``mpi:2d`` or
    ``mpi:numpy:2d`` for ranks in rows and columns."""
    from dromos.places.cluster import ClusterEngine
    from dromos.places.cluster.world import threads_of_rank, world

    wanted, *more = device.split(":")[1:] or ["cpu"]
    if wanted[:1].isdecimal():
        wanted, more = "cpu", [wanted, *more]
    if wanted not in _LEAVES or len(more) > 1:
        known = ", ".join(f"'{CLUSTER}:{name}'" for name in _LEAVES)
        raise InvalidArgumentError(
            f"device={device!r}: a rank cannot run on {':'.join([wanted, *more[1:]])!r}; choose one of {known}"
        )
    comm = world()
    given = threads is not None or os.environ.get(THREADS_VARIABLE)
    count = num_threads(threads) if given else threads_of_rank(comm, num_threads())
    if comm.Get_size() == 1 and not more and graph is not None and not getattr(graph, "on_disk", False):
        return DEVICES[wanted](count)  # a single rank exchanges nothing
    leaf = _leaf_of_rank(comm) if wanted == "cuda" else _LEAVES[wanted](count)
    return ClusterEngine(leaf, comm, grid=more[0] if more else None)


def _leaf_of_rank(comm: Any) -> Leaf:
    """The leaf of this rank; the ranks of a machine share its GPUs round-robin."""
    from dromos.engines.cuda.availability import num_devices
    from dromos.places.cluster.world import seat_on_machine

    return _cuda_leaf(None, seat_on_machine(comm)[0] % num_devices())


def _placed(
    device: str | Engine, threads: int | None, graph: GraphLike | None, slices: int, parts: int, deal: str | None
) -> Engine:
    from dromos.places import PlacedEngine

    if not isinstance(device, str):
        raise InvalidArgumentError(
            f"slices={slices}, parts={parts}: device= is an engine, {device.name!r}, which decides that itself; "
            "give the name of a device instead"
        )
    name = _named(device, threads, graph)
    if name not in _LEAVES:
        known = ", ".join(map(repr, _LEAVES))
        raise InvalidArgumentError(
            f"slices={slices}, parts={parts}: device={name!r} runs whole graphs only; choose one of {known}"
        )
    return PlacedEngine(_LEAVES[name](threads), slices=slices, parts=parts, deal=deal or "rows")


def _named(device: str, threads: int | None, graph: GraphLike | None) -> str:
    """The name of a known device, with ``"auto"`` resolved."""
    if threads is not None or os.environ.get(THREADS_VARIABLE):
        num_threads(threads)  # refuses zero or a million threads on every device alike
    name = (os.environ.get(DEVICE_VARIABLE) or "auto") if device == "auto" else device
    if name == "auto":
        name = _best(graph)[0]
    if name not in DEVICES:
        raise unknown_device(name, ("auto", *DEVICES, CLUSTER))
    return name


def unknown_device(name: str, known: Iterable[str]) -> InvalidArgumentError:
    """The error for a name that is none of the ``known`` devices.

    >>> unknown_device("gpu", ["cpu", "cuda"])
    InvalidArgumentError("device='gpu' is not a device; an NVIDIA GPU is 'cuda'; choose one of 'cpu', 'cuda'")
    """
    hint = "an NVIDIA GPU is 'cuda'; " if name.lower() in ("gpu", "nvidia", "cuda:0") else ""
    choices = ", ".join(map(repr, known))
    return InvalidArgumentError(f"device={name!r} is not a device; {hint}choose one of {choices}")


def _best(graph: GraphLike | None) -> tuple[str, str]:
    """The name of the device that ``"auto"`` selects, and why."""
    if graph is not None and graph.num_arcs < _WORTH_COPYING:
        return "cpu", f"a CPU is done with {graph.num_arcs:,} arcs before a copy to a GPU ends"
    from dromos.engines.cuda.availability import fits, why_unavailable

    reason = why_unavailable()
    if reason:
        return "cpu", reason
    if graph is None or fits(graph):
        return "cuda", "there is a GPU, and room for a run"
    return "cpu", "the vertices do not fit the GPU, or the arcs do not fit the host"


def why_chosen(device: str, graph: GraphLike, memory: int | None = None) -> str:
    """Why :func:`engine_for` selects its engine.

    >>> import dromos as dr
    >>> why_chosen("auto", dr.generators.path(3)), why_chosen("cpu", dr.generators.path(3), memory=1 << 20)
    ('a CPU is done with 4 arcs before a copy to a GPU ends', 'memory is given: arcs are read from the file within it')
    """
    asked = f'device="{device}" is asked for' if device != "auto" else ""
    variable = os.environ.get(DEVICE_VARIABLE)
    if variable and not asked:
        device, asked = variable, f"{DEVICE_VARIABLE}={variable}"
    if memory is not None and "cuda" not in device:
        return "memory is given: arcs are read from the file within it"
    if asked:
        return asked
    name, reason = _best(graph)
    if name == "cpu" and _is_larger_than_memory(graph):
        return "the file is larger than the free memory"
    return reason
