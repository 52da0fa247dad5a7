"""One way to search from many sources: groups that fit the memory, by an engine's kernel or by the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.algorithms.many.grouping import grouped
from dromos.algorithms.many.program import bytes_beside_program, search_by_program
from dromos.dtypes import Array
from dromos.engines.joint_groups import WIDTHS, Found, group_bytes, width_for
from dromos.errors import ResourceError
from dromos.graph import Graph
from dromos.graph.summary import enough_bytes, human_bytes
from dromos.runner import Session
from dromos.sizes import as_bytes

__all__ = ["GroupFacts", "Searched", "search", "width_within"]


class GroupFacts(NamedTuple):
    """What is told of a group when it is done."""

    group: int
    sources: int
    levels: int
    pulled: int
    joint: int
    sharing: float
    seconds: float


class Searched(NamedTuple):
    """What is known of a search after it: of each source, and of each group."""

    sources: Array
    group: Array
    reached: Array
    distance_sum: Array
    inverse_sum: Array
    depth: Array
    groups: list[GroupFacts]
    sums: Mapping[str, Array] | None = None
    """Of each vertex over all sources, where they were asked for: see :func:`search`."""

    @property
    def sharing(self) -> float:
        """The sharing degree over all groups."""
        return float(self.reached.sum() + len(self.sources)) / max(sum(facts.joint for facts in self.groups), 1)


_BYTES_PER_SOURCE: Final = 40  # of what :class:`Searched` tells


def width_within(graph: Graph, sources: int, memory: int | str | None, distance: Any = None, workers: int = 1) -> int:
    """The words per vertex for groups that fit ``memory`` bytes; the widest useful one if that is None.

    ``workers``: processors that search at the same time; there are groups for all of them where sources suffice.

    >>> import dromos as dr
    >>> width_within(dr.generators.path(1000), 4096, 1 << 17)
    4
    """
    widest = width_for(min(max(-(-sources // workers), 1), 64 * WIDTHS[-1]))
    if memory is None:
        return widest
    allowed = as_bytes(memory)
    fitting = [
        width for width in WIDTHS if width <= widest and group_bytes(graph.num_vertices, width, distance) <= allowed
    ]
    if not fitting:
        least = group_bytes(graph.num_vertices, 1, distance)
        raise ResourceError(
            f"memory={human_bytes(allowed)} is too little for one group of 64 sources on {graph.num_vertices:,} "
            f"vertices; give at least {least:,} bytes ({enough_bytes(least)})"
        )
    return fitting[-1]


def search(
    session: Session,
    graph: Graph,
    sources: Array,
    consume: Callable[[Found], Any] | None = None,
    *,
    limit: int | None = None,
    distance: Any = None,
    want_seen: bool = False,
    grouping: str = "auto",
    q: int = 128,
    seed: int | None = None,
    memory: int | str | None = None,
    add_up: bool = False,
    answer: int = 0,
) -> Searched:
    """Search from all ``sources`` (ids); ``consume`` is told of each group, of which ``Found.sources`` are positions.

    The arrays of a ``Found`` may be overwritten by the next group; what is to be kept has to be copied. ``add_up``: an
    engine that adds up distances itself does so, and gives no rows of them. ``answer``: bytes that the caller holds.
    Of a graph on disk, ``memory`` is what all takes together, and not a group.
    """
    if seed is None and session.is_saved:
        seed = 0  # the call that goes on from a checkpoint has to make the same groups
    memory = None if memory is None else as_bytes(memory)
    workers = getattr(session.engine, "workers", 1)
    streamed = session.stay_within(memory)
    width = width_within(graph, len(sources), None if streamed else memory, distance, workers)
    facts: list[GroupFacts] = []
    while True:
        places = grouped(graph, sources, 64 * width, grouping, q, seed)
        if streamed:
            most = max(map(len, places), default=0)
            held = answer + _BYTES_PER_SOURCE * len(sources)
            session.hold_beside_programs(bytes_beside_program(most, distance) + -(-held // max(graph.num_vertices, 1)))
        try:
            return _search(session, graph, sources, places, facts, consume, limit, distance, want_seen, memory, add_up)
        except ResourceError:
            if not streamed or width == WIDTHS[0] or facts:  # else nobody was told of a group yet
                raise
            width //= 2


def _search(
    session: Session,
    graph: Graph,
    sources: Array,
    places: Sequence[Array],
    facts: list[GroupFacts],
    consume: Callable[[Found], Any] | None,
    limit: int | None,
    distance: Any,
    want_seen: bool,
    memory: int | None,
    add_up: bool,
) -> Searched:
    """Search from groups, given by ``places`` among ``sources``; what is told of each goes to ``facts``."""
    sums = [np.zeros(len(sources), kind) for kind in (np.int64, np.int64, np.int64, np.float64, np.int64)]
    group, reached, distance_sum, inverse_sum, depth = sums

    def keep(found: Found) -> None:
        here = places[found.group]
        group[here], reached[here], distance_sum[here] = found.group, found.reached, found.distance_sum
        inverse_sum[here], depth[here] = found.inverse_sum, found.depth
        told = (found.group, len(here), found.levels, found.pulled, found.joint, found.sharing, found.seconds)
        facts.append(GroupFacts(*told))
        if consume is not None:
            consume(found._replace(sources=here))

    groups = [sources[here] for here in places]
    fields = session.native(
        "joint", graph,
        groups=groups, consume=keep, limit=limit, distance=distance, want_seen=want_seen, memory=memory,
        progress=session.progress, keep_on_device=True, **({"sums": True} if add_up else {}),
    )  # fmt: skip
    if fields is None:
        for number, members in enumerate(groups):
            keep(search_by_program(session, graph, number, members, limit, distance))
    added = fields if add_up else None
    return Searched(sources, group, reached, distance_sum, inverse_sum, depth, sorted(facts), added)
