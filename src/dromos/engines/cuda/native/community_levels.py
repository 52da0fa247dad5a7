"""Graphs of communities on the device: the first one, those that follow from it, and the numbers of communities.

Weights are whole numbers of one type, ``mass``, so that sums by atomics come out the same in any order: counts of edges
and integers as they are, other weights in units of a power of two of which all of them together are less than 2^60.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, launch, module_of, text_of
from dromos.engines.cuda.records import number_of
from dromos.engines.cuda.vertex_values import gathered
from dromos.engines.native.community_levels import Level

__all__ = ["NAME", "PIECE", "DeviceLevel", "LevelMaker", "mass_define", "variants"]

NAME: Final = "native_community_levels"
_THREADS: Final = number_of(NAME, "THREADS")
_ARCS_A_BLOCK: Final = number_of(NAME, "ARCS_A_BLOCK")
PIECE: Final = number_of("community_batches", "PIECE")
"""Arcs of a row that a block adds up at a time."""
_KEY_BITS: Final = 64
_MOST_BITS: Final = 60  # of the sum of all strengths


@dataclass(frozen=True)
class DeviceLevel:
    """A graph of communities; ``weights`` None: ones."""

    offsets: Any
    targets: Any
    weights: Any
    strength: Any
    greatest: int = 1
    """Of the weights."""
    between: int = 0
    """The sum of the weights of arcs from one vertex to another."""
    loops: int = 0
    """And of self-loops, which a graph of communities has none of."""
    hubs: tuple[Array, Array] = (np.empty(0, np.int64), np.empty(0, np.int64))
    """The vertices whose rows are longer than a piece, and how long."""

    @property
    def size(self) -> int:
        return len(self.strength)

    @property
    def arcs(self) -> int:
        return len(self.targets)

    def on_host(self) -> Level:
        """The same for the CPU's kernels, with weights of a type that they are compiled for in any case."""
        strength = self.strength.get().astype(np.float64)
        weights: Array = np.empty(0, np.int32)
        if self.weights is not None:
            kind = np.int32 if self.greatest < 2**31 and self.weights.dtype == np.uint32 else np.float64
            weights = self.weights.get().astype(kind)
        return Level.of(self.offsets.get().astype(np.int64), self.targets.get(), weights, strength)


def mass_define(mass: np.dtype[Any]) -> str:
    """The definition of the type of weights for a kernel's compilation."""
    return "MASS=unsigned" if mass.itemsize == 4 else "MASS=u64"


def variants(name: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of one of the kernel files: name, text, definitions."""
    wide = [(*ids, mass_define(np.dtype(np.uint64))) for ids in ID_VARIANTS]
    return [(name, text_of(name), defines) for defines in ((*ID_VARIANTS[0], "MASS=unsigned"), *wide)]


class LevelMaker:
    """Makes levels from a graph and from communities of its vertices; ``whole`` is the strength of all, a number."""

    def __init__(self, graph: DeviceGraph) -> None:
        self.graph, self.ids = graph, graph.out.targets.dtype
        self.mass, self._shift = _masses(graph)
        self._module = module_of(NAME, graph, mass_define(self.mass))
        self.bottom = self._bottom()
        self.whole = self.bottom.between + 2 * self.bottom.loops

    def _launch(self, kernel: str, count: int, *arguments: Any) -> None:
        launch(self._module, kernel, grid_for(count, _THREADS), _THREADS, *arguments)

    def _bottom(self) -> DeviceLevel:
        import cupy

        rows, n, arcs = self.graph.out, self.graph.num_vertices, self.graph.num_arcs
        if arcs:  # vertices without edges are last where hubs are first, and stay single
            kept = cupy.empty(1, cupy.int64)
            launch(self._module, "count_rows", 1, 1, rows.offsets, np.int64(n), np.int64(arcs), kept)
            n = int(kept[0])
        weights, offsets = None, rows.offsets[: n + 1]
        if rows.weights is not None:
            if self._shift is None:
                weights = rows.weights.astype(self.mass)
            else:
                weights = rows.weights.astype(cupy.float64)
                self._launch("in_units", arcs, weights, np.int64(arcs), np.int32(self._shift))
                weights = weights.view(self.mass)
        strength, found = cupy.zeros(n, self.mass), cupy.zeros(1, cupy.uint64)
        if arcs:
            self._by_arcs(
                "add_rows", offsets, rows.targets, weights, np.int64(n), np.int64(arcs), strength, found
            )  # fmt: skip
        total, greatest = (arcs, 1) if weights is None else self._sum(weights)
        loops = int(found[0])
        hubs = self._hubs(offsets, n, arcs)
        return DeviceLevel(offsets, rows.targets, weights, strength, greatest, total - loops, loops, hubs)

    def _hubs(self, offsets: Any, n: int, arcs: int) -> tuple[Array, Array]:
        import cupy

        found, number = cupy.empty((2, arcs // PIECE + 1), cupy.int64), cupy.zeros(1, cupy.uint32)
        self._launch("list_hubs", n, offsets, np.int64(n), np.int64(PIECE), found[0], found[1], number)
        hubs, lengths = found[:, : int(number[0])].get()
        order = np.argsort(hubs)
        return hubs[order], lengths[order]

    def _by_arcs(self, kernel: str, *arguments: Any) -> None:
        arcs = len(arguments[1])  # the targets
        launch(self._module, kernel, grid_for(arcs, _ARCS_A_BLOCK), _THREADS, *arguments)

    def _sum(self, values: Any) -> tuple[int, int]:
        """The sum of weights and the greatest of them."""
        import cupy

        found = cupy.zeros(2, cupy.uint64)
        if len(values):
            self._launch("add_up", len(values), values, np.int64(len(values)), found, found[1:])
        total, greatest = found.get().tolist()
        return total, greatest

    def singles(self) -> Any:
        """Every vertex of the first level as a community of its own."""
        return self._numbers(self.bottom.size)

    def _numbers(self, count: int) -> Any:
        import cupy

        found = cupy.empty(count, self.ids)
        self._launch("number_vertices", count, found, np.int64(count), np.int64(0))
        return found

    def of_all(self, group: Any) -> tuple[Any, int]:
        """As :meth:`numbered`, of all vertices of the graph: those that the first level left out are single."""
        import cupy

        kept, n = len(group), self.graph.num_vertices
        if kept == n:
            return self.numbered(group)
        whole = cupy.empty(n, self.ids)
        whole[:kept] = group
        left = whole[kept:]
        self._launch("number_vertices", n - kept, left, np.int64(n - kept), np.int64(kept))
        return self.numbered(whole)

    def begun(self, level: DeviceLevel, community: Any) -> tuple[Any, Any, Any]:
        """Communities to move from, a copy or single vertices, their strengths and members; numbers up to ``2n``."""
        import cupy

        n = level.size
        total, size = cupy.zeros(2 * n, self.mass), cupy.zeros(2 * n, self.ids)
        community = self._numbers(n) if community is None else community.copy()
        self._launch("add_members", n, community, level.strength, np.int64(n), total, size)
        return community, total, size

    def inside(self, level: DeviceLevel, community: Any) -> Any:
        """The weight of each vertex's edges to others of its community."""
        import cupy

        n, found = level.size, cupy.zeros(level.size, self.mass)
        self._by_arcs(
            "add_inside", level.offsets, level.targets, level.weights, community, np.int64(n), np.int64(level.arcs),
            found,
        )  # fmt: skip
        return found

    def lifted(self, part: Any, community: Any, parts: int) -> Any:
        """The community of each of ``parts`` parts."""
        import cupy

        found = cupy.empty(parts, self.ids)
        self._launch("lift", len(part), part, community, np.int64(len(part)), found)
        return found

    def degrees(self, community: Any, count: int) -> Any:
        """The strength of each of ``count`` communities of the first level's vertices."""
        import cupy

        n, total = self.bottom.size, cupy.zeros(count, self.mass)
        self._launch("add_members", n, community, self.bottom.strength, np.int64(n), total, None)
        return total

    def packed(self, community: Any, total: Any, size: Any) -> tuple[Any, Any]:
        """Communities numbered without gaps, and the strength of each."""
        import cupy

        n, most = len(community), len(size)
        flags, label = cupy.empty(most, self.ids), cupy.empty(n, self.ids)
        self._launch("flag_used", most, size, np.int64(most), flags)
        numbers = cupy.cumsum(flags, dtype=self.ids)
        strength = cupy.empty(int(numbers[-1]), self.mass)
        self._launch("take_numbers", n, community, numbers, np.int64(n), label)
        self._launch("pack_totals", most, total, size, numbers, np.int64(most), strength)
        return label, strength

    def aggregated(self, level: DeviceLevel, label: Any, strength: Any) -> DeviceLevel:
        """The graph whose vertices are the communities ``label``, of these strengths."""
        import cupy

        count, arcs = len(strength), level.arcs
        bits = 0 if level.weights is None else level.greatest.bit_length()
        apart = None
        if count * count << bits > 2**_KEY_BITS and bits:
            bits, apart = 0, cupy.empty(arcs, self.mass)
        width = 4 if apart is None and count * count << bits <= 2**32 else 8
        keys, used = cupy.empty(arcs, f"u{width}"), cupy.zeros(1, cupy.uint64)
        self._by_arcs(
            f"make_keys_{width}", level.offsets, level.targets, level.weights, label, np.int64(level.size),
            np.int64(arcs), np.uint64(count), np.int32(bits), keys, apart, used,
        )  # fmt: skip
        left, order = int(used[0]), None
        offsets = cupy.zeros(count + 1, level.offsets.dtype)
        if left == 0:
            nothing = cupy.empty(0, self.mass)
            return DeviceLevel(offsets, cupy.empty(0, self.ids), nothing, strength, 0)
        keys = keys[:left]
        if apart is None:
            keys.sort()
        else:
            order = cupy.argsort(keys)
            keys = gathered(keys, order)
        runs = self._runs(keys, bits, level.offsets.dtype)
        arcs = int(runs[-1])
        targets, weights = cupy.empty(arcs, self.ids), cupy.zeros(arcs, self.mass)
        self._launch(
            f"fill_rows_{width}", left, keys, np.int64(left), np.int32(bits), order, apart, runs, np.uint64(count),
            targets, weights, offsets,
        )  # fmt: skip
        del keys, order, apart, runs
        between, greatest = self._sum(weights)
        offsets = cupy.cumsum(offsets, dtype=offsets.dtype)
        hubs = self._hubs(offsets, count, arcs)
        return DeviceLevel(offsets, targets, weights, strength, greatest, between, 0, hubs)

    def _runs(self, keys: Any, bits: int, dtype: Any) -> Any:
        """The number of each key's run among sorted ones, from 1 on."""
        import cupy

        flags = cupy.empty(len(keys), dtype)
        self._launch(f"flag_runs_{keys.dtype.itemsize}", len(keys), keys, np.int64(len(keys)), np.int32(bits), flags)
        return cupy.cumsum(flags, dtype=dtype)

    def numbered(self, group: Any) -> tuple[Any, int]:
        """Groups of vertices, less than their count, numbered by their least given id, and how many there are."""
        import cupy

        n, all_of_them, ids = len(group), self.graph.num_vertices, self.graph.ids
        if n == 0:
            return group, 0
        least, flags, found = cupy.empty(n, self.ids), cupy.zeros(all_of_them, self.ids), cupy.empty(n, self.ids)
        least.data.memset_async(0x7F, least.nbytes)  # more than any id
        self._launch("find_least", n, group, ids, np.int64(n), least)
        self._launch("flag_least", n, group, ids, least, np.int64(n), flags)
        numbers = cupy.cumsum(flags, dtype=self.ids)
        self._launch("number_groups", n, group, least, numbers, np.int64(n), found)
        return found, int(numbers[-1])

    def cut(self, fine: Any, coarse: Any, groups: int) -> Any:
        """The groups of ``fine`` cut by the ``groups`` groups of ``coarse``, numbered."""
        import cupy

        n = len(fine)
        keys, found = cupy.empty(n, cupy.uint64), cupy.empty(n, self.ids)
        self._launch("pair_keys", n, fine, coarse, np.int64(n), np.uint64(groups), keys)
        order = cupy.argsort(keys)
        runs = self._runs(gathered(keys, order), 0, self.bottom.offsets.dtype)
        self._launch("spread_runs", n, order, runs, np.int64(n), found)
        return self.numbered(found)[0]

    def differ(self, a: Any, b: Any) -> bool:
        """Whether two arrays by vertex of the first level differ."""
        import cupy

        found = cupy.zeros(1, cupy.uint32)
        self._launch("find_difference", len(a), a, b, np.int64(len(a)), found)
        return bool(found[0])


def _masses(graph: DeviceGraph) -> tuple[np.dtype[Any], int | None]:
    """The type of weights as whole numbers, and the power of two that they are multiplied by; None: as they are."""
    import cupy

    weights, wide = graph.out.weights, np.dtype(np.uint64)
    if weights is None or len(weights) == 0:
        whole, is_whole = float(graph.num_arcs), True
    else:
        whole, is_whole = float(weights.sum(dtype=cupy.float64)), weights.dtype.kind in "iub"
    narrow = graph.out.offsets.dtype == np.uint32 and graph.out.targets.dtype == np.int32 and 2 * whole < 2**32
    if is_whole and 2 * whole < 2.0**_MOST_BITS:
        return np.dtype(np.uint32) if narrow else wide, None
    return wide, _MOST_BITS - 1 - math.frexp(whole)[1]  # self-loops count twice
