"""Operators over slices, for what programs cannot express: one folder each, with contract, plain form and CPU form.

A program merges two messages at a time into one of fixed size. The most frequent of many labels (:mod:`.mode`), the
common neighbours of two vertices (:mod:`.intersection`), the triangles of an edge (:mod:`.trusses`) and the best of the
communities around a vertex (:mod:`.communities`) are not such merges: they need whole rows. So an operator gathers the
whole rows of a block of vertices from the slices that hold them (:mod:`.blocks`), one or two blocks at a time. Memory
grows with the vertices, plus the current blocks and slices. It also grows with the rows if an operator keeps them
(``HOLDING``), or if its answer has one row per edge (``BY_EDGE``). Sums by edge (:mod:`.shares`) need no whole rows:
they are one number for each edge, where a field of a program would be one for each arc plus the sum before.

``OPERATORS`` has the drivers under the names that algorithms request from engines; the leaf provides the form that
computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dromos.places.operators.blocks import Blocks
from dromos.places.operators.communities import find_communities
from dromos.places.operators.intersection import count_triangles
from dromos.places.operators.intersection.walks import sum_closed_walks
from dromos.places.operators.mode import propagate_labels
from dromos.places.operators.shares import add_shares
from dromos.places.operators.trusses import find_trusses

__all__ = ["BY_ARC", "BY_EDGE", "HOLDING", "OPERATORS", "WEIGHING", "Blocks"]

OPERATORS: Final[Mapping[str, Callable[..., Mapping[str, Any]]]] = {
    "cdlp": propagate_labels,
    "closed_walks": sum_closed_walks,
    "communities": find_communities,
    "edge_shares": add_shares,
    "triangles": count_triangles,
    "trusses": find_trusses,
}
BY_EDGE: Final = frozenset({"trusses"})
"""Those whose answer has one row per edge; they hold the rows that it is made of."""
WEIGHING: Final = frozenset({"closed_walks"})
"""Those that hold a number for every arc of a row, and for every vertex and thread."""
BY_ARC: Final = frozenset({"edge_shares"})
"""Those that look at one arc at a time, and hold no rows."""
HOLDING: Final = frozenset({"communities"})
"""Those that keep all rows of a process in memory, so that pages are not for them."""
