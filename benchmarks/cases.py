"""The graphs that algorithms are measured on, with their weights and sources; the same in every run."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dromos as dr

__all__ = ["GRAPHS", "SOURCES", "Case", "chosen", "kept_case", "load_case", "make_case", "save_case"]

_SEED = 27
SOURCES = 16


@dataclass(frozen=True)
class Case:
    """A graph without weights, the same with whole weights 1..255, and start vertices that have edges."""

    name: str
    graph: dr.Graph
    weighted: dr.Graph
    sources: tuple[int, ...]
    folder: Path | None = None
    """The folder it was read from; other forms of the graph may be kept there too."""


def _kron(scale: int) -> dr.Graph:
    return dr.generators.rmat(scale, 16, dedupe=True, drop_self_loops=True)


def _urand(scale: int) -> dr.Graph:
    return dr.generators.uniform(1 << scale, 16 << scale, dedupe=True, drop_self_loops=True)


def grid_side(scale: int) -> int:
    """2000 at scale 20; the number of vertices doubles with each scale."""
    return max(8, round(2000 * 2 ** ((scale - 20) / 2)))


def _grid(scale: int) -> dr.Graph:
    return dr.generators.grid(grid_side(scale), grid_side(scale))


GRAPHS: dict[str, Callable[[int], dr.Graph]] = {"kron": _kron, "urand": _urand, "grid": _grid}


def make_case(kind: str, scale: int, sources: int = SOURCES) -> Case:
    """The graph ``kind`` of ``scale``: named ``kron20``, or by its side ``grid2000``."""
    graph = GRAPHS[kind](scale)
    connected = np.flatnonzero(graph.out_degree)
    chosen = np.random.default_rng(_SEED).choice(connected, min(sources, len(connected)), replace=False)
    size = grid_side(scale) if kind == "grid" else scale
    weighted = dr.generators.with_random_weights(graph, 1, 255, seed=_SEED)
    return Case(f"{kind}{size}", graph, weighted, tuple(chosen.tolist()))


def save_case(case: Case, folder: Path) -> None:
    """Save a case in ``folder`` for another process."""
    folder.mkdir(parents=True, exist_ok=True)
    case.graph.write(folder / "graph.drm")
    case.weighted.write(folder / "weighted.drm")
    (folder / "case.json").write_text(json.dumps({"name": case.name, "sources": case.sources}))


def load_case(folder: Path) -> Case:
    """Load the case in ``folder`` into memory (not mapped), as if it had been made here."""
    about = json.loads((folder / "case.json").read_text())
    graph, weighted = (dr.read(folder / file, mmap=False) for file in ("graph.drm", "weighted.drm"))
    return Case(about["name"], graph, weighted, tuple(about["sources"]), folder)


def kept_case(kind: str, scale: int, sources: int, folder: Path | None) -> Case:
    """The case of :func:`make_case`; with a ``folder`` it is read from there, or saved there by the first call."""
    if folder is None:
        return make_case(kind, scale, sources)
    place = folder / f"{kind}-{scale}-{sources}"
    if not (place / "case.json").exists():  # written last
        save_case(make_case(kind, scale, sources), place)
    return load_case(place)


def chosen(name: str, wanted: Collection[str]) -> bool:
    """Whether a name begins with one of those in ``wanted``; always, if that is empty."""
    return not wanted or any(name.lower().startswith(part.lower()) for part in wanted)
