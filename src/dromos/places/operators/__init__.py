"""What cannot be a program, over slices: one folder per operator, with its contract, its plain form and its CPU form.

A program merges two messages at a time into one of fixed size. The most frequent of many labels (:mod:`.mode`), the
common neighbors of two vertices (:mod:`.intersection`), the triangles of an edge (:mod:`.trusses`) and the best of the
communities around a vertex (:mod:`.communities`) are no such merge: they need whole rows. So an operator gathers the
whole rows of a block of vertices from the slices that hold them (:mod:`.blocks`), a block or two at a time.

Memory grows with the vertices, plus the current blocks and slices. It also grows with the rows if an operator keeps
them (``HOLDING``), or makes a result with one row per edge of them (``BY_EDGE``). Sums by edge (:mod:`.shares`) need no
whole rows. They take one number per edge, where a field of a program would take one per arc, beside the sum so far.

``OPERATORS`` has the drivers under the names that algorithms request from engines; the leaf supplies the form that
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
"""Operators with one result row per edge; they hold the rows that it is made of."""
WEIGHING: Final = frozenset({"closed_walks"})
"""Operators that hold a number for every arc of a row, and for every vertex and thread."""
BY_ARC: Final = frozenset({"edge_shares"})
"""Operators that process one arc at a time, and hold no rows."""
HOLDING: Final = frozenset({"communities"})
"""Operators that keep all rows of a process in memory, so that they do not run on pages."""
