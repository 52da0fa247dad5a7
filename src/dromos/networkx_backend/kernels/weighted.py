"""Dijkstra's and Bellman and Ford's searches with NetworkX's way of breaking ties."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import kernel

__all__ = ["CONTRADICTION", "NEGATIVE_CYCLE", "bellman_ford", "dijkstra"]

CONTRADICTION = -1
NEGATIVE_CYCLE = -1


@kernel
def dijkstra(offsets, targets, weights, sources, cutoff, goal, order, distance, parent):
    """Distances from the nearest of ``sources``, nodes in the order in which they are final; how many are.

    Ties are settled by which distance was found first. ``distance`` must hold infinity, ``parent`` -1. The search ends
    at ``goal`` (-1: nowhere) and does not go beyond ``cutoff``. Returns ``CONTRADICTION`` where a final distance could
    be improved, which takes a negative weight.
    """
    n = len(distance)
    size = len(sources)
    room = max(16, size)
    keys = np.empty(room, np.float64)
    ranks = np.empty(room, np.int64)
    items = np.empty(room, np.int64)
    final = np.zeros(n, np.bool_)
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
                if size == len(keys):
                    keys = np.append(keys, np.empty_like(keys))
                    ranks = np.append(ranks, np.empty_like(ranks))
                    items = np.append(items, np.empty_like(items))
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
    for i in range(n):
        if not final[i]:
            distance[i] = np.inf
    return found


@kernel
def bellman_ford(offsets, targets, weights, source, order, distance, first):
    """Distances from ``source`` with negative weights, nodes in the order in which they are found; how many are.

    A queue of nodes whose distance fell; a node is passed over while one of its equally good predecessors is in the
    queue itself, as in NetworkX. ``distance`` must hold infinity and ``first`` -1. The predecessors of a node are a
    linked list in the two arrays returned, from ``first[node]`` on: nodes, and where the next one is (-1: nowhere).
    The count is ``NEGATIVE_CYCLE`` where such a cycle can be reached.
    """
    n = len(distance)
    queue = np.empty(n + 1, np.int64)
    waiting = np.zeros(n, np.bool_)
    times = np.zeros(n, np.int64)
    last = np.full(n, -1, np.int64)
    nodes = np.empty(max(16, n), np.int64)
    following = np.empty(max(16, n), np.int64)
    used = 0
    head, size = 0, 1
    queue[0] = source
    waiting[source] = True
    distance[source] = 0.0
    order[0] = source
    found = 1
    while size > 0:
        node = queue[head]
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
            if used == len(nodes):
                nodes = np.append(nodes, np.empty_like(nodes))
                following = np.append(following, np.empty_like(following))
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
                        return NEGATIVE_CYCLE, nodes, following
                distance[other] = length
                first[other] = used
            elif last[other] >= 0 and first[other] >= 0:
                following[last[other]] = used
            else:
                first[other] = used
            last[other] = used
            used += 1
    return found, nodes, following
