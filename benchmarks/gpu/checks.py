"""Checks of answers at full size: certificates and plain algorithms on the device, all exact except for sums.

Each function raises :class:`~dromos.errors.VerificationError` if an answer is wrong, which ends the run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu.device import launch, launch_loop
from benchmarks.gpu.graphs import DeviceCsr
from benchmarks.gpu.references import reference_cores, reference_labels, reference_levels, reference_ranks
from dromos.errors import VerificationError

__all__ = [
    "betweenness", "components", "cores", "distances", "graph_faults", "levels", "parents", "ranks", "triangles",
]  # fmt: skip

_GRAPH_FAULTS = ("targets outside", "loops", "targets out of order or twice", "arcs without reverse", "weights")
_SAMPLED = 256
_SAMPLED_DEGREE = 3000


def _counter(size: int = 1, kind: str = "u8") -> Any:
    import cupy as cp

    return cp.zeros(size, kind)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise VerificationError(message)


def _arrays(graph: DeviceCsr) -> tuple[Any, Any]:
    return graph.offsets, graph.targets


def graph_faults(graph: DeviceCsr, weighted: bool = True) -> dict[str, int]:
    """The number of faults of each kind in the graph."""
    wrong = _counter(len(_GRAPH_FAULTS))
    launch_loop("check", "check_graph", 32 * graph.num_vertices, *_arrays(graph),
           graph.weights if weighted else np.uint64(0), np.int64(graph.num_vertices), wrong)  # fmt: skip
    faults = dict(zip(_GRAPH_FAULTS, wrong.get().tolist(), strict=True))
    ends = [int(graph.offsets[0]), int(graph.offsets[-1])]
    falling = int((graph.degrees < 0).sum())
    return {**faults, "offsets": falling + (ends != [0, graph.num_arcs])}


def distances(graph: DeviceCsr, source: int, distance: Any, weighted: bool = True) -> None:
    """Distances (``weighted=False``: levels) are exactly those from ``source``; -1, the greatest or inf: no path."""
    kind = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}[distance.dtype.name]
    if not weighted:
        far: Any = -1
    else:
        far = np.inf if distance.dtype.kind == "f" else np.iinfo(distance.dtype).max
    wrong = _counter()
    launch_loop("check", f"check_distance_{kind}", 32 * graph.num_vertices, *_arrays(graph),
           graph.weights if weighted else np.uint64(0), np.int64(graph.num_vertices), np.int64(source), distance,
           distance.dtype.type(far), wrong)  # fmt: skip
    _require(not int(wrong[0]), f"{graph.name} from {source}: {int(wrong[0]):,} vertices have a wrong distance")


def levels(graph: DeviceCsr, source: int, level: Any) -> None:
    """Levels are exactly those from ``source``."""
    distances(graph, source, level, weighted=False)


def parents(graph: DeviceCsr, source: int, level: Any, parent: Any) -> None:
    """Every parent is a neighbor one level up."""
    wrong = _counter()
    launch_loop("check", "check_parents", graph.num_vertices, *_arrays(graph), np.int64(graph.num_vertices),
           np.int64(source), level.astype("i4", copy=False), parent.astype("i4", copy=False), wrong)  # fmt: skip
    _require(not int(wrong[0]), f"{graph.name} from {source}: {int(wrong[0]):,} vertices have a wrong parent")


def components(graph: DeviceCsr, label: Any) -> None:
    """Labels are the least vertex of each component."""
    wrong = int((label != reference_labels(graph)).sum())
    _require(not wrong, f"{graph.name}: {wrong:,} vertices have a wrong label")


def cores(graph: DeviceCsr, core: Any) -> None:
    """Core numbers equal those of peeling."""
    wrong = int((core.astype("i4", copy=False) != reference_cores(graph)).sum())
    _require(not wrong, f"{graph.name}: {wrong:,} vertices have a wrong core number")


def triangles(graph: DeviceCsr, counts: Any) -> None:
    """They sum to three per triangle, and a few hundred random vertices are counted again."""
    import cupy as cp

    total = int(counts.sum())
    _require(total % 3 == 0, f"{graph.name}: the counts of triangles sum to {total}, no multiple of three")
    some = cp.asnumpy(((graph.degrees > 1) & (graph.degrees < _SAMPLED_DEGREE)).nonzero()[0])
    if not len(some):
        return
    drawn = np.random.default_rng(graph.seed).choice(some, min(_SAMPLED, len(some)), replace=False)
    chosen, found = cp.asarray(drawn, cp.int64), _counter(len(drawn))
    launch("check", "triangles_of", len(drawn) * 256, *_arrays(graph), chosen, found)
    wrong = int((counts[chosen].astype("u8") != found).sum())
    _require(not wrong, f"{graph.name}: {wrong} of {len(drawn)} vertices have a wrong number of triangles")


def betweenness(graph: DeviceCsr, source: int, dependency: Any, tolerance: float = 1e-6) -> None:
    """The dependencies of a source sum to the inner vertices of all shortest paths from it."""
    level = reference_levels(graph, source)
    inner = float((level[level > 0].astype("f8") - 1).sum())
    total = float(dependency.astype("f8").sum()) - float(dependency[source])
    _require(
        abs(total - inner) <= tolerance * max(inner, 1.0),
        f"{graph.name} from {source}: the dependencies sum to {total:.9g}, and should to {inner:.9g}",
    )


def ranks(graph: DeviceCsr, iterations: int, rank: Any) -> None:
    """Ranks equal those of cuSPARSE to the precision of their type, summed over all vertices."""
    import cupy as cp

    slack = 1e-10 if rank.dtype == cp.float64 else 1e-4
    off = float(cp.abs(rank.astype(cp.float64) - reference_ranks(graph, iterations)).sum())
    _require(off <= slack, f"{graph.name}: the ranks are off by {off:.3g} in sum, more than {slack:g}")
