"""Damaged files: how they are made, read, and judged. Run as a program, it reads them with little memory.

What a damaged file may give is an error of :mod:`dromos.errors`, or a graph that is

- the very graph that was written, for formats with enough redundancy to notice any damage (``strict``): checksums in
  ``.drm``, ``.npz``, Parquet and Arrow files; in ``.sg`` and ``.wsg`` that every arc stands there in both directions;
- a valid graph for ``.g500``, which is nothing but a list of ids: another id that is in range is another graph, and
  nothing in the file could tell.

A self-loop of an undirected ``.wsg`` stands there once, so its weight is as unguarded; such a file is not ``strict``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from dromos import Graph
from dromos.errors import DromosError
from tests.files import overwrite


@dataclass(frozen=True)
class Case:
    """A small graph in one format."""

    name: str
    file: str
    graph: Graph
    strict: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    def intact(self, folder: Path) -> bytes:
        """The bytes of the whole file."""
        self.graph.write(folder / self.file, **self.options)
        return (folder / self.file).read_bytes()

    def judge(self, folder: Path, data: bytes) -> str:
        """Read damaged data: ``"error"``, ``"same"`` or ``"another"``; whatever is not allowed raises."""
        overwrite(folder / self.file, data)
        try:
            graph = dr.read(folder / self.file)
            if graph.directed:
                graph.transpose.out_degree.sum()
        except DromosError:
            return "error"
        if graph == self.graph and graph.transpose == self.graph.transpose:
            return "same"
        assert not self.strict, f"{self.name}: another graph came out: {graph!r}"
        checked = Graph.from_csr(graph.offsets, graph.targets, graph.weights, directed=graph.directed)
        assert checked.num_arcs == graph.num_arcs
        return "another"


def _cases() -> Iterator[Case]:
    src, dst = np.random.default_rng(1).integers(0, 12, size=(2, 24))
    dst[:4] = src[:4]
    apart = src != dst
    loopless = src[apart], dst[apart]
    whole, names = np.arange(len(src)), [f"vertex {i}" for i in range(14)]
    floats = whole / 7
    directed = Graph.from_edges(src, dst, num_vertices=14)
    undirected = Graph.from_edges(src, dst, num_vertices=14, directed=False)
    named = Graph.from_edges(src, dst, floats, num_vertices=14, labels=names, directed=False)
    numbered = Graph.from_edges(src, dst, whole, num_vertices=14, labels=np.arange(14) ** 3)
    yield Case("sg", "g.sg", directed)
    yield Case("sg-undirected", "g.sg", undirected)
    yield Case("wsg", "g.wsg", Graph.from_edges(src, dst, whole))
    yield Case("wsg-undirected", "g.wsg", Graph.from_edges(*loopless, whole[apart], directed=False))
    yield Case("wsg-loops", "g.wsg", Graph.from_edges(src, dst, whole, directed=False), strict=False)
    lists = Graph.from_edges(src, dst, directed=False)
    yield Case("g500-packed", "g.g500", lists, strict=False)
    yield Case("g500-int64", "g.g500", lists, strict=False, options={"layout": "int64"})
    yield Case("npz", "g.npz", named)
    yield Case("npz-stored", "g.npz", numbered, options={"compress": False})
    yield Case("parquet", "g.parquet", named)
    yield Case("parquet-plain", "g.parquet", numbered, options={"compression": None})
    yield Case("arrow", "g.arrow", named)
    yield Case("arrow-numbers", "g.arrow", numbered)
    yield Case("drm", "g.drm", named)


CASES = {case.name: case for case in _cases()}


def mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """``count`` damaged copies: flipped bits, other bytes, cuts, pieces lost, doubled, zeroed or moved."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        at, other = (int(i) for i in rng.integers(0, len(data), 2))
        size = int(rng.integers(1, 24))
        kind = int(rng.integers(0, 10))
        mutant = bytearray(data)
        if kind < 4:
            mutant[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 4:
            mutant[at] = int(rng.integers(0, 256))
        elif kind == 5:
            for position in rng.integers(0, len(data), int(rng.integers(2, 9))):
                mutant[position] ^= int(rng.integers(1, 256))
        elif kind == 6:
            del mutant[at:]
        elif kind == 7:
            del mutant[at : at + size]
        elif kind == 8:
            mutant[at:at] = rng.bytes(size)
        else:
            mutant[at : at + size] = data[other : other + size] if rng.integers(0, 2) else bytes(size)
        if mutant != data:
            made += 1
            yield bytes(mutant)


def main(folder: Path, count: int, seed: int, megabytes: int) -> None:
    """Read damaged files of all cases in an address space that has little more room than the imports took."""
    import resource

    files = {name: case.intact(folder) for name, case in CASES.items()}
    for name, data in files.items():  # everything is imported and compiled before the room gets small
        assert CASES[name].judge(folder, data) == "same"
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20,) * 2)
    for name, data in files.items():
        print(name, end=" ", flush=True)
        outcomes = [CASES[name].judge(folder, mutant) for mutant in mutants(data, count, seed)]
        print(len(outcomes), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
