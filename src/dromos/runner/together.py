"""What the ranks of a job do together around files, so that an error of one is an error of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dromos.errors import FileError

__all__ = ["OneProcess", "by_first", "each"]


class OneProcess:
    """Stands in for an MPI communicator where there is one process."""

    def Get_rank(self) -> int:
        """Its rank."""
        return 0

    def Get_size(self) -> int:
        """How many there are."""
        return 1

    def allgather(self, value: Any) -> list[Any]:
        """The values of all."""
        return [value]

    def bcast(self, value: Any) -> Any:
        """The value of the first."""
        return value


def by_first(comm: Any, work: Callable[[], Any]) -> Any:
    """What the first rank's ``work`` gives, on every rank; its error too, so that none waits for another.

    >>> by_first(OneProcess(), lambda: 7)
    7
    """
    told: tuple[Any, FileError | None] = (None, None)
    if comm.Get_rank() == 0:
        try:
            told = work(), None
        except FileError as error:
            told = None, error
    value, failed = comm.bcast(told)
    if failed is not None:
        raise failed
    return value


def each(comm: Any, work: Callable[[], None]) -> FileError | None:
    """Have every rank do its own ``work``; the first rank's error, if any, the same on all of them.

    >>> each(OneProcess(), lambda: None)
    """
    failed: FileError | None = None
    try:
        work()
    except FileError as error:
        failed = error
    return next((error for error in comm.allgather(failed) if error is not None), None)
