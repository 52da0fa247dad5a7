"""Where in a user's program we are: what an error names while the program is traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

__all__ = ["Place", "here", "place_of", "tracing", "user_line"]

_PACKAGE = str(Path(__file__).parent)


class Place(TypedDict, total=False):
    """The keywords that every :class:`~dromos.errors.ProgramError` takes."""

    program: str | None
    function: str | None
    file: str | None
    line: int | None


class _Current(NamedTuple):
    program: str
    function: str


_current: ContextVar[_Current | None] = ContextVar("dromos_tracing", default=None)


@contextmanager
def tracing(program: str, function: str) -> Iterator[None]:
    """Say that ``program``'s ``function`` is being traced."""
    token = _current.set(_Current(program, function))
    try:
        yield
    finally:
        _current.reset(token)


def here() -> Place:
    """The program and function being traced, and the line of the user's code that called into Dromos."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    current = _current.get()
    return Place(
        program=current.program if current else None,
        function=current.function if current else None,
        file=frame.f_code.co_filename,
        line=frame.f_lineno,
    )


def user_line(error: BaseException, place: Place) -> Place:
    """``place`` with the last line of the user's code that ``error`` came through."""
    found, step = place, error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            found = Place(program=place["program"], function=place["function"], file=file, line=step.tb_lineno)
        step = step.tb_next
    return found


def place_of(program: str, function: str, code: Callable[..., Any] | None) -> Place:
    """The definition of ``function``, for errors found after it was traced."""
    found = getattr(code, "__code__", None)
    if found is None:
        return Place(program=program, function=function)
    return Place(program=program, function=function, file=found.co_filename, line=found.co_firstlineno)
