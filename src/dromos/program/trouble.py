"""Python's own errors inside a program's functions, told with the line and with what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dromos.errors import ProgramError, UntraceableError
from dromos.program.place import Place, user_line

__all__ = ["explained"]

_NUMPY_INDEX = "only integers, slices"  # how NumPy's message about an index begins


@contextmanager
def explained(program: Any, place: Place) -> Iterator[None]:
    """Turn an unknown name of ``program``, and a symbol that indexes an array, into errors of ours."""
    try:
        yield
    except ProgramError:
        raise
    except AttributeError as error:
        if error.obj is not program or error.name is None:
            raise
        names = [name for name in dir(program) if not name.startswith("_")]
        near = difflib.get_close_matches(error.name, names, 1)
        hint = f"is self.{near[0]} meant?" if near else "declare it, such as with dr.param or dr.vertex_param"
        raise ProgramError(f"there is no self.{error.name}; {hint}", **user_line(error, place)) from None
    except IndexError as error:
        if not str(error).startswith(_NUMPY_INDEX):
            raise
        raise UntraceableError(
            "a symbol cannot index an array while the program is traced; declare values by vertex with "
            "`table = dr.vertex_param(dtype)`, pass the array as a parameter, and write v.table for table[v.id]",
            **user_line(error, place),
        ) from None
