"""How the rows that lie in the host's memory reach a GPU in a superstep: the quickest way by bytes and measured rates.

*In place*: kernels read them over the link as they go along. *Pages*: all rows are copied, in pieces, while kernels
work on the pieces before. *Gathered*: the host copies the rows of the frontier one behind the other, and those go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["LINE_BYTES", "WAYS", "LinkRates", "Way", "bytes_of_push", "choose_way"]

Way: TypeAlias = Literal["in place", "pages", "gathered"]
WAYS: Final[tuple[Way, ...]] = ("in place", "pages", "gathered")
LINE_BYTES: Final = 128
"""The least that is read in place at a time."""


@dataclass(frozen=True)
class LinkRates:
    """Bytes in a second of each way, with rows that are long enough."""

    in_place: float
    pages: float
    gathered: float

    def of(self, way: Way) -> float:
        """The rate of one way."""
        return {"in place": self.in_place, "pages": self.pages, "gathered": self.gathered}[way]


def bytes_of_push(frontier: int, out_degree: int, num_arcs: int, on_host: int) -> dict[Way, int]:
    """What each way moves for a push along ``out_degree`` of ``num_arcs`` arcs, of which ``on_host`` bytes lie there.

    A row is read in place in whole lines.

    >>> bytes_of_push(frontier=10, out_degree=100, num_arcs=1000, on_host=4000)
    {'in place': 1280, 'pages': 4000, 'gathered': 400}
    """
    share = out_degree / max(num_arcs, 1)
    active = int(share * on_host)
    lines = int(frontier * LINE_BYTES) if active else 0
    return {"in place": min(max(active, lines), max(on_host, active)), "pages": on_host, "gathered": active}


def choose_way(moved: Mapping[Way, int], rates: LinkRates, factors: Mapping[Way, float]) -> tuple[Way, float]:
    """The way that takes least, and the seconds that it is expected to take.

    ``moved``: the bytes of each way that there is. ``factors``: how many times the time by its rate a way took when it
    was last taken; 1 where it was not. So a way that disappoints is left for the next best one.

    >>> rates = LinkRates(in_place=50e9, pages=55e9, gathered=15e9)
    >>> choose_way({"in place": 10**9, "pages": 10**9}, rates, {})[0]
    'pages'
    >>> choose_way({"in place": 10**9, "pages": 10**9}, rates, {"pages": 1.5})
    ('in place', 0.02)
    """
    expected = {way: size / rates.of(way) * factors.get(way, 1.0) for way, size in moved.items()}
    best = min(expected, key=lambda way: expected[way])
    return best, expected[best]
