"""Which engine a device name stands for. The only place that knows them all; each is imported when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from dromos.engines import Engine
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.parallel import num_threads

__all__ = ["DEVICES", "DEVICE_VARIABLE", "engine_for"]

DEVICE_VARIABLE: Final = "DROMOS_DEVICE"


def _cpu(threads: int | None) -> Engine:
    from dromos.engines.cpu import CpuEngine

    return CpuEngine(threads=threads)


def _cuda(threads: int | None) -> Engine:
    raise ResourceError("device='cuda': this version of Dromos has no CUDA engine; use device='cpu'")


def _reference(threads: int | None) -> Engine:
    from dromos.engines.reference import ReferenceEngine

    return ReferenceEngine()


DEVICES: Final[Mapping[str, Callable[[int | None], Engine]]] = {"cpu": _cpu, "cuda": _cuda, "reference": _reference}


def engine_for(device: str | Engine = "auto", threads: int | None = None) -> Engine:
    """The engine for ``device``: a name, ``"auto"`` (the variable ``DROMOS_DEVICE``, else the CPU), or an engine.

    >>> engine_for("reference").name
    'reference'
    """
    if not isinstance(device, str):
        return device
    num_threads(threads)  # zero or a million threads are refused on every device alike
    name = (os.environ.get(DEVICE_VARIABLE) or "cpu") if device == "auto" else device
    if name not in DEVICES:
        known = ", ".join(map(repr, ("auto", *DEVICES)))
        raise InvalidArgumentError(f"device={name!r} is not a device; choose one of {known}")
    return DEVICES[name](threads)
