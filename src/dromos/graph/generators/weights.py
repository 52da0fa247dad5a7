"""Random weights for the edges of any graph."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dromos.dtypes import WEIGHT_DTYPES
from dromos.errors import InvalidArgumentError
from dromos.graph.build import team_size
from dromos.graph.generators.rng import Stream, key_of
from dromos.graph.graph import Graph
from dromos.parallel import NO_MORE_WORK, run_team

__all__ = ["weighted", "with_random_weights"]


def with_random_weights(
    g: Graph,
    low: float = 1,
    high: float = 255,
    seed: int = 0,
    *,
    dtype: Any = None,
    threads: int | None = None,
) -> Graph:
    """The same graph with a random weight on every edge; both directions of an undirected edge have the same weight.

    Two whole numbers give whole weights in ``low..high``, both included, as ``int32``; otherwise the weights are reals
    in ``[low, high)``, as ``float32`` unless ``dtype`` is given. The weight of an edge depends only on the seed and its
    ends. Parallel edges have different weights if the rows are sorted, and the same weight if not.

    >>> import dromos as dr
    >>> g = with_random_weights(dr.generators.path(4), 1, 9)
    >>> w = g.weights.tolist()
    >>> w[0] == w[1], min(w) >= 1, max(w) <= 9, g.symmetric
    (True, True, True, True)
    """
    chosen = _dtype_for(low, high, dtype)
    whole = chosen.kind == "i"
    start, end = _bounds(low, high, whole)
    span, largest = (end - start + 1, end) if whole else (end - start, start)
    if not whole and end > start:
        largest = float(np.nextafter(chosen.type(end), chosen.type(start)))
    values = np.empty(g.num_arcs, dtype=chosen)
    key = key_of(seed, Stream.WEIGHTS)
    from dromos.graph.generators import weights_kernels as kernels

    ticket = np.zeros(1, np.int64)
    run_team(
        kernels.arc_weights, ticket, *key, g.offsets, g.targets, not g.directed, g.sorted, whole,
        start, span, largest, values, threads=team_size(g.num_arcs, threads), stop=ticket, stop_value=NO_MORE_WORK,
    )  # fmt: skip
    flags = replace(g.known_flags, symmetric=None if g.directed else True)
    return Graph._make(g.offsets, g.targets, values, labels=g.labels, flags=flags, vertex_data=g.vertex_data)


def weighted(graph: Graph, weights: tuple[float, float] | None, seed: int, threads: int | None) -> Graph:
    """What a generator's ``weights=`` means: ``None``, or the bounds for :func:`with_random_weights`."""
    if weights is None:
        return graph
    if not isinstance(weights, (tuple, list)) or len(weights) != 2:
        raise InvalidArgumentError(f"weights={weights!r} is neither None nor a pair (low, high)")
    return with_random_weights(graph, *weights, seed=seed, threads=threads)


def _dtype_for(low: float, high: float, dtype: Any) -> np.dtype[Any]:
    whole = all(hasattr(bound, "__index__") and not isinstance(bound, bool) for bound in (low, high))
    if dtype is None:
        return np.dtype(np.int32 if whole else np.float32)
    for chosen in WEIGHT_DTYPES:
        if chosen == dtype:
            if chosen.kind == "i" and not whole:
                raise InvalidArgumentError(f"low={low!r}, high={high!r} must be whole numbers for int32 weights")
            return chosen
    raise InvalidArgumentError(f"dtype={dtype!r} is no type of weights; give int32, float32 or float64")


def _bounds(low: float, high: float, whole: bool) -> tuple[float, float]:
    try:
        start, end = float(low), float(high)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"low={low!r}, high={high!r} are not two numbers") from None
    if not (math.isfinite(start) and math.isfinite(end)) or start > end:
        raise InvalidArgumentError(f"low={low!r} must not exceed high={high!r}, and both must be finite")
    if whole and not (start >= -(2**31) and end < 2**31):
        raise InvalidArgumentError(f"low={low}, high={high} do not fit int32; pass dtype=float64 for reals that large")
    return start, end
