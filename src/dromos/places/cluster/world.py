"""The ranks of an MPI job: how to reach them, and how a fault on one of them ends all."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import Any, Final

from dromos.errors import DromosError, MissingDependencyError

__all__ = ["abort", "in_place", "launched", "rank_of_job", "seat_on_machine", "threads_of_rank", "world"]

_SIZE_VARIABLES: Final = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")
_RANK_VARIABLES: Final = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
_installed = False


def world() -> Any:
    """The communicator of all ranks; MPI is started if it is not running.

    From now on an exception that nobody catches ends the whole job, with the rank in front of its text: the other
    ranks would wait for this one for ever.
    """
    try:
        from mpi4py import MPI
    except ImportError:
        raise MissingDependencyError("device='mpi' needs mpi4py: pip install 'dromos[mpi]'") from None
    except RuntimeError as error:  # mpi4py is there, the MPI library is not
        raise MissingDependencyError(f"no MPI library can be loaded ({error}): pip install 'dromos[mpi]'") from None
    _end_all_on_errors(MPI.COMM_WORLD)
    return MPI.COMM_WORLD


def launched() -> bool:
    """Whether this process was started by ``mpirun``, ``srun`` or the like as one of several; MPI is not started."""
    return any(_number(name) > 1 for name in _SIZE_VARIABLES) or (
        "PMIX_RANK" in os.environ and _number("SLURM_NTASKS") > 1
    )


def rank_of_job() -> int:
    """The rank of this process in its job, 0 outside of one; MPI is not started."""
    return next((_number(name) for name in _RANK_VARIABLES if name in os.environ), 0)


def threads_of_rank(comm: Any, cores: int) -> int:
    """A fair share of this machine's cores: as many threads as there are cores for each rank on it."""
    return max(1, cores // seat_on_machine(comm)[1])


def seat_on_machine(comm: Any) -> tuple[int, int]:
    """The number of this rank among those on the same machine, and how many these are."""
    from mpi4py import MPI

    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    found = here.Get_rank(), here.Get_size()
    here.Free()
    return found


def in_place() -> Any:
    """Tells a collective operation that what a rank gives lies where the result goes."""
    from mpi4py import MPI

    return MPI.IN_PLACE


def abort(comm: Any, error: BaseException) -> None:
    """Print ``error`` with this rank's number and end the job. Does not return where there are other ranks."""
    rank, size = comm.Get_rank(), comm.Get_size()
    expected = isinstance(error, DromosError)
    text = f"{type(error).__name__}: {error}" if expected else "".join(traceback.format_exception(error)).rstrip()
    sys.stdout.flush()
    print(f"rank {rank} of {size}: {text}", file=sys.stderr, flush=True)
    if size > 1:
        comm.Abort(1)


def _end_all_on_errors(comm: Any) -> None:
    global _installed
    if _installed or comm.Get_size() == 1:
        return
    _installed = True
    before = sys.excepthook

    def end_all(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            before(kind, error, where)
            comm.Abort(130)
        abort(comm, error)

    sys.excepthook = end_all


def _number(variable: str) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else 0
