"""Functions that only kernels can call, written in LLVM's language at each call."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

__all__ = ["Intrinsic", "intrinsic"]


class Intrinsic:
    """Writes a call: ``write(writer, *values)`` adds instructions and returns the value, or None."""

    __name__: str

    def __init__(self, write: Callable[..., Any], text: str | None = None) -> None:
        self.write = write
        update_wrapper(self, write)
        if text is not None:
            self.__doc__ = text

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.__name__}() is a part of kernels; only compiled code can call it")


def intrinsic(write: Callable[..., Any]) -> Intrinsic:
    """Make ``write(writer, *values)`` a function that kernels call without the writer."""
    return Intrinsic(write)
