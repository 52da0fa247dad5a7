"""Arrays that begin in the device's memory and continue in the host's, in one range of addresses.

Kernels read the host's part in place, over the link, 128 bytes at a time if the lanes of a warp read adjacent data.
They need no changes: an address is an address. So every kernel runs on graphs larger than the device, and data that is
read often (the rows of the greatest degrees come first) is read at the device's own speed.

This uses the driver's calls for virtual memory, which CuPy does not offer. If the driver cannot map the host's memory
into such a range, the whole array is in pinned memory of the host.
"""

from __future__ import annotations

import ctypes
import weakref
from functools import cache
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.driver import driver
from dromos.errors import DeviceError

__all__ = ["GRANULE", "host_view", "resident_part", "spanning_array"]

GRANULE: Final = 2 << 20
"""Memory is mapped in multiples of so many bytes."""

_PINNED: Final = 1
_DEVICE, _HOST_NUMA = 1, 3
_READ_WRITE: Final = 3
_HOST_PAGES_CAN_BE_MAPPED: Final = 141  # CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
_HOST_NUMA_ID: Final = 134  # CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):
    """``CUmemAllocationProp``."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    """``CUmemAccessDesc``."""

    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


def resident_part(nbytes: int, wanted: int) -> int:
    """How many of ``nbytes`` bytes are on the device if ``wanted`` are wanted there.

    >>> resident_part(10 << 20, 5 << 20) >> 20, resident_part(100, 100), resident_part(100, 50)
    (4, 100, 0)
    """
    if wanted >= nbytes:
        return nbytes
    return max(0, wanted) // GRANULE * GRANULE


def spanning_array(count: int, dtype: Any, resident: int) -> Any:
    """An uninitialized array of ``count`` values, of which the first ``resident`` bytes are on the current device.

    ``resident`` is a result of :func:`resident_part`. Raises an error with the requested size if the host or the device
    lacks the memory.
    """
    import cupy

    nbytes = count * np.dtype(dtype).itemsize
    if resident >= nbytes:
        return cupy.empty(count, dtype)
    try:
        memory = _Range(nbytes, resident) if _can_map_host_pages(cupy.cuda.Device().id) else _pinned(nbytes)
    except (_DriverError, cupy.cuda.runtime.CUDARuntimeError) as error:
        raise DeviceError(
            f"{(nbytes - resident) / 2**30:.2f} GiB of pinned memory on the host and {resident / 2**30:.2f} GiB on the "
            f"GPU could not be had for the arcs of the graph ({error}); free memory, or use device='cpu'"
        ) from error
    pointer = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(memory.address, nbytes, memory), 0)
    return cupy.ndarray(count, dtype, pointer)


_readable: Final[set[int]] = set()  # addresses of arrays whose part on the host can be read there


def host_view(array: Any) -> Array | None:
    """A spanning array as the host sees it, which may read the part in its memory; None if it cannot."""
    address = int(array.data.ptr)
    if address not in _readable:
        return None
    memory = (ctypes.c_ubyte * array.nbytes).from_address(address)
    return np.frombuffer(memory, array.dtype)


class _DriverError(RuntimeError):
    """A call of the driver failed."""


def _call(name: str, *arguments: Any) -> None:
    code = getattr(driver(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        driver().cuGetErrorString(code, ctypes.byref(text))
        raise _DriverError(f"{name}: {(text.value or b'unknown error').decode()}")


@cache
def _can_map_host_pages(device: int) -> bool:
    found = ctypes.c_int()
    code = driver().cuDeviceGetAttribute(ctypes.byref(found), _HOST_PAGES_CAN_BE_MAPPED, device)
    return code == 0 and found.value == 1


class _Range:
    """A range of addresses, mapped to memory of the device first and to memory of the host for the rest."""

    def __init__(self, nbytes: int, resident: int) -> None:
        import cupy

        device = int(cupy.cuda.Device().id)
        node = ctypes.c_int()
        driver().cuDeviceGetAttribute(ctypes.byref(node), _HOST_NUMA_ID, device)
        size = -(-nbytes // GRANULE) * GRANULE
        start = ctypes.c_uint64()
        _call("cuMemAddressReserve", ctypes.byref(start), ctypes.c_size_t(size), ctypes.c_size_t(0),
              ctypes.c_uint64(0), ctypes.c_uint64(0))  # fmt: skip
        self.address = int(start.value)
        mapped: list[tuple[int, int, int]] = []
        # Released with the last array in it, after kernels that still read it.
        self._finalizer = weakref.finalize(self, _free, device, self.address, size, mapped)
        try:
            for begin, end, place in (
                (0, resident, _Location(_DEVICE, device)),
                (resident, size, _Location(_HOST_NUMA, max(0, node.value))),
            ):
                if end > begin:
                    mapped.append(_map(self.address + begin, end - begin, place))
            access = _Access(_Location(_DEVICE, device), _READ_WRITE)
            _call("cuMemSetAccess", start, ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1))
            access.location = _Location(_HOST_NUMA, max(0, node.value))
            on_host = ctypes.c_uint64(self.address + resident), ctypes.c_size_t(size - resident)
            if not driver().cuMemSetAccess(*on_host, ctypes.byref(access), ctypes.c_size_t(1)):
                _readable.add(self.address)
        except BaseException:
            self._finalizer()
            raise


def _map(address: int, size: int, place: _Location) -> tuple[int, int, int]:
    """Allocate memory behind a range of addresses; return its address, size and handle."""
    wanted = _Properties(type=_PINNED, location=place)
    handle = ctypes.c_uint64()
    _call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(wanted), ctypes.c_uint64(0))
    try:
        _call("cuMemMap", ctypes.c_uint64(address), ctypes.c_size_t(size), ctypes.c_size_t(0), handle,
              ctypes.c_uint64(0))  # fmt: skip
    except BaseException:
        driver().cuMemRelease(handle)
        raise
    return address, size, int(handle.value)


def _free(device: int, address: int, size: int, mapped: list[tuple[int, int, int]]) -> None:
    import cupy

    try:
        with cupy.cuda.Device(device):
            cupy.cuda.runtime.deviceSynchronize()
    except cupy.cuda.runtime.CUDARuntimeError:
        return  # the device is gone, and the memory with it
    library = driver()
    _readable.discard(address)
    for begin, length, handle in mapped:
        library.cuMemUnmap(ctypes.c_uint64(begin), ctypes.c_size_t(length))
        library.cuMemRelease(ctypes.c_uint64(handle))
    library.cuMemAddressFree(ctypes.c_uint64(address), ctypes.c_size_t(size))


class _Pinned:
    """Pinned memory of the host, which the device reads at the same address."""

    def __init__(self, nbytes: int) -> None:
        import cupy

        self._memory = cupy.cuda.PinnedMemory(nbytes)
        self.address = int(self._memory.ptr)
        _readable.add(self.address)
        weakref.finalize(self, _readable.discard, self.address)


def _pinned(nbytes: int) -> _Pinned:
    return _Pinned(nbytes)
