"""A placeholder for the arcs of a graph that are not in memory."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from dromos.errors import ArcsOnDiskError

__all__ = ["ArcsOnDisk"]


class ArcsOnDisk:
    """Placeholder for an array of a stored graph that is not in memory: its type and length, but no entries."""

    __slots__ = ("_path", "dtype", "size")

    def __init__(self, dtype: np.dtype[Any], size: int, path: str) -> None:
        self.dtype, self.size, self._path = dtype, size, path

    @property
    def itemsize(self) -> int:
        """Bytes of an entry."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the array in the file."""
        return self.size * self.itemsize

    @property
    def shape(self) -> tuple[int]:
        """The shape of the array."""
        return (self.size,)

    def __len__(self) -> int:
        return self.size

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        raise ArcsOnDiskError(
            f"the arcs of {self._path} stay on disk, and this needs them in memory; use dr.read(path), or "
            "graph.load(), instead of dr.open(path) (on the command line: leave --memory out)"
        )

    __array__ = __getitem__ = __iter__ = _refuse
    __array_ufunc__ = __array_function__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __sub__ = __mul__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    def __repr__(self) -> str:
        return f"<{self.size:,} entries of {self.dtype} on disk>"
