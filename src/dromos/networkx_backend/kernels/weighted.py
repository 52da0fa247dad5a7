"""Dijkstra and Bellman-Ford searches with NetworkX's tie-breaking."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["CONTRADICTION", "NEGATIVE_CYCLE", "bellman_ford", "dijkstra"]

CONTRADICTION = -1
NEGATIVE_CYCLE = -1
_FULL = -2  # the lists of predecessors may have no room for those of the next node
_USED, _HEAD, _WAITING, _FOUND = range(4)


def dijkstra(
    offsets: Array,
    targets: Array,
    weights: Array,
    sources: Array,
    cutoff: float,
    goal: int,
    order: Array,
    distance: Array,
    parent: Array,
) -> int:
    """Distances from the nearest of ``sources``, nodes in the order in which they become final; return how many.

    Ties go to the distance that was found first. ``distance`` must hold infinity, ``parent`` -1. The search ends at
    ``goal`` (-1: nowhere) and does not go beyond ``cutoff``. Returns ``CONTRADICTION`` if a final distance could be
    improved, which takes a negative weight.
    """
    room = len(sources) + len(targets)  # an arc is looked at once; memory that is never written costs nothing
    keys, ranks, items = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    final = np.zeros(len(distance), np.bool_)
    return int(
        _dijkstra(offsets, targets, weights, sources, cutoff, goal, order, distance, parent, keys, ranks, items, final)
    )


@kernel
def _dijkstra(offsets, targets, weights, sources, cutoff, goal, order, distance, parent, keys, ranks, items, final):
    """``keys``, ``ranks`` and ``items`` are a heap: distances, when each was found, and nodes.

    ``final`` must hold 0.
    """
    size = sources.size
    for i in range(size):
        distance[sources[i]] = 0.0
        keys[i] = 0.0
        ranks[i] = i
        items[i] = sources[i]
    rank = size
    found = 0
    while size > 0:
        key = keys[0]
        node = items[0]
        size -= 1
        last_key, last_rank, last_item = keys[size], ranks[size], items[size]
        hole = 0
        while True:
            child = 2 * hole + 1
            if child >= size:
                break
            right = child + 1
            if right < size and (
                keys[right] < keys[child] or (keys[right] == keys[child] and ranks[right] < ranks[child])
            ):
                child = right
            if keys[child] < last_key or (keys[child] == last_key and ranks[child] < last_rank):
                keys[hole], ranks[hole], items[hole] = keys[child], ranks[child], items[child]
                hole = child
            else:
                break
        keys[hole], ranks[hole], items[hole] = last_key, last_rank, last_item
        if final[node]:
            continue
        final[node] = True
        distance[node] = key
        order[found] = node
        found += 1
        if node == goal:
            break
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            length = key + weights[arc]
            if length > cutoff:
                continue
            if final[other]:
                if length < distance[other]:
                    return CONTRADICTION
            elif length < distance[other]:
                distance[other] = length
                parent[other] = node
                hole = size
                size += 1
                while hole > 0:
                    up = (hole - 1) >> 1
                    if keys[up] > length:  # an equal one came first
                        keys[hole], ranks[hole], items[hole] = keys[up], ranks[up], items[up]
                        hole = up
                    else:
                        break
                keys[hole], ranks[hole], items[hole] = length, rank, other
                rank += 1
    for i in range(distance.size):
        if not final[i]:
            distance[i] = np.inf
    return found


def bellman_ford(
    offsets: Array, targets: Array, weights: Array, source: int, order: Array, distance: Array, first: Array
) -> tuple[int, Array, Array]:
    """Distances from ``source`` with negative weights, nodes in the order in which they are found; return how many.

    The queue holds nodes whose distance fell; a node is skipped while one of its equally good predecessors is in the
    queue itself, as in NetworkX. ``distance`` must hold infinity and ``first`` -1. The predecessors of a node are a
    linked list in the two returned arrays, from ``first[node]`` on: nodes, and the index of the next one (-1: none).
    The count is ``NEGATIVE_CYCLE`` if such a cycle can be reached.
    """
    n = len(distance)
    queue, waiting = np.empty(n + 1, np.int64), np.zeros(n, np.bool_)
    times, last = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    queue[0], waiting[source] = source, True
    order[0], distance[source] = source, 0.0
    state = np.array([0, 0, 1, 1])
    nodes, following = np.empty(n, np.int64), np.empty(n, np.int64)
    most = int(np.diff(offsets).max())
    while True:
        count = int(
            _bellman_ford(
                offsets, targets, weights, order, distance, first, nodes, following, queue, waiting, times, last, state
            )
        )
        if count != _FULL:
            return count, nodes, following
        room = np.empty(max(len(nodes), most), np.int64)
        nodes, following = np.concatenate([nodes, room]), np.concatenate([following, room])


@kernel
def _bellman_ford(
    offsets, targets, weights, order, distance, first, nodes, following, queue, waiting, times, last, state
):
    """Continue the search from ``state``; return ``_FULL`` if the lists are too short to continue.

    ``queue`` is a ring; ``waiting`` marks the nodes in it, ``times`` counts how often each was, ``last`` ends its list.
    """
    n = distance.size
    used, head, size, found = state[_USED], state[_HEAD], state[_WAITING], state[_FOUND]
    while size > 0:
        node = queue[head]
        if used + offsets[node + 1] - offsets[node] > nodes.size:
            state[_USED], state[_HEAD], state[_WAITING], state[_FOUND] = used, head, size, found
            return _FULL
        head = (head + 1) % (n + 1)
        size -= 1
        waiting[node] = False
        entry = first[node]
        while entry >= 0 and not waiting[nodes[entry]]:
            entry = following[entry]
        if entry >= 0:
            continue
        here = distance[node]
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            length = here + weights[arc]
            if length > distance[other]:
                continue
            nodes[used] = node
            following[used] = -1
            if length < distance[other]:
                if distance[other] == np.inf:
                    order[found] = other
                    found += 1
                if not waiting[other]:
                    queue[(head + size) % (n + 1)] = other
                    size += 1
                    waiting[other] = True
                    times[other] += 1
                    if times[other] == n:
                        return NEGATIVE_CYCLE
                distance[other] = length
                first[other] = used
            elif last[other] >= 0 and first[other] >= 0:
                following[last[other]] = used
            else:
                first[other] = used
            last[other] = used
            used += 1
    return found
