"""The rates of each processor: measured on a machine, and kept beside the compiled code."""

from __future__ import annotations

import json
import logging
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from dromos import disk_cache
from dromos.engines.parts import Leaf
from dromos.graph import Graph, generators
from dromos.notices import tell

__all__ = ["Rates", "Timings", "measured", "measured_again", "rates_from"]

_TIMES: Final = 3
_APART: Final = 600.0
"""Seconds between two measurements. While other processes use the machine, everything may take a third longer than
usual, so rates are measured again at another time, and the least times of all count."""
_log = logging.getLogger("dromos.rates")
_measured: dict[str, Rates] = {}


@dataclass(frozen=True)
class Rates:
    """What a processor does per second: arcs, vertices with arcs, and bytes to or from the host."""

    arcs: float
    vertices: float
    bytes: float
    long_arcs: float = 0.0
    """Arcs of long rows, those of hubs; 0: the same as other arcs."""
    step: float = 0.0
    """Seconds of a superstep that has nothing to do."""

    def seconds(self, arcs: float, vertices: float, *, long: bool = False) -> float:
        """The seconds of a part for a superstep in which all vertices are active.

        >>> Rates(1e9, 1e9, 1e10).seconds(1e9, 5e8), Rates(1e9, 1e9, 1e10, long_arcs=4e9).seconds(1e9, 0, long=True)
        (1.5, 0.25)
        """
        return arcs / (self.long_arcs if long and self.long_arcs else self.arcs) + vertices / self.vertices


def rates_from(seconds: Callable[[Graph], float], link: float, scale: int) -> Rates:
    """Rates from the time of a superstep on two graphs, one with many arcs per vertex and one with few.

    They have ``1 << scale`` vertices, and four times as many. The time of a superstep with next to nothing to do is
    subtracted.

    >>> rates = rates_from(lambda graph: 1e-3 + graph.num_arcs / 1e9 + graph.num_vertices / 1e8, 1e10, 16)
    >>> round(rates.arcs / 1e9, 1), round(rates.vertices / 1e8, 1)
    (1.0, 1.0)
    """
    graphs = generators.rmat(scale, 32, seed=1, symmetrize=True), generators.path(1 << scale + 2)
    sizes = [(float(graph.num_arcs), float(graph.num_vertices)) for graph in graphs]
    idle, taken = seconds(generators.path(64)), [seconds(graph) for graph in graphs]
    return Rates(*_solved(sizes, [max(found - idle, found / 4) for found in taken]), link)


def _solved(sizes: list[tuple[float, float]], times: list[float]) -> tuple[float, float]:
    """Arcs and vertices per second, from two measurements."""
    rows, seconds = np.array(sizes), np.array(times)
    arc, vertex = np.linalg.solve(rows, seconds)
    least = seconds.min() / rows.sum() / 10  # a measurement that the equations do not fit still gives rates above zero
    return float(1 / max(arc, least)), float(1 / max(vertex, least))


@dataclass(frozen=True)
class Timings:
    """The least seconds of supersteps on parts of known sizes, from which rates follow."""

    sizes: tuple[tuple[float, float], ...]
    """Arcs, and vertices with arcs: of a part with only the hubs, of one with all others, and of half a path."""
    seconds: tuple[float, ...]
    nothing: float
    """Seconds of a part that has nothing to do."""
    step: float
    """Seconds of a superstep of two such parts."""
    link: float
    """Bytes per second between the part and the host."""

    def merged(self, other: Timings) -> Timings:
        """The better of two measurements on the same graphs, number by number.

        >>> sizes = (8.0, 1.0), (8.0, 4.0), (2.0, 4.0)
        >>> Timings(sizes, (1, 2, 3), 0.1, 0.2, 5).merged(Timings(sizes, (2, 1, 3), 0.2, 0.1, 6))
        Timings(sizes=((8.0, 1.0), (8.0, 4.0), (2.0, 4.0)), seconds=(1, 1, 3), nothing=0.1, step=0.1, link=6)
        """
        seconds = tuple(map(min, self.seconds, other.seconds))
        nothing, step = min(self.nothing, other.nothing), min(self.step, other.step)
        return Timings(self.sizes, seconds, nothing, step, max(self.link, other.link))

    def rates(self) -> Rates:
        """The rates from these times, without the time of a superstep that has nothing to do.

        >>> sizes = (8e8, 1e8), (8e8, 4e8), (2e8, 4e8)
        >>> rates = Timings(sizes, (0.35, 1.25, 0.65), 0.05, 0.1, 1e10).rates()
        >>> round(rates.arcs / 1e9, 6), round(rates.vertices / 1e9, 6), round(rates.long_arcs / 1e9, 6)
        (1.0, 1.0, 4.0)
        """
        hubs, others, thin = self.sizes
        taken = [max(seconds - self.nothing, seconds / 4) for seconds in self.seconds]
        arcs, vertices = _solved([others, thin], taken[1:])
        long_arcs = hubs[0] / max(taken[0] - hubs[1] / vertices, taken[0] / 4)
        return Rates(arcs, vertices, self.link, long_arcs, self.step)


def measured(leaf: Leaf) -> Rates:
    """The rates of a leaf on this machine: from this process, from the disk, or measured, which takes some seconds.

    The first processes that need them measure them, up to three times and at least ten minutes apart.
    """
    name = _file(leaf)
    if name not in _measured:
        kept = _read(name)
        if kept is None or kept.is_due():
            kept = _add_measurement(leaf, kept)
        _measured[name] = kept.timings.rates()
    return _measured[name]


def measured_again(leaf: Leaf) -> Rates:
    """As :func:`measured`, after another measurement."""
    name = _file(leaf)
    _measured[name] = _add_measurement(leaf, _read(name)).timings.rates()
    return _measured[name]


@dataclass(frozen=True)
class _Kept:
    """The file on disk: the best times, the number of measurements, and the time of the last one."""

    timings: Timings
    count: int
    when: float

    def is_due(self) -> bool:
        return self.count < _TIMES and abs(time.time() - self.when) >= _APART


def _file(leaf: Leaf) -> str:
    where = f"{platform.node()}-{platform.machine()}-{os.cpu_count()}"
    return f"rates/joined-{leaf.name.replace(':', '-')}-{getattr(leaf, 'threads', 0)}-{where}.json"


def _read(name: str) -> _Kept | None:
    content = disk_cache.read(name)
    if content is None:
        return None
    found: dict[str, Any] = json.loads(content)
    times: dict[str, Any] = found.pop("timings")
    sizes, seconds = tuple(map(tuple, times.pop("sizes"))), tuple(times.pop("seconds"))
    return _Kept(Timings(sizes, seconds, **times), **found)


def _add_measurement(leaf: Leaf, before: _Kept | None) -> _Kept:
    # measuring builds whole executions: a process that only reads the rates does not import that
    from dromos.places.hybrid.rate_runs import timings_of

    tell(f"measuring the speed of {leaf.name!r} for some seconds; the best of {_TIMES} runs is kept", _log)
    found, count = timings_of(leaf), 1
    if before is not None and before.timings.sizes == found.sizes:  # else they are from the graphs of another version
        found, count = before.timings.merged(found), before.count + 1
    now = _Kept(found, count, time.time())
    disk_cache.save(_file(leaf), json.dumps(asdict(now)).encode())
    return now
