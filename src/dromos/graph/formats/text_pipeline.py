"""Work on a sequence of items by several threads, with the results in order and little held at once."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
    taking, numbers = threading.Lock(), itertools.count()

    def step() -> tuple[int, bool, Any, BaseException | None]:
        """The number of an item, whether there was one, its result or the error."""
        with taking:
            number = next(numbers)
            item, error = _attempted(take)
        if item is None:
            return number, error is not None, None, error
        return number, True, *_attempted(work, item)

    crew = ThreadPoolExecutor(threads, thread_name_prefix="dromos-text")
    try:
        flying = deque(crew.submit(step) for _ in range(threads * _ITEMS_A_THREAD))
        done: dict[int, tuple[bool, Any, BaseException | None]] = {}
        for turn in itertools.count():
            while turn not in done:
                number, *outcome = flying.popleft().result()
                done[number] = tuple(outcome)
            there, result, error = done.pop(turn)
            if error is not None:
                raise error
            if not there:
                return
            flying.append(crew.submit(step))
            yield result
    finally:
        crew.shutdown(cancel_futures=True)


def _attempted(function: Callable[..., Any], *given: Any) -> tuple[Any, BaseException | None]:
    """What a call gives, or the error that it raises."""
    try:
        return function(*given), None
    except BaseException as error:
        return None, error
