"""Other libraries behind one interface: a peer holds a case's graph in its own form and has a method a row.

A method is named after the row (``bfs``, ``sssp``, ``pagerank``, ``connected_components``, ``betweenness``,
``triangles``, ``core_numbers``); a row that a peer has no algorithm for has no method. What it returns is timed and
then, if there is a method ``read_<row>``, read into a dictionary of answers that :mod:`benchmarks.answers` compares.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, ClassVar, NamedTuple

from benchmarks.cases import Case

__all__ = ["MODULES", "Peer", "Reported", "Unavailable", "load"]

MODULES = {
    "GAP": "benchmarks.peers.gap",
    "SciPy": "benchmarks.peers.scipy_csgraph",
    "NetworKit": "benchmarks.peers.networkit_",
    "igraph": "benchmarks.peers.igraph_",
    "GraphBLAS": "benchmarks.peers.graphblas_",
    "rustworkx": "benchmarks.peers.rustworkx_",
    "scikit-network": "benchmarks.peers.sknetwork_",
}


class Unavailable(Exception):
    """The peer is not on this machine; the reason is the message."""


class Reported(NamedTuple):
    """What a peer that keeps its own time says: the seconds of each trial, and its answer."""

    seconds: tuple[float, ...]
    answer: Any


class Peer:
    """A case's graph in the form of another library, built before anything is timed."""

    notes: ClassVar[dict[str, str]] = {}
    """What sets a row of this peer apart, by row."""

    def __init__(self, case: Case, threads: int) -> None:
        self.case, self.threads = case, threads
        self.trials: int | None = None
        """How often a peer that keeps its own time is to run; as it likes unless given."""
        self.skips: dict[str, str] = {}
        """Rows that would take hours on this graph, with the reason."""

    def close(self) -> None:
        """Give back files."""


def load(name: str, case: Case, threads: int) -> Peer:
    """The peer ``name``, or that of the module so named, with the graph of ``case``.

    Raises :class:`Unavailable` where it is not installed.
    """
    if name == "GAP" and not os.environ.get("GAPBS_DIR"):
        raise Unavailable("GAPBS_DIR does not point at a build of the GAP benchmark suite")
    try:
        module = importlib.import_module(MODULES.get(name, name))
    except ImportError as error:
        raise Unavailable(f"{error}; pip install 'dromos[bench]'") from None
    peer: Peer = module.create(case, threads)
    return peer
