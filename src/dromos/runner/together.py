"""Collective file operations of the ranks of a job: an error of one rank is an error of all."""

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
        """The number of processes."""
        return 1

    def allgather(self, value: Any) -> list[Any]:
        """The values of all processes."""
        return [value]

    def bcast(self, value: Any) -> Any:
        """The value of the first process."""
        return value


def by_first(comm: Any, work: Callable[[], Any]) -> Any:
    """The result of the first rank's ``work``, on every rank; an error is raised on all, so that no rank waits.

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
    """Have every rank do its own ``work``; return the error of the first rank that failed, if any, on all.

    >>> each(OneProcess(), lambda: None)
    """
    failed: FileError | None = None
    try:
        work()
    except FileError as error:
        failed = error
    return next((error for error in comm.allgather(failed) if error is not None), None)
