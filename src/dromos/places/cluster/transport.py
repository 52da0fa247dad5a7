"""How GPU ranks exchange rows and bits that lie on their devices: NCCL, CUDA-aware MPI, or neither.

Neither: through pinned memory of the host, like all packed data.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from dromos.errors import InvalidArgumentError
from dromos.identity_cache import IdentityCache
from dromos.places.cluster.collectives import gather_all
from dromos.places.cluster.world import in_place

__all__ = ["DeviceTransport", "RankFacts", "device_transport", "transport_for"]

TRANSPORT_VARIABLE: Final = "DROMOS_TRANSPORT"
_KINDS: Final = ("auto", "nccl", "mpi", "staged")
_made = IdentityCache()


class RankFacts(NamedTuple):
    """The facts about one rank that decide the transport."""

    device: str
    """Identifies its GPU among all GPUs of the job."""
    has_nccl: bool
    has_cuda_aware_mpi: bool


class DeviceTransport(Protocol):
    """A collective exchange between devices; every rank makes the same calls in the same order."""

    def share(self, array: Any, sizes: Sequence[int], starts: Sequence[int]) -> None:
        """Give all ranks this rank's bytes of ``array``; rank ``r`` has ``sizes[r]`` bytes from ``starts[r]`` on."""


def transport_for(ranks: Sequence[RankFacts], asked: str = "auto") -> str:
    """The transport of a job, by the facts of its ranks: the same on every rank.

    NCCL refuses two ranks on one device. ``asked`` is the setting of the environment.

    >>> one, other = RankFacts("a", True, False), RankFacts("b", True, False)
    >>> transport_for([one, other]), transport_for([one, one]), transport_for([one, one], "mpi")
    ('nccl', 'staged', 'mpi')
    """
    if asked not in _KINDS:
        known = ", ".join(map(repr, _KINDS))
        raise InvalidArgumentError(f"{TRANSPORT_VARIABLE}={asked!r} does not connect GPUs; choose one of {known}")
    if asked != "auto":
        return asked
    if all(rank.has_nccl for rank in ranks) and len({rank.device for rank in ranks}) == len(ranks):
        return "nccl"
    return "mpi" if all(rank.has_cuda_aware_mpi for rank in ranks) else "staged"


def device_transport(comm: Any, device: int) -> DeviceTransport | None:
    """The transport of the ranks of ``comm``, where this one has the GPU ``device``; None: through the host."""
    found: DeviceTransport | None = _made.once(comm, "transport", lambda: _new(comm, device))
    return found


def _new(comm: Any, device: int) -> DeviceTransport | None:
    if comm.Get_size() == 1:
        return None
    facts = RankFacts(_unique_name(device), _has_nccl(), _has_cuda_aware_mpi())
    asked = comm.bcast(os.environ.get(TRANSPORT_VARIABLE, "auto"))
    match transport_for(comm.allgather(facts), asked):
        case "nccl":
            return Nccl(comm, device)
        case "mpi":
            return CudaAwareMpi(comm, device)
    return None


class CudaAwareMpi:
    """See :class:`DeviceTransport`: the MPI library reads and writes the device's memory itself."""

    def __init__(self, comm: Any, device: int) -> None:
        self._comm, self._device = comm, device

    def share(self, array: Any, sizes: Sequence[int], starts: Sequence[int]) -> None:
        """See :class:`DeviceTransport`."""
        import cupy

        with cupy.cuda.Device(self._device):
            cupy.cuda.get_current_stream().synchronize()  # MPI knows nothing of streams
            gather_all(self._comm, in_place(), array.reshape(-1).view(cupy.uint8), sizes, starts)


class Nccl:
    """See :class:`DeviceTransport`: one rank per device."""

    def __init__(self, comm: Any, device: int) -> None:
        import cupy
        from cupy.cuda import nccl

        self._nccl, self._device = nccl, device
        number = comm.bcast(nccl.get_unique_id() if comm.Get_rank() == 0 else None)
        with cupy.cuda.Device(device):
            self._ranks = nccl.NcclCommunicator(comm.Get_size(), number, comm.Get_rank())

    def share(self, array: Any, sizes: Sequence[int], starts: Sequence[int]) -> None:
        """See :class:`DeviceTransport`; later kernels of the stream wait for it, the host does not."""
        import cupy

        with cupy.cuda.Device(self._device):
            stream, begin = cupy.cuda.get_current_stream().ptr, int(array.data.ptr)
            self._nccl.groupStart()
            for rank, (size, start) in enumerate(zip(sizes, starts, strict=True)):
                if size:
                    self._ranks.bcast(begin + start, size, self._nccl.NCCL_UINT8, rank, stream)
            self._nccl.groupEnd()


def _unique_name(device: int) -> str:
    import cupy
    from mpi4py import MPI

    return f"{MPI.Get_processor_name()} {cupy.cuda.runtime.deviceGetPCIBusId(device)}"


def _has_nccl() -> bool:
    try:
        from cupy.cuda import nccl
    except ImportError:
        return False
    return bool(nccl.available)


def _has_cuda_aware_mpi() -> bool:
    """Whether the loaded MPI library reports it: Open MPI and its relatives have a function for it."""
    from mpi4py import MPI

    try:
        return bool(ctypes.CDLL(MPI.__file__).MPIX_Query_cuda_support())  # found in the libraries of the module
    except (AttributeError, OSError):
        return False
