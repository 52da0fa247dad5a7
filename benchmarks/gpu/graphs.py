"""The graphs that the CUDA engine is measured on, made on the device without the host.

The name gives all parameters: ``kron22`` is an R-MAT graph (a, b, c = .57, .19, .19; ids permuted) of 2^22 vertices,
``urand22`` a uniform one. Both have 16 edges per vertex before loops and duplicates are dropped and both directions are
stored; ``kron27x17`` has 17. ``grid3000`` is the 3000 x 3000 lattice and ``grid20x500`` one of other sides. The same
seed gives the same graph.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu.device import launch, launch_loop

__all__ = ["DeviceCsr", "grid", "kron", "make", "urand"]

SEED = 27
EDGE_FACTOR = 16
SOURCES = 16
_KEYS_PER_PIECE = 1 << 29
_A, _B, _C = 0.57, 0.19, 0.19


@dataclass
class DeviceCsr:
    """A symmetric graph on the device: rows sorted, no loops, no parallel edges."""

    name: str
    offsets: Any
    targets: Any
    seed: int = SEED
    _hosts: dict[bool, dr.Graph] = field(default_factory=dict, repr=False)

    @property
    def num_vertices(self) -> int:
        """The number of vertices, including isolated ones."""
        return len(self.offsets) - 1

    @property
    def num_arcs(self) -> int:
        """The number of arcs: two per edge."""
        return len(self.targets)

    @cached_property
    def degrees(self) -> Any:
        """The number of neighbors of each vertex."""
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def weights(self) -> Any:
        """Whole weights 1..255 by arc, the same in both directions."""
        import cupy as cp

        weights = cp.empty(self.num_arcs, cp.int32)
        launch_loop("generate", "pair_weights", 32 * self.num_vertices, self.offsets, self.targets,
               np.int64(self.num_vertices), np.uint64(self.seed), np.int32(1), np.int32(255), weights)  # fmt: skip
        return weights

    @cached_property
    def largest_component(self) -> Any:
        """The component of the vertex with the most neighbors: on these graphs, the largest one."""
        from benchmarks.gpu.references import reference_levels

        if self.name.startswith("grid"):  # connected, and thousands of levels deep
            import cupy as cp

            return cp.ones(self.num_vertices, bool)
        return reference_levels(self, int(self.degrees.argmax())) >= 0

    def sources(self, count: int = SOURCES) -> list[int]:
        """Random vertices of the largest component, the same in every run."""
        inside = self.largest_component.nonzero()[0]
        places = np.random.default_rng(self.seed).choice(len(inside), min(count, len(inside)), replace=False)
        return [int(v) for v in inside[places].get()]

    def host(self, weighted: bool = False) -> dr.Graph:
        """The same graph as :class:`dromos.Graph`; the copies with and without weights share their rows."""
        from dromos.graph.graph import Flags

        if weighted not in self._hosts:
            other = self._hosts.get(not weighted)
            offsets = self.offsets.get() if other is None else other.offsets
            targets = self.targets.get() if other is None else other.targets
            # the flags state how the graph was made; checking them again would take the host minutes
            flags = Flags(directed=False, symmetric=True, sorted=True, parallel_edges=False, self_loops=False)
            weights = self.weights.get() if weighted else None
            self._hosts[weighted] = dr.Graph._make(offsets, targets, weights, flags=flags)
        return self._hosts[weighted]

    def forget_hosts(self) -> None:
        """Release the memory of the host's copies."""
        self._hosts.clear()


def make(name: str, seed: int = SEED) -> DeviceCsr:
    """The graph called ``name``: ``kronS`` or ``urandS`` (``SxF``: F edges per vertex), ``gridN`` or ``gridRxC``."""
    found = re.fullmatch(r"(kron|urand|grid)(\d+)(?:x(\d+))?", name)
    if found is None:
        raise SystemExit(
            f"there is no graph {name!r}; name one like kron22, kron27x17, urand22, grid3000 or grid20x500"
        )
    size = int(found[2])
    if found[1] == "grid":
        return grid(size, int(found[3] or size), seed)
    return (kron if found[1] == "kron" else urand)(size, seed, int(found[3] or EDGE_FACTOR))


def kron(scale: int, seed: int = SEED, edge_factor: int = EDGE_FACTOR) -> DeviceCsr:
    """An R-MAT graph of ``2**scale`` vertices."""
    bounds = [np.uint32(round(part * 2**32)) for part in (_A, _A + _B, _A + _B + _C)]
    rows = _rows("rmat_keys", (np.int32(scale), np.uint64(seed), *bounds), edge_factor << scale, 1 << scale)
    return DeviceCsr(_named("kron", scale, edge_factor), *rows, seed)


def urand(scale: int, seed: int = SEED, edge_factor: int = EDGE_FACTOR) -> DeviceCsr:
    """A graph of ``2**scale`` vertices whose edges have uniform ends."""
    rows = _rows("uniform_keys", (np.uint32(1 << scale), np.uint64(seed)), edge_factor << scale, 1 << scale)
    return DeviceCsr(_named("urand", scale, edge_factor), *rows, seed)


def _named(kind: str, scale: int, edge_factor: int) -> str:
    return f"{kind}{scale}" + (f"x{edge_factor}" if edge_factor != EDGE_FACTOR else "")


def grid(rows: int, columns: int, seed: int = SEED) -> DeviceCsr:
    """The lattice of ``rows`` x ``columns``, with four neighbors each."""
    import cupy as cp

    count, sides = rows * columns, (np.int64(rows), np.int64(columns))
    offsets = cp.zeros(count + 1, cp.int64)
    launch("generate", "grid_degrees", count, *sides, offsets[1:])
    cp.cumsum(offsets, out=offsets)
    targets = cp.empty(int(offsets[-1]), cp.int32)
    launch("generate", "grid_targets", count, *sides, offsets, targets)
    return DeviceCsr(f"grid{rows}" if rows == columns else f"grid{rows}x{columns}", offsets, targets, seed)


def _rows(kernel: str, about: tuple[Any, ...], edges: int, vertices: int) -> tuple[Any, Any]:
    """Offsets and targets of the edges that ``kernel`` draws, without loops and duplicates.

    A large graph is made in pieces, each a range of vertices: for each piece, all edges are drawn again and those of
    its vertices are sorted. So the memory in addition to the graph is bounded, and no sorted array has 2^31 keys.
    """
    import cupy as cp

    pieces = max(1, -(-2 * edges // _KEYS_PER_PIECE))
    room = 2 * edges if pieces == 1 else int(1.25 * 2 * edges / pieces)  # hubs make some pieces larger than others
    offsets, targets, written = cp.empty(vertices + 1, cp.int64), cp.empty(2 * edges, cp.int32), 0
    for piece in range(pieces):
        first, last = (vertices * number // pieces for number in (piece, piece + 1))
        keys, count = cp.empty(room, cp.uint64), cp.zeros(1, cp.uint64)
        launch_loop("generate", kernel, edges, keys, np.uint64(room), count, np.uint64(edges), np.uint32(first),
               np.uint64(last), *about)  # fmt: skip
        found = int(count[0])
        if found > room:
            raise SystemExit(f"{found:,} keys of vertices {first} to {last} have no room; there is some for {room:,}")
        keys = _sorted_once(keys[:found])
        launch_loop("generate", "rows_of_keys", len(keys) + 1, keys, np.uint64(len(keys)), np.uint64(first),
               np.uint64(last), np.uint64(written), offsets, targets)  # fmt: skip
        written += len(keys)
        del keys
    cp.get_default_memory_pool().free_all_blocks()
    return offsets, targets[:written] if pieces > 1 else targets[:written].copy()


def _sorted_once(keys: Any) -> Any:
    """The distinct keys in ascending order."""
    import cupy as cp

    keys.sort()
    first = cp.empty(len(keys), cp.bool_)
    launch_loop("generate", "first_of_its_kind", len(keys), keys, np.uint64(len(keys)), first)
    return keys[first]
