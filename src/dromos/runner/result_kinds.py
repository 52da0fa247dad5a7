"""Results of programs, and results whose answer is one number about the graph."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.runner.result import Result

__all__ = ["NumberResult", "ProgramResult"]


class ProgramResult(Result):
    """The result of a program: its fields and reductions are attributes, unknown to type checkers.

    >>> import dromos as dr
    >>> from dromos.algorithms.bfs import BFS
    >>> dr.run(BFS(source=0), dr.generators.path(3), device="reference").level.tolist()
    [0, 1, 2]
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class NumberResult(Result):
    """A result that adds, compares, prints and hashes like its number, the attribute named after the algorithm.

    >>> import dromos as dr
    >>> d = dr.diameter(dr.generators.cycle(7))
    >>> d == 3, d + 1, 2 * d, d < 2.5, f"{d:.1f}", len(range(d)), max(d, 2) is d
    (True, 4, 6, False, '3.0', 3, True)
    >>> print(d, d.lower.tolist())
    3 [3, 3, 3, 3, 3, 3, 3]
    """

    @property
    def number(self) -> Any:
        """The number itself, an int or a float."""
        return self.values_of_graph[self._name]

    def __int__(self) -> int:
        return int(self.number)

    def __index__(self) -> int:
        return operator.index(self.number)

    def __float__(self) -> float:
        return float(self.number)

    def __bool__(self) -> bool:
        return bool(self.number)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.number, digits)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.number, dtype=dtype)

    def __str__(self) -> str:
        return str(self.number)

    def __format__(self, how: str) -> str:
        return format(self.number, how)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.number)

    def __eq__(self, other: object) -> Any:
        return self.number == _number(other)

    def __ne__(self, other: object) -> Any:
        return self.number != _number(other)

    def __lt__(self, other: Any) -> Any:
        return self.number < _number(other)

    def __le__(self, other: Any) -> Any:
        return self.number <= _number(other)

    def __gt__(self, other: Any) -> Any:
        return self.number > _number(other)

    def __ge__(self, other: Any) -> Any:
        return self.number >= _number(other)

    def __neg__(self) -> Any:
        return -self.number

    def __abs__(self) -> Any:
        return abs(self.number)

    def __add__(self, other: Any) -> Any:
        return self.number + _number(other)

    def __radd__(self, other: Any) -> Any:
        return other + self.number

    def __sub__(self, other: Any) -> Any:
        return self.number - _number(other)

    def __rsub__(self, other: Any) -> Any:
        return other - self.number

    def __mul__(self, other: Any) -> Any:
        return self.number * _number(other)

    def __rmul__(self, other: Any) -> Any:
        return other * self.number

    def __truediv__(self, other: Any) -> Any:
        return self.number / _number(other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.number

    def __floordiv__(self, other: Any) -> Any:
        return self.number // _number(other)

    def __mod__(self, other: Any) -> Any:
        return self.number % _number(other)

    def __pow__(self, other: Any) -> Any:
        return self.number ** _number(other)


def _number(other: Any) -> Any:
    return other.number if isinstance(other, NumberResult) else other
