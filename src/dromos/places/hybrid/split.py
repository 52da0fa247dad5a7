"""A graph split over processors: vertices are renumbered so that each part has a contiguous range."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import huge_zeros, reused_empty
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.build import CsrArrays
from dromos.graph.parting import Split, bounds_of, order_of
from dromos.graph.partly_held import PartlyHeldGraph
from dromos.graph.permute import degree_order, row_starts
from dromos.graph.transform import reordered, reordered_with_arcs, with_rows
from dromos.identity_cache import IdentityCache
from dromos.parallel import in_blocks
from dromos.places.feed import MemoryFeed

__all__ = ["SplitGraph", "split_graph"]

_WORTH_A_DEVICE: Final = 1 << 22  # arcs
_kept = IdentityCache()


@dataclass(frozen=True, eq=False)
class SplitGraph:
    """A renumbered graph, in which each part owns a range."""

    graph: Graph
    bounds: tuple[int, ...]
    """Part ``i`` owns the vertices ``bounds[i]..bounds[i + 1]`` of :attr:`graph`."""
    given_ids: Array
    """The given id of each vertex of :attr:`graph`."""
    new_ids: Array
    """The inverse of :attr:`given_ids`."""
    given_arcs: Array | None
    """The given number of each arc of :attr:`graph`, if requested."""
    split: Split
    """Which vertices the first part has."""

    @property
    def shares(self) -> tuple[float, ...]:
        """The fraction of the arcs that each part has."""
        ends = self.graph.offsets[np.array(self.bounds)]
        return tuple((np.diff(ends) / max(self.graph.num_arcs, 1)).tolist())

    def restored(self, values: Array) -> Array:
        """Values of the vertices, in the given order."""
        return _taken(values, self.new_ids)

    def restored_arcs(self, values: Array) -> Array:
        """Values of the arcs, in the given order."""
        assert self.given_arcs is not None
        found = np.empty_like(values)
        found[self.given_arcs] = values
        return found


def split_graph(
    graph: Graph,
    shares: tuple[float, ...],
    split: Split,
    *,
    arcs: bool = False,
    device: int | None = None,
    stay: Collection[int] = (),
    memory: int | None = None,
) -> SplitGraph:
    """``graph`` with each part's vertices contiguous; made once for a graph and the same options.

    Part ``i`` gets about ``shares[i]`` of the arcs. Within a part, vertices are ordered by falling in-degree, so that a
    GPU finds rows of similar length together. ``arcs``: keep the given numbers of arcs, for edge fields. ``device``:
    the GPU that renumbers and sorts the rows of a large graph; None: the CPU does. ``stay``: the parts that this GPU
    runs, whose rows need not be copied back to the host. ``memory``: the bytes that a run may take of it; if all arcs
    do not fit there, it renumbers them piece by piece.

    >>> import dromos as dr
    >>> made = split_graph(dr.Graph.from_edges([0, 1, 2], [3, 3, 3], directed=False), (0.5, 0.5), "high")
    >>> made.bounds, made.given_ids.tolist()
    ((0, 1, 4), [3, 0, 1, 2])
    """
    known, key = _kept.of(graph), (shares, split, arcs)
    if key not in known:
        if len(shares) > max(graph.num_vertices, 1):
            raise InvalidArgumentError(
                f"{graph.num_vertices:,} vertices cannot be split into {len(shares)} parts, since each needs one; name "
                "fewer devices"
            )
        by_device = None
        if device is not None and not arcs and graph.num_arcs >= _WORTH_A_DEVICE:
            by_device = _made_on(device, graph, shares, split, stay, memory)
        known[key] = by_device or _made(graph, shares, split, arcs)
    found: SplitGraph = known[key]
    return found


def _made(graph: Graph, shares: tuple[float, ...], split: Split, arcs: bool) -> SplitGraph:
    order, bounds = _ordered(graph, shares, split)
    if arcs:
        made, given_arcs = reordered_with_arcs(graph, order)
    else:
        made, given_arcs = reordered(graph, order, huge_zeros), None
    return SplitGraph(
        made.graph, bounds, order.astype(graph.targets.dtype, copy=False), made.new_ids, given_arcs, split
    )


def _made_on(
    device: int,
    graph: Graph,
    shares: tuple[float, ...],
    split: Split,
    stay: Collection[int],
    memory: int | None,
) -> SplitGraph | None:
    """As :func:`_made`, by a GPU; None if it cannot."""
    import cupy

    from dromos.engines.cuda.dividing import can_divide
    from dromos.engines.cuda.permuting import can_permute, permuted

    with cupy.cuda.Device(device):
        divides = graph.known_flags.symmetric and can_divide(graph, memory)  # needs no degrees from the host
        if not divides and not can_permute(graph):
            return None
        try:
            if divides:
                return _divided_on(graph, shares, split, stay)
            order, bounds = (None, ()) if _is_by_degree(graph, split) else _ordered(graph, shares, split)
            old_ids, new_ids, rows = permuted(graph, order)
        except cupy.cuda.memory.OutOfMemoryError:  # other processes took it meanwhile
            return None
    bounds = bounds or bounds_of(rows.offsets, shares)
    return SplitGraph(with_rows(graph, rows), bounds, old_ids, new_ids, None, split)


def _divided_on(
    graph: Graph,
    shares: tuple[float, ...],
    split: Split,
    stay: Collection[int],
) -> SplitGraph:
    """As :func:`_made`, by the current device; rows of the parts in ``stay`` remain there, and only there."""
    from dromos.engines.cuda.device_slices import keep_slice
    from dromos.engines.cuda.dividing import divided

    old_ids, new_ids, rows, bounds, stayed = divided(graph, shares, split, stay)
    made = with_rows(graph, rows)
    if stayed:
        given = CsrArrays(graph.offsets, graph.targets, graph.weights)
        held = [span for number, span in enumerate(pairwise(bounds)) if number not in stayed]
        made = PartlyHeldGraph.of(given, (old_ids, new_ids), rows, held, made.known_flags)
    for number, on_device in stayed.items():
        feed = MemoryFeed(made, bounds[number], bounds[number + 1], 1)
        for piece in feed.fetch(feed.holding(None, "push"), "push"):
            keep_slice(made, piece, on_device)
    return SplitGraph(made, bounds, old_ids, new_ids, None, split)


def _is_by_degree(graph: Graph, split: Split) -> bool:
    """Whether an order by falling out-degree is the right one, also within each part."""
    return split == "high" and bool(graph.known_flags.symmetric)


def _ordered(graph: Graph, shares: tuple[float, ...], split: Split) -> tuple[Array, tuple[int, ...]]:
    """The given ids in the order of the new ones, and the bounds of the parts."""
    order = order_of(graph.out_degree, split)
    bounds = bounds_of(row_starts(graph.offsets, order), shares)
    if not _is_by_degree(graph, split):
        order = _by_in_degree(graph.in_degree, order, bounds)
    return order, bounds


def _by_in_degree(in_degree: Array, order: Array, bounds: tuple[int, ...]) -> Array:
    """The vertices of each part by falling in-degree: sorted by degree, then by the number of the part."""
    part_of = np.empty(len(order), np.int64)
    for number, (begin, end) in enumerate(pairwise(bounds)):
        members = order[begin:end]

        def assign(first: int, last: int, number: int = number, members: Array = members) -> None:
            part_of[members[first:last]] = number

        in_blocks(assign, len(members))
    ranked = degree_order(in_degree, descending=True)
    return _taken(ranked, degree_order(_taken(part_of, ranked), descending=False))


def _taken(values: Array, ids: Array) -> Array:
    found = reused_empty((len(ids), *values.shape[1:]), values.dtype)

    def gather(begin: int, end: int) -> None:
        np.take(values, ids[begin:end], axis=0, out=found[begin:end], mode="clip")

    in_blocks(gather, len(found))
    return found
