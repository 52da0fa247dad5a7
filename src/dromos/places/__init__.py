"""Where slices of a graph live, and one driver over leaf engines for all such places.

``Feed``: where a part's slices come from. ``Exchange``: what parts tell each other. ``PlacedExecution``: a superstep
over parts, feeds and an exchange, behind the same interface as every engine's. ``PlacedEngine`` is the plainest place:
slices and parts of a graph in memory. docs/design/places.md tells how they fit together.
"""

from dromos.places.driver import PlacedExecution
from dromos.places.engine import PlacedEngine
from dromos.places.exchange import CopyExchange, Exchange
from dromos.places.feed import Feed, MemoryFeed

__all__ = ["CopyExchange", "Exchange", "Feed", "MemoryFeed", "PlacedEngine", "PlacedExecution"]
