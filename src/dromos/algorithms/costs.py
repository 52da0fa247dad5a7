"""The algorithms whose time can be predicted: those whose file states a ``COST``."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from dromos.errors import InvalidArgumentError
from dromos.plan.cost import Cost

__all__ = ["PREDICTABLE", "cost_of"]

PREDICTABLE: Final = ("bfs", "sssp", "pagerank", "connected_components", "core_numbers")


def cost_of(algorithm: str) -> Cost:
    """What an algorithm costs, in passes over the arcs.

    >>> cost_of("bfs").passes
    0.5
    """
    if algorithm not in PREDICTABLE:
        raise InvalidArgumentError(f"algorithm={algorithm!r}: it has no model; choose one of {', '.join(PREDICTABLE)}")
    cost: Cost = import_module(f"dromos.algorithms.{algorithm}").COST
    return cost
