"""Where slices of a graph are stored, and one driver over leaf engines for all such places.

- ``Feed``: where the slices of a part come from.
- ``Exchange``: the communication between parts.
- ``PlacedExecution``: a superstep over parts, feeds and an exchange, with the same interface as every engine.
- ``PlacedEngine``: the simplest place, slices and parts of a graph in memory.

docs/design/places.md explains how they fit together.
"""

from dromos.places.driver import PlacedExecution
from dromos.places.engine import PlacedEngine
from dromos.places.exchange import CopyExchange, Exchange
from dromos.places.feed import Feed, MemoryFeed

__all__ = ["CopyExchange", "Exchange", "Feed", "MemoryFeed", "PlacedEngine", "PlacedExecution"]
