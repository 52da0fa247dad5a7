"""Biconnected components by one depth-first search (Hopcroft and Tarjan, 1973), without recursion, on one thread."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, load_relaxed, prefetch, store
from dromos.jit import kernel

_PATIENCE = 4095  # steps between two checks of the stop flag
_AHEAD = 16  # arcs between the prefetch of a neighbor's number and its use


@kernel
def search(thread, threads, offsets, targets, number, component, low, parent, skipped, cursor, path, waiting, cut,
           stop):  # fmt: skip
    """Give each vertex the component of the tree edge that leads to it, from 0 on; -1 stays at the root of a tree.

    ``number`` (order of visits, from 1 on), ``skipped`` and ``cut`` are zeros, ``component`` is -1. ``waiting`` is a
    stack of vertices whose component is incomplete.
    """
    visited, found, steps = np.int64(0), np.int64(0), np.int64(0)
    for start in range(offsets.size - 1):
        if load(number, start):
            continue
        top, height, at_start = np.int64(0), np.int64(0), np.int64(0)
        visited += 1
        number[start] = low[start] = visited
        parent[start], cursor[start], path[0] = -1, offsets[start], start
        while top >= 0:
            steps += 1
            if steps & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
                return
            v = np.int64(load(path, top))
            arc, end = np.int64(load(cursor, v)), np.int64(load(offsets, v + 1))
            above = np.int64(load(parent, v))
            mine, least = np.int64(load(number, v)), np.int64(load(low, v))
            child = np.int64(-1)
            while arc < end:
                prefetch(number, np.int64(load(targets, min(arc + _AHEAD, end - 1))))
                u = np.int64(load(targets, arc))
                arc += 1
                other = np.int64(load(number, u))
                if other == 0:
                    child = u
                    break
                if other < mine:
                    if u == above and load(skipped, v) == 0:  # the tree edge itself; a parallel one leads back up
                        store(skipped, v, 1)
                    else:
                        least = min(least, other)
            store(cursor, v, arc)
            store(low, v, least)
            if child >= 0:
                visited += 1
                store(number, child, visited)
                store(low, child, visited)
                store(parent, child, v)
                store(cursor, child, load(offsets, child))
                store(waiting, height, child)
                height += 1
                top += 1
                store(path, top, child)
                continue
            top -= 1
            if above < 0:
                break
            store(low, above, min(np.int64(load(low, above)), least))
            if least >= load(number, above):
                member = np.int64(-1)
                while member != v:
                    height -= 1
                    member = np.int64(load(waiting, height))
                    store(component, member, found)
                found += 1
                if above == start:
                    at_start += 1
                else:
                    cut[above] = 1
        if at_start > 1:
            cut[start] = 1


@kernel
def list_edges(thread, threads, offsets, targets, number, component, names, source, target, found, count, stop):
    """Write the edges without loops, by their lesser ends, and the component of each, numbered by first edges.

    ``names`` has -1 for each component; ``count`` gets their number.
    """
    place, known = np.int64(0), np.int64(0)
    for v in range(offsets.size - 1):
        if v & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        mine, end = np.int64(load(number, v)), np.int64(load(offsets, v + 1))
        for arc in range(np.int64(load(offsets, v)), end):
            later = np.int64(load(targets, min(arc + _AHEAD, end - 1)))
            prefetch(number, later)
            prefetch(component, later)
            u = np.int64(load(targets, arc))
            if u <= v:
                continue
            name = np.int64(load(component, u if load(number, u) > mine else v))
            if load(names, name) < 0:
                store(names, name, known)
                known += 1
            store(source, place, v)
            store(target, place, u)
            store(found, place, np.int64(load(names, name)))
            place += 1
    store(count, 0, known)
