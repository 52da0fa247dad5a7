"""Graphs larger than memory: the fields of vertices in memory, the arcs in pages of a store (Graphene, FlashGraph).

``PageFeed`` turns the vertices of a superstep into pages, and pages into slices. ``StreamEngine`` is the place: it
divides the memory budget and drives a leaf engine over the slices. docs/larger-than-memory.md explains how to use it.
"""

from dromos.places.stream.engine import StreamEngine
from dromos.places.stream.feed import PageFeed

__all__ = ["PageFeed", "StreamEngine"]
