"""Compile CUDA sources to machine code with NVRTC through CuPy, cached on disk.

The name of a cached binary is a hash of all that determines it: the text, the headers it may include, the options, the
architecture and the compiler's version. Compilation needs no device, so that a machine without one can check that every
kernel compiles; only loading does.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from dromos import disk_cache
from dromos.errors import DeviceError

__all__ = ["FOLDER", "Module", "as_bytes", "compile_cubin", "headers", "load"]

FOLDER: Final = Path(__file__).with_name("kernels")
# Contracted multiply-adds would round differently from the CPU; every kernel here waits for memory, not for them.
_OPTIONS: Final = (
    "--std=c++17",
    "--fmad=false",
    "--extra-device-vectorization",
    "-default-device",
    "-diag-suppress=177",
)
_modules: dict[tuple[str, int], Module] = {}
_lock = threading.Lock()


@cache
def headers() -> Mapping[str, str]:
    """The kernel sources that come with Dromos, by name."""
    return {path.name: path.read_text() for path in sorted(FOLDER.glob("*.cuh"))}


def compile_cubin(text: str, name: str, *, arch: str, defines: Sequence[str] = ()) -> bytes:
    """Machine code of ``text`` for an architecture such as ``"sm_90"``; no device is needed.

    Raises :class:`~dromos.errors.DeviceError` with the compiler's message.
    """
    from cupy_backends.cuda.libs import nvrtc

    included = headers()
    options = (*_OPTIONS, f"-arch={arch}", *(f"-D{define}" for define in defines))
    texts, names = [h.encode() for h in included.values()], [n.encode() for n in included]
    program = nvrtc.createProgram(text, f"{name}.cu", texts, names)
    try:
        nvrtc.compileProgram(program, options)
        return bytes(nvrtc.getCUBIN(program))
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program)
        raise DeviceError(f"the CUDA source of {name} does not compile for {arch}:\n{log}") from error
    finally:
        nvrtc.destroyProgram(program)


class Module:
    """Compiled kernels on the current device, by name."""

    def __init__(self, binary: bytes) -> None:
        from cupy.cuda import function

        self._module = function.Module()
        self._module.load(binary)
        self._functions: dict[str, Any] = {}
        self._grids: dict[tuple[str, int, int, int], int] = {}

    def __getitem__(self, kernel: str) -> Any:
        """The kernel: ``module["name"]((blocks,), (threads,), (arguments...))``."""
        if kernel not in self._functions:
            self._functions[kernel] = self._module.get_function(kernel)
        return self._functions[kernel]

    def cooperative_grid(self, kernel: str, block: int, shared: int = 0, most: int = 0) -> int:
        """How many blocks can be on the device at once: the grid of a launch whose blocks wait for each other.

        ``most``: at most so many on a multiprocessor.
        """
        key = (kernel, block, shared, most)
        if key not in self._grids:
            import cupy

            driver, runtime = cupy.cuda.driver, cupy.cuda.runtime
            runtime.free(0)  # creates the context that the driver needs, on a thread that has none yet
            each = driver.occupancyMaxActiveBlocksPerMultiprocessor(self[kernel].ptr, block, shared)
            count = runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, cupy.cuda.Device().id)
            self._grids[key] = max(1, min(int(each), most or int(each))) * int(count)
        return self._grids[key]

    def launch(self, kernel: str, blocks: int, threads: int, *arguments: Any, together: bool = False) -> None:
        """Start a kernel on the current stream; ``together``: its blocks may wait for each other."""
        self[kernel]((blocks,), (threads,), tuple(map(as_bytes, arguments)), enable_cooperative_groups=together)


def as_bytes(argument: Any) -> Any:
    """A record as its bytes: CuPy asks an array for a description of its type, which is slow for a record."""
    if not isinstance(argument, np.ndarray) or (argument.dtype.kind == "V" and argument.dtype.names is None):
        return argument
    return argument.view((np.void, argument.nbytes))


def load(text: str, name: str, *, defines: Sequence[str] = ()) -> Module:
    """The module of ``text`` on the current device: from memory, from the disk, or compiled."""
    import cupy

    device = cupy.cuda.Device()
    key = _key(text, f"sm_{device.compute_capability}", tuple(defines))
    with _lock:
        module = _modules.get((key, device.id))
        if module is None:
            binary = _cached(text, name, key, f"sm_{device.compute_capability}", defines)
            module = _modules[key, device.id] = Module(binary)
    return module


@cache
def _key(text: str, arch: str, defines: tuple[str, ...]) -> str:
    from cupy_backends.cuda.libs import nvrtc

    parts = (text, *headers().values(), arch, *defines, *_OPTIONS, str(nvrtc.getVersion()))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _cached(text: str, name: str, key: str, arch: str, defines: Sequence[str]) -> bytes:
    """The binary from disk, or compiled and stored there; a folder that cannot be written costs only time."""
    kept = f"cuda/{key}.cubin"
    found = disk_cache.read(kept)
    if found is not None:
        return found
    binary = compile_cubin(text, name, arch=arch, defines=defines)
    disk_cache.save(kept, binary)
    return binary


def _renew_lock() -> None:
    """Make a new lock in a forked child: a thread that held the old one does not exist there."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
