"""Graphs larger than memory: the fields of vertices in memory, the arcs in pages of a store (Graphene, FlashGraph).

``PageFeed`` turns the vertices of a superstep into pages, and pages into slices. ``StreamEngine`` is the place: it
shares a budget out, and drives a leaf engine over the slices. docs/larger-than-memory.md tells how to use it.
"""

from dromos.places.stream.engine import StreamEngine
from dromos.places.stream.feed import PageFeed

__all__ = ["PageFeed", "StreamEngine"]
