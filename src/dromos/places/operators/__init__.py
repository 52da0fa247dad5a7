"""What no program can say, over slices: one folder per operator, with its contract, its plain form and its CPU form.

A program merges two messages at a time into one of fixed size. The most frequent of many labels (:mod:`.mode`), the
common neighbours of two vertices (:mod:`.intersection`), the triangles of an edge (:mod:`.trusses`) and the best of the
communities around a vertex (:mod:`.communities`) are no such merge: they need whole rows. So an operator gathers
the whole rows of a block of vertices from whatever slices hold them (:mod:`.blocks`), a block or two at a time. Memory
grows with the vertices, plus the blocks and slices in hand; with the rows where an operator keeps them (``HOLDING``),
or an answer that has one row per edge is made of them (``BY_EDGE``). Sums
by edge (:mod:`.shares`) need no whole rows: they are one number for each edge where a field of a program would be one
for each arc, beside the sum of those before.

``OPERATORS`` has the drivers under the names that algorithms ask engines for; the form that computes is the leaf's.
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
