"""Every algorithm on graphs small enough for the host; the algorithm's own verifier checks each answer.

The verifiers use only NumPy and SciPy and share nothing with the engine. ``verified`` counts the runs that they
accepted; a wrong answer gives a row with the reason, and the benchmark continues.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from benchmarks.gpu.graphs import make
from benchmarks.gpu.sanitize import CALLS, NO_PATHS
from benchmarks.record import say
from dromos.errors import IllegalPathError
from dromos.plan.path import PATHS

__all__ = ["KEY", "run"]

KEY = ("graph", "algorithm")
GRAPHS = ("kron16", "urand16", "grid300")
_LESS = {"triangles": {"kron16": "kron12"}, "core_numbers": {"kron16": "kron14"}}
"""A smaller graph where the verifier takes minutes."""
_SLOW_PATHS = ("core_numbers", "strongly_connected_components", "betweenness")
"""Compositions of many programs; they run here only as planned, and on every path only in the tests."""


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph and algorithm."""
    for graph_name in graphs or (("kron10", "grid30") if quick else GRAPHS):
        for name, call in CALLS.items():
            if rows and not name.startswith(tuple(rows)):
                continue
            size = graph_name if quick else _LESS.get(name, {}).get(graph_name, graph_name)
            made = make(size)
            paths = ("auto",) if name in NO_PATHS + _SLOW_PATHS else ("auto", *map(str, PATHS))
            row = _verified(call, made.host(), made.host(weighted=True), paths)
            say(f"{size}, {name}: {row}")
            yield {"graph": size, "algorithm": name, **row}


def _verified(call: Any, bare: Any, weighted: Any, paths: tuple[str, ...]) -> dict[str, Any]:
    good, bad = [], []
    for path in paths:
        try:
            call(bare, weighted, {"device": "cuda", "path": path}).verify()
            good.append(path)
        except IllegalPathError:
            continue
        except Exception as error:  # later rows are still useful; the command reports the failure at the end
            bad.append(f"{path}: {type(error).__name__}: {error}")
    return {
        "verified": len(good),
        "wrong": len(bad),
        "differs": bool(bad),
        "paths": ", ".join(good),
        "why": "; ".join(bad),
    }
