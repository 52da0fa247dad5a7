"""Kernels: functions that are compiled when Python or a team of threads calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dromos.compiler.calls import Call, flattened
from dromos.compiler.compile import argument_shapes
from dromos.compiler.kept import is_kept, load_or_compile
from dromos.compiler.source import Part
from dromos.compiler.values import LoweringError, Shape
from dromos.compiling import compiling, note_kernels_are_loaded

__all__ = ["Form", "Kernel"]


class Form:
    """One of the forms of a kernel, Python's or a team's, with its machine code so far."""

    def __init__(self, function: Callable[..., Any], *, for_team: bool) -> None:
        self._function, self._for_team = function, for_team
        self._by_key: dict[Any, list[Call]] = {}
        self._by_shapes: dict[tuple[Shape, ...], Call] = {}

    def find(self, args: tuple[Any, ...]) -> tuple[Any, list[Call]]:
        """Flattened arguments, and the calls that may fit them."""
        leaves, key = flattened(args)
        known = self._by_key.get(key)
        if known is None:
            known = self._by_key.setdefault(key, [])
        return leaves, known

    def compile(self, args: tuple[Any, ...], known: list[Call]) -> Call:
        """The call for arguments that none of ``known`` fits; it is inserted at the front.

        Compiles on the calling thread, where Ctrl-C is handled; the threads of a team could not be interrupted.
        """
        name = self._function.__name__
        try:
            shapes = argument_shapes(args)
            call = self._by_shapes.get(shapes)
            if call is None:
                with compiling(f"the kernel {name!r}"):
                    call = load_or_compile(self._function, shapes, for_team=self._for_team)
        except LoweringError as error:
            raise LoweringError(f"the kernel {name!r} cannot be compiled: {error}") from None
        self._by_shapes[shapes] = call
        if self._for_team:
            note_kernels_are_loaded()
        if call not in known:
            known.insert(0, call)
        return call

    def is_kept(self, args: tuple[Any, ...]) -> bool:
        """Whether the machine code for arguments like these is on disk."""
        return is_kept(self._function, argument_shapes(args), for_team=self._for_team)


class Kernel(Part):
    """A function that is compiled for the types of its arguments when it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._for_python = Form(function, for_team=False)
        self.for_team = Form(function, for_team=True)

    def prepared(self, *args: Any) -> Callable[..., Any]:
        """The kernel for arguments without tuples, of the same types as these; calls do not check the types."""
        return self._for_python.compile(args, self._for_python.find(args)[1]).run

    def __call__(self, *args: Any) -> Any:
        form = self._for_python
        leaves, known = form.find(args)
        for call in known:
            fits, result = call.try_from_python(leaves)
            if fits:
                return result
        fits, result = form.compile(args, known).try_from_python(leaves)
        if not fits:
            raise LoweringError(f"the kernel {self.__name__!r} writes to an array that is read-only")
        return result
