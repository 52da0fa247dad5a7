"""Which engine a device name stands for. The only place that knows them all; each is imported when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from dromos.engines import Engine, GraphLike
from dromos.errors import InvalidArgumentError
from dromos.parallel import num_threads

__all__ = ["DEVICES", "DEVICE_VARIABLE", "engine_for"]

DEVICE_VARIABLE: Final = "DROMOS_DEVICE"
_WORTH_COPYING: Final = 1 << 17  # arcs: below, a CPU is done before the graph is on the device


def _cpu(threads: int | None) -> Engine:
    from dromos.engines.cpu import CpuEngine

    return CpuEngine(threads=threads)


def _cuda(threads: int | None) -> Engine:
    from dromos.engines.cuda import CudaEngine

    return CudaEngine()


def _reference(threads: int | None) -> Engine:
    from dromos.engines.reference import ReferenceEngine

    return ReferenceEngine()


DEVICES: Final[Mapping[str, Callable[[int | None], Engine]]] = {"cpu": _cpu, "cuda": _cuda, "reference": _reference}


def engine_for(device: str | Engine = "auto", threads: int | None = None, graph: GraphLike | None = None) -> Engine:
    """The engine for ``device``: a name, ``"auto"``, or an engine.

    ``"auto"`` is the variable ``DROMOS_DEVICE`` where it is set. Else it is a GPU where there is one, the graph fits
    its memory with what a run needs, and is large enough to be worth the way; otherwise the CPU.

    >>> engine_for("reference").name
    'reference'
    """
    if not isinstance(device, str):
        return device
    num_threads(threads)  # zero or a million threads are refused on every device alike
    name = (os.environ.get(DEVICE_VARIABLE) or "auto") if device == "auto" else device
    if name == "auto":
        name = _best(graph)
    if name not in DEVICES:
        known = ", ".join(map(repr, ("auto", *DEVICES)))
        raise InvalidArgumentError(f"device={name!r} is not a device; choose one of {known}")
    return DEVICES[name](threads)


def _best(graph: GraphLike | None) -> str:
    if graph is not None and graph.num_arcs < _WORTH_COPYING:
        return "cpu"
    from dromos.engines.cuda.availability import fits, is_available

    return "cuda" if is_available() and (graph is None or fits(graph)) else "cpu"
