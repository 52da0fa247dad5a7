"""The NetworkX functions of the backend, the arguments that they refuse, and the size from which on they pay."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeVar

__all__ = ["REGISTRY", "Bound", "Implementation", "Worth", "function_weight", "implements", "refuse_any"]

F = TypeVar("F", bound=Callable[..., Any])
Bound = Mapping[str, Any]
Refusal = Callable[[Bound], "str | None"]


class Worth(IntEnum):
    """The number of nodes from which on converting a graph pays: the more work for NetworkX, the fewer."""

    ALL_PAIRS = 200  # at least a search from every node
    ITERATIVE = 1_000  # many passes over the edges, or costly ones: weights, sorting, hashing
    LINEAR = 20_000  # one pass over all edges, as converting is
    CONVERTED = 2**62  # less, or perhaps less: only if the graph was converted before


@dataclass(frozen=True)
class Implementation:
    """One function: its code, the arguments it refuses, and the size from which on it pays."""

    run: Callable[..., Any]
    signature: inspect.Signature
    refuse: Refusal | None
    worth: Worth

    def why_not(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """The reason why these arguments are refused, if they are."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:
            return "the arguments do not fit the signature"
        bound.apply_defaults()
        return None if self.refuse is None else self.refuse(bound.arguments)


REGISTRY: dict[str, Implementation] = {}


def implements(
    *, worth: Worth = Worth.CONVERTED, refuse: Refusal | None = None, name: str | None = None
) -> Callable[[F], F]:
    """Register a function under NetworkX's name for it (``name``, if that is not the function's own).

    Args:
        worth: the number of nodes from which on converting a graph for it pays.
        refuse: the reason why the bound arguments are left to NetworkX, or ``None``.
        name: NetworkX's name for dispatching.
    """

    def register(function: F) -> F:
        REGISTRY[name or function.__name__] = Implementation(function, inspect.signature(function), refuse, worth)
        return function

    return register


def function_weight(*names: str) -> Refusal:
    """Refuse weights that are computed by a function."""

    def refuse(bound: Bound) -> str | None:
        if any(callable(bound[name]) for name in names):
            return "the weight is a function, not the name of an edge attribute"
        return None

    return refuse


def refuse_any(*refusals: Refusal) -> Refusal:
    """Refuse what any of ``refusals`` does."""

    def refuse(bound: Bound) -> str | None:
        return next((reason for one in refusals if (reason := one(bound))), None)

    return refuse
