"""Work on a sequence of items by several threads, with the results in order and little held at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

__all__ = ["in_order"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_ITEMS_A_THREAD = 2  # results that may wait for an earlier, slower one


def in_order(take: Callable[[], Item | None], work: Callable[[Item], Result], threads: int) -> Iterator[Result]:
    """Yield ``work(item)`` for each item that ``take`` gives, until it gives ``None``, in the order taken.

    Each thread takes an item (one at a time: reading and decompressing a file goes in sequence) and works on it while
    others take theirs. An exception is raised when its turn comes; leaving the loop early stops the threads.

    >>> items = iter([3, 4, 5])
    >>> list(in_order(lambda: next(items, None), lambda item: item * item, threads=2))
    [9, 16, 25]
    """
    if threads == 1:
        while (item := take()) is not None:
            yield work(item)
        return
    crew = _Crew(take, work, threads)
    try:
        yield from crew.results()
    finally:
        crew.stop()


class _Crew:
    def __init__(self, take: Callable[[], Any], work: Callable[[Any], Any], size: int) -> None:
        self._take, self._work = take, work
        self._taking = threading.Lock()
        self._changed = threading.Condition()
        self._room = threading.Semaphore(size * _ITEMS_A_THREAD)
        self._taken = 0
        self._end: int | None = None
        self._done: dict[int, tuple[Any, BaseException | None]] = {}
        self._threads = [
            threading.Thread(target=self._serve, name=f"dromos-text-{i}", daemon=True) for i in range(size)
        ]
        for thread in self._threads:
            thread.start()

    def results(self) -> Iterator[Any]:
        turn = 0
        while True:
            with self._changed:
                while turn not in self._done and turn != self._end:
                    self._changed.wait()
                if turn not in self._done:
                    return
                result, error = self._done.pop(turn)
            self._room.release()
            if error is not None:
                raise error
            yield result
            turn += 1

    def stop(self) -> None:
        with self._changed:
            self._end = 0 if self._end is None else self._end
        for _ in self._threads:
            self._room.release()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        while True:
            self._room.acquire()
            with self._taking:
                if self._end is not None:
                    return
                number, item, error = self._taken, None, None
                self._taken += 1
                try:
                    item = self._take()
                except BaseException as problem:
                    error = problem
                if item is None:
                    self._finish(number, error)
                    return
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = (self._work(item), None)
            except BaseException as problem:
                outcome = (None, problem)
            with self._changed:
                self._done[number] = outcome
                self._changed.notify_all()
            del item, outcome  # a waiting thread keeps nothing alive

    def _finish(self, number: int, error: BaseException | None) -> None:
        """No further item: the sequence ends before ``number``, or with its error."""
        with self._changed:
            if error is not None:
                self._done[number] = (None, error)
                number += 1
            self._end = number
            self._changed.notify_all()
        for _ in self._threads:  # wake those that wait for room, to see the end
            self._room.release()
