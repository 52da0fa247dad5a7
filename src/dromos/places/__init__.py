"""Where slices of a graph live, and one driver over leaf engines for all such places.

``Feed`` supplies the slices of a part. ``Exchange`` moves data between parts. ``PlacedExecution`` runs supersteps over
parts, feeds and an exchange, behind the same interface as every engine. ``PlacedEngine`` is the simplest place: slices
and parts of a graph in memory. docs/design/places.md explains how they fit together.
"""

from dromos.places.driver import PlacedExecution
from dromos.places.engine import PlacedEngine
from dromos.places.exchange import CopyExchange, Exchange
from dromos.places.feed import Feed, MemoryFeed

__all__ = ["CopyExchange", "Exchange", "Feed", "MemoryFeed", "PlacedEngine", "PlacedExecution"]
