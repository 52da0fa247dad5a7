"""How rows in the host's memory reach a GPU in a superstep: the fastest way by bytes and measured rates.

- *In place*: kernels read them over the link as they run.
- *Pages*: all rows are copied, in pieces, while kernels work on the previous pieces.
- *Gathered*: the host packs the rows of the frontier contiguously and copies only those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["LINE_BYTES", "WAYS", "LinkRates", "Way", "WayFactors", "bytes_of_push", "choose_way"]

Way: TypeAlias = Literal["in place", "pages", "gathered"]
WAYS: Final[tuple[Way, ...]] = ("in place", "pages", "gathered")
LINE_BYTES: Final = 128
"""The least number of bytes read in place at a time."""


@dataclass(frozen=True)
class LinkRates:
    """Bytes per second of each way, for rows that are long enough."""

    in_place: float
    pages: float
    gathered: float

    def of(self, way: Way) -> float:
        """The rate of one way."""
        return {"in place": self.in_place, "pages": self.pages, "gathered": self.gathered}[way]


class WayFactors:
    """The time of each way relative to its rate, as observed; the least counts.

    The first superstep on a way may load kernels, and touches buffers for the first time, so its time says nothing: on
    an H200, copying pages took 125 ms in the first superstep and 29 in all others.

    >>> factors = WayFactors()
    >>> factors.note("pages", 4.3)
    >>> factors.known
    {}
    >>> factors.note("pages", 1.1)
    >>> factors.note("pages", 1.2)
    >>> factors.known
    {'pages': 1.1}
    """

    def __init__(self) -> None:
        self.known: dict[Way, float] = {}
        self._taken: set[Way] = set()

    def note(self, way: Way, factor: float) -> None:
        """Record one superstep."""
        if way in self._taken:
            self.known[way] = min(factor, self.known.get(way, factor))
        self._taken.add(way)


def bytes_of_push(frontier: int, out_degree: int, num_arcs: int, on_host: int) -> dict[Way, int]:
    """The bytes that each way moves for a push along ``out_degree`` of ``num_arcs`` arcs.

    ``on_host``: the bytes of arcs that lie in the host's memory. A row is read in place in whole lines.

    >>> bytes_of_push(frontier=10, out_degree=100, num_arcs=1000, on_host=4000)
    {'in place': 1280, 'pages': 4000, 'gathered': 400}
    """
    share = out_degree / max(num_arcs, 1)
    active = int(share * on_host)
    lines = int(frontier * LINE_BYTES) if active else 0
    return {"in place": min(max(active, lines), max(on_host, active)), "pages": on_host, "gathered": active}


def choose_way(moved: Mapping[Way, int], rates: LinkRates, factors: Mapping[Way, float]) -> tuple[Way, float]:
    """The fastest way, and the seconds that it is expected to take.

    ``moved``: the bytes of each available way. ``factors``: the actual time of a way relative to its rate; 1 if it is
    not known. So a way that disappoints is left for the next best one.

    >>> rates = LinkRates(in_place=50e9, pages=55e9, gathered=15e9)
    >>> choose_way({"in place": 10**9, "pages": 10**9}, rates, {})[0]
    'pages'
    >>> choose_way({"in place": 10**9, "pages": 10**9}, rates, {"pages": 1.5})
    ('in place', 0.02)
    """
    expected = {way: size / rates.of(way) * factors.get(way, 1.0) for way, size in moved.items()}
    best = min(expected, key=lambda way: expected[way])
    return best, expected[best]
