"""Functions that only kernels call, and that are written in LLVM's language where they are called."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

__all__ = ["Intrinsic", "intrinsic"]


class Intrinsic:
    """What writes a call: ``write(writer, *values)`` adds instructions and gives the value, or None."""

    __name__: str

    def __init__(self, write: Callable[..., Any], text: str | None = None) -> None:
        self.write = write
        update_wrapper(self, write)
        if text is not None:
            self.__doc__ = text

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.__name__}() is a part of kernels; only compiled code can call it")


def intrinsic(write: Callable[..., Any]) -> Intrinsic:
    """Make ``write(writer, *values)`` a function of kernels, which call it without the writer."""
    return Intrinsic(write)
