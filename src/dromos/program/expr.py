"""The expression IR: frozen, hash-consed nodes, and the few rewrites that are always right.

A node is an operator, its arguments and an attribute. Equal expressions are the *same object* (hash-consing), so
equality is identity, a set of nodes is a set of distinct subexpressions, and sharing survives however a program was
written. Nodes carry no number type: the type of an edge weight or an id is the graph's (see ``types.py``).
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np

__all__ = ["FALSE", "LEAVES", "OPERATORS", "TRUE", "Expr", "build", "const", "reads", "render", "substitute", "walk"]

# Operator -> its class; types.py gives each class its typing rule and each backend lowers each operator by a table.
OPERATORS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("add", "sub", "mul", "floordiv", "mod", "min", "max"), "arithmetic"),
    **dict.fromkeys(("neg", "abs"), "arithmetic"),
    "truediv": "real",
    "pow": "real",
    **dict.fromkeys(("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "arctan"), "real"),
    **dict.fromkeys(("floor", "ceil"), "rounding"),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), "comparison"),
    **dict.fromkeys(("isnan", "isfinite"), "predicate"),
    **dict.fromkeys(("and", "or", "xor", "invert"), "bits"),
    **dict.fromkeys(("lshift", "rshift"), "shift"),
    "where": "choice",
    "cast": "cast",
    "at": "lookup",  # (table, id, num_vertices); the attribute is (component, size of a vector or None)
}

# Leaf -> what its attribute holds. A role is one of source, target (of an edge), vertex, old, new.
LEAVES: Final[Mapping[str, str]] = {
    "const": "(type, text)",
    "field": "(role, name, index)",
    "vertex_param": "(role, name, index)",
    "id": "(role,)",
    "out_degree": "(role,)",
    "in_degree": "(role,)",
    "weight": "()",
    "edge_field": "(name, index)",
    "edge_param": "(name, index)",
    "table": "(field or vertex_param, name)",
    "message": "(index,)",
    "param": "(name, index)",
    "reduction": "(name,)",
    "superstep": "()",
    "num_vertices": "()",
    "num_arcs": "()",
}

Attribute = tuple[Any, ...]


class Expr:
    """One node: ``op`` applied to ``args``, or a leaf described by ``attr``.

    >>> a = build("add", Expr("weight"), const(1))
    >>> a is build("add", Expr("weight"), const(1))
    True
    """

    __slots__ = ("__weakref__", "args", "attr", "op")
    op: str
    args: tuple[Expr, ...]
    attr: Attribute

    def __new__(cls, op: str, args: tuple[Expr, ...] = (), attr: Attribute = ()) -> Expr:
        key = (op, args, attr)
        with _lock:
            node = _nodes.get(key)
            if node is None:
                node = super().__new__(cls)
                for name, value in zip(("op", "args", "attr"), key, strict=True):
                    object.__setattr__(node, name, value)
                _nodes[key] = node
        return node

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"expressions are frozen: cannot set {name!r}")

    def __reduce__(self) -> tuple[type[Expr], tuple[str, tuple[Expr, ...], Attribute]]:
        return Expr, (self.op, self.args, self.attr)

    def __repr__(self) -> str:
        parts = [str(part) for part in (*self.attr, *self.args)]
        return f"{self.op}({', '.join(parts)})" if parts else self.op

    @property
    def role(self) -> str | None:
        """Whose value a leaf is: source, target, vertex, old or new; None for what belongs to no vertex."""
        return self.attr[0] if self.op in _OF_A_VERTEX else None

    @property
    def value(self) -> Any:
        """The Python or NumPy number of a constant."""
        kind, text = self.attr
        if kind in _PYTHON_TYPES:
            return _PYTHON_TYPES[kind](text)
        return np.dtype(kind).type(_PYTHON_TYPES[_KIND_OF[np.dtype(kind).kind]](text))


_OF_A_VERTEX: Final = frozenset({"field", "vertex_param", "id", "out_degree", "in_degree"})
_lock = threading.RLock()


def _renew_lock() -> None:
    """In a forked child there is nobody who would open the lock that another thread held."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

_nodes: WeakValueDictionary[tuple[str, tuple[Expr, ...], Attribute], Expr] = WeakValueDictionary()
_PYTHON_TYPES: Final[Mapping[str, Callable[[str], Any]]] = {
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
}
_KIND_OF: Final[Mapping[str, str]] = {"b": "bool", "i": "int", "u": "int", "f": "float"}


def const(value: bool | int | float | np.generic) -> Expr:
    """A constant. A Python number takes the type of what it meets (as in NumPy); a NumPy scalar keeps its own.

    >>> const(1), const(np.float32(0.5))
    (const(int, 1), const(float32, 0.5))
    """
    if isinstance(value, np.generic):
        kind = "bool" if value.dtype.kind == "b" else value.dtype.name
        return Expr("const", attr=(kind, repr(value.item())))
    for kind, python_type in (("bool", bool), ("int", int), ("float", float)):
        if isinstance(value, python_type):
            return Expr("const", attr=(kind, repr(value)))
    raise TypeError(f"{value!r} is not a number")


TRUE: Final = const(True)
FALSE: Final = const(False)


def build(op: str, *args: Expr, attr: Attribute = ()) -> Expr:
    """``op`` on ``args``, folded where the result is known and its number type cannot change.

    >>> build("mul", const(2), const(3))
    const(int, 6)
    >>> x = Expr("weight")
    >>> build("where", build("lt", x, const(0)), x, x)
    weight
    """
    if op == "where":
        return args[1] if args[1] is args[2] else Expr(op, args)
    if op in ("lt", "gt") and args[0] is args[1]:
        return FALSE
    if op in ("and", "or") and (known := _fold_logic(op, *args)) is not None:
        return known
    if op == "invert" and args[0].op == "invert":
        return args[0].args[0]
    if op in _FOLDS and all(arg.op == "const" and arg.attr[0] in _PYTHON_TYPES for arg in args):
        values = [arg.value for arg in args]
        try:
            return const(_FOLDS[op](*values))
        except (ArithmeticError, TypeError, ValueError):
            return Expr(op, args, attr)  # 1 / 0 is left for run time, where NumPy's rules hold
    return Expr(op, args, attr)


def _fold_logic(op: str, left: Expr, right: Expr) -> Expr | None:
    absorbing, neutral = (FALSE, TRUE) if op == "and" else (TRUE, FALSE)
    for one, other in ((left, right), (right, left)):
        if OPERATORS.get(other.op) in ("comparison", "predicate") or other in (TRUE, FALSE):  # surely a truth value
            if one is neutral:
                return other
            if one is absorbing:
                return one
    return None


_FOLDS: Final[Mapping[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "min": lambda a, b: b if b < a else a,
    "max": lambda a, b: b if b > a else a,
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "invert": lambda a: (not a) if isinstance(a, bool) else ~a,
}


def walk(roots: Iterable[Expr]) -> Iterator[Expr]:
    """Every distinct node under ``roots``, arguments before what uses them.

    >>> [node.op for node in walk([build("add", Expr("weight"), const(1))])]
    ['weight', 'const', 'add']
    """
    seen: set[Expr] = set()
    stack = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, opened = stack.pop()
        if node in seen:
            continue
        if opened or not node.args:
            seen.add(node)
            yield node
        else:
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))


def reads(roots: Iterable[Expr], *ops: str) -> list[Expr]:
    """The leaves of the given kinds under ``roots``, each once.

    >>> reads([build("add", Expr("weight"), const(1))], "weight", "superstep")
    [weight]
    """
    return [node for node in walk(roots) if node.op in ops]


def substitute(root: Expr, replacement: Callable[[Expr], Expr | None]) -> Expr:
    """``root`` with each node for which ``replacement`` gives one replaced, and folded again.

    >>> substitute(build("add", Expr("weight"), const(1)), lambda n: const(2) if n.op == "weight" else None)
    const(int, 3)
    """
    done: dict[Expr, Expr] = {}
    for node in walk([root]):
        new = replacement(node)
        if new is None:
            new = build(node.op, *(done[arg] for arg in node.args), attr=node.attr) if node.args else node
        done[node] = new
    return done[root]


def render(roots: Mapping[str, Expr]) -> str:
    """The canonical text of named expressions: one line a distinct node, so that shared parts cost nothing.

    >>> print(render({"message": build("add", Expr("weight"), const(1))}))
    %0 = weight
    %1 = const int 1
    %2 = add %0 %1
    message = %2
    """
    names: dict[Expr, str] = {}
    lines = []
    for node in walk(roots.values()):
        names[node] = f"%{len(names)}"
        words = [node.op, *map(str, node.attr), *(names[arg] for arg in node.args)]
        lines.append(f"{names[node]} = {' '.join(words)}")
    return "\n".join([*lines, *(f"{name} = {names[root]}" for name, root in roots.items())])
