"""Initial states that are the same at all vertices but a few, such as those of searches.

``where(v.id == self.source, 0, inf)`` has two values. If an expression depends on a vertex only by comparing its id
with numbers, it is evaluated for the vertices of these ids and for one other, which stands for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from dromos.program import Expr

__all__ = ["distinguished_ids"]

_COMPARED: Final = frozenset({"eq", "ne"})
_NUMBERS: Final = frozenset({"const", "param"})


def distinguished_ids(
    roots: Iterable[Expr], number: Callable[[Expr], Any], *, fields_are_uniform: bool = False
) -> set[int] | None:
    """The ids with which expressions compare a vertex; None if they depend on the vertex in another way.

    ``number`` returns the value of a constant or a parameter. ``fields_are_uniform``: fields are known to differ only
    at such ids.

    >>> from dromos.program.expr import build, const
    >>> vertex = Expr("id", (), ("vertex",))
    >>> distinguished_ids([build("where", build("eq", vertex, const(7)), const(0), const(9))], lambda node: node.value)
    {7}
    >>> distinguished_ids([build("add", vertex, const(1))], lambda node: node.value) is None
    True
    """
    found: set[int] = set()
    seen: set[Expr] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node in seen or (node.op == "field" and fields_are_uniform):
            continue
        seen.add(node)
        if node.role is not None:
            return None
        compared = _compared(node)
        if compared is not None:
            value = number(compared)
            if np.asarray(value).dtype.kind not in "iu":
                return None
            found.add(int(value))
        elif node.op == "where" and _compared(node.args[0]) is not None:
            # one branch applies only at that id, so it may depend on the vertex in any way
            waiting += [node.args[0], node.args[2 if node.args[0].op == "eq" else 1]]
        else:
            waiting += node.args
    return found


def _compared(node: Expr) -> Expr | None:
    """The number with which a node compares a vertex's id; None if it does something else."""
    if node.op not in _COMPARED:
        return None
    first, second = node.args
    if second.op == "id":
        first, second = second, first
    return second if first.op == "id" and second.op in _NUMBERS else None
